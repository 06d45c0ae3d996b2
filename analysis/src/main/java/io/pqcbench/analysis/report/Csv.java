package io.pqcbench.analysis.report;

import io.pqcbench.analysis.Report;
import java.util.Locale;

/** The figures of the trials, one a line, for other programs. */
public final class Csv {

  private Csv() {}

  /**
   * Returns a table with a header: trial, arm, block, position, host, verdict, n, phase, figure and
   * its interval.
   */
  public static String of(Report report) {
    StringBuilder text =
        new StringBuilder(
            "trial,arm,block,position,host,verdict,n,phase,figure,micros,low_micros,high_micros\n");
    for (Report.TrialOf trial : report.trials()) {
      trial
          .what()
          .phases()
          .forEach(
              (phase, figures) ->
                  figures.forEach(
                      (name, figure) ->
                          text.append(quoted(trial.name()))
                              .append(',')
                              .append(quoted(trial.arm()))
                              .append(',')
                              .append(trial.block())
                              .append(',')
                              .append(trial.position())
                              .append(',')
                              .append(quoted(trial.host()))
                              .append(',')
                              .append(trial.what().verdict())
                              .append(',')
                              .append(trial.what().count())
                              .append(',')
                              .append(phase)
                              .append(',')
                              .append(name)
                              .append(',')
                              .append(number(figure.micros()))
                              .append(',')
                              .append(number(figure.interval().low()))
                              .append(',')
                              .append(number(figure.interval().high()))
                              .append('\n')));
    }
    return text.toString();
  }

  private static String number(double value) {
    return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.3f", value);
  }

  private static String quoted(String text) {
    return text.matches("[A-Za-z0-9._@=/-]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
