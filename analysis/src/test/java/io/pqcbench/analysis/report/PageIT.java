package io.pqcbench.analysis.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.analysis.Report;
import io.pqcbench.analysis.bundle.LadderExperiment;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** The page as a browser shows it. */
class PageIT {

  private static final int WIDE = 1280;
  private static final int NARROW = 360;

  /** A4 and Letter less the margins that browsers leave, in CSS pixels. */
  private static final int PAPER = 697;

  /** The ladder has two. */
  private static final List<String> CHARTS =
      List.of("percentiles", "differences", "trials", "timeline", "phases", "ladder", "ladder");

  /** Which colours of the style sheet a canvas has: the palette's by name, by their exact value. */
  private static final String COLOURS =
      """
      // Of a copy: to read from the page's own would make the browser warn.
      const {width, height} = arguments[0];
      const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
      copy.drawImage(arguments[0], 0, 0);
      const {data} = copy.getImageData(0, 0, width, height);
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 255) {
          seen.add((data[at] << 16) + (data[at + 1] << 8) + data[at + 2]);
        }
      }
      const style = getComputedStyle(document.documentElement);
      return ['--c0', '--c1', '--c2', '--c3', '--ink', '--bad', '--mark'].filter(name =>
        seen.has(parseInt(style.getPropertyValue(name).trim().slice(1), 16)));
      """;

  @TempDir private static Path directory;
  private static Path page;
  private static Browser browser;

  @BeforeAll
  static void makeThePage() throws Exception {
    browser = Browser.require();
    Path experiment = LadderExperiment.write(directory.resolve("experiment"));
    page = directory.resolve("report.html");
    Files.writeString(page, Html.of(Report.of(List.of(experiment))));
  }

  @AfterAll
  static void closeTheBrowser() {
    if (browser != null) {
      browser.close();
    }
  }

  @AfterEach
  void complainsOfNothing() {
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void asksForNothingButItself() throws Exception {
    browser.requests();
    browser.open(page, WIDE, false);
    browser.await("the last chart", () -> browser.all(".chart canvas").size() == CHARTS.size());

    assertThat(browser.requests()).containsExactly(page.toUri().toString());
  }

  @Test
  void drawsEveryChartAndSaysInWordsWhatItShows() {
    browser.open(page, WIDE, false);

    assertThat(browser.all(".chart")).extracting(PageIT::section).isEqualTo(CHARTS);
    for (WebElement chart : browser.all(".chart")) {
      isDrawn(chart);
      assertThat(chart.getAttribute("aria-label")).startsWith("Chart: ");
      assertThat(browser.one("#" + chart.getAttribute("aria-describedby")).getText())
          .hasSizeGreaterThan(80)
          .containsPattern("[0-9]");
    }
    assertThat(colours(chart("timeline"))).contains("--bad").doesNotContain("--mark");
  }

  @Test
  void showsTheValuesUnderThePointerWithTheirUnits() throws Exception {
    browser.open(page, WIDE, false);
    List<String> units =
        List.of(
            "percentile: [0-9.]+ %\nclassic@rate=100: [0-9,.]+ µs \\([0-9,.]+ to [0-9,.]+\\)\n",
            "within: [0-9,.]+ µs\nclassic-aa@rate=100 against classic@rate=100: -?[0-9.]+ points",
            "trial: b0[1-6]-\\S+, block [1-6]\n\\S+ p50: [0-9,.]+ µs\n\\S+ p99: [0-9,.]+ µs",
            "due from: \\d+ to \\d+ s, n=\\d+\np50: [0-9,.]+ µs\np90: [0-9,.]+ µs\n",
            "phase: \\w+\nclassic-aa@rate=100 against classic@rate=100: -?[0-9.]+ µs \\(",
            "offered: [0-9,.]+/s\nclassic p50: [0-9,.]+ µs\nclassic p99: [0-9,.]+ µs\n",
            "offered: [0-9,.]+/s\nas offered: [0-9,.]+/s\nclassic: [0-9,.]+/s");

    for (int i = 0; i < CHARTS.size(); i++) {
      WebElement chart = browser.all(".chart").get(i);
      browser.hover(chart.findElement(By.className("u-over")));
      browser.await("a tip of " + CHARTS.get(i), () -> browser.all(".tip").size() == 1);
      WebElement tip = browser.one(".tip");
      assertThat(tip.getText()).containsPattern(units.get(i));
      assertThat(browser.number("arguments[0].getBoundingClientRect().right", tip))
          .isLessThanOrEqualTo(WIDE);
      browser.hover(browser.one("h1"));
      browser.await("no tip", () -> browser.all(".tip").isEmpty());
    }
  }

  @Test
  void isMovedAlongAndReadByKeyboard() throws Exception {
    browser.open(page, WIDE, false);
    browser.run("document.querySelector('#percentiles select').focus()");
    browser.press(Keys.TAB);
    WebElement chart = browser.focused();
    assertThat(section(chart)).isEqualTo("percentiles");
    assertThat(chart.getCssValue("outline-style")).isEqualTo("solid");

    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT);
    String second = spoken("percentiles");
    assertThat(second).matches("percentile [0-9.]+ %; classic@rate=100 [0-9,.]+ µs \\(.*");
    browser.await("a tip", () -> browser.all(".tip").size() == 1);

    browser.press(Keys.END);
    assertThat(spoken("percentiles")).startsWith("percentile 99").isNotEqualTo(second);
    browser.press(Keys.ESCAPE);
    browser.await("no tip", () -> browser.all(".tip").isEmpty());

    browser.press(Keys.TAB);
    assertThat(browser.focused().getText()).isEqualTo("classic@rate=100");
    browser.press(Keys.SPACE);
    assertThat(browser.focused().getAttribute("aria-pressed")).isEqualTo("false");
    browser.run("arguments[0].focus()", chart);
    browser.press(Keys.HOME);
    assertThat(spoken("percentiles")).contains("hybrid").doesNotContain("classic@rate=100 ");
  }

  @Test
  void changesThePhaseAndTheTrialByKeyboard() throws Exception {
    browser.open(page, WIDE, false);
    String before = picture("percentiles");
    browser.run("document.querySelector('#percentiles select').focus()");
    browser.press("handshake");
    browser.await("another picture", () -> !picture("percentiles").equals(before));
    assertThat(browser.one("#percentiles-says").getText()).startsWith("Handshake, µs");

    String first = picture("timeline");
    String says = browser.one("#timeline-says").getText();
    browser.run("document.querySelector('#timeline select').focus()");
    browser.press(Keys.ARROW_DOWN);
    browser.await("another trial", () -> !picture("timeline").equals(first));
    assertThat(browser.one("#timeline-says").getText())
        .startsWith("b02-classic@rate=100: ")
        .isNotEqualTo(says);
  }

  @Test
  void showsTheCauseAndTheEvidenceOfASlowRequestThatIsChosenByKeyboard() throws Exception {
    browser.open(page, WIDE, false);
    browser.run("document.querySelector('#timeline .slow summary').focus()");
    browser.press(Keys.ENTER);
    browser.await("the table", () -> browser.all("#timeline .slow button").size() == 3);
    while (!browser.focused().getTagName().equals("button")) {
      browser.press(Keys.TAB);
    }
    browser.press(Keys.ENTER);

    browser.await("its mark", () -> colours(chart("timeline")).contains("--mark"));
    assertThat(browser.one("#timeline .chosen").getText())
        .matches("Request (10|40|500), due at [0-9.]+ s, took [0-9,.]+ µs\\. Cause: .*")
        .contains("Cause: gc-pause: " + LadderExperiment.EVIDENCE + ".")
        .containsPattern("Phases, µs: lag [0-9,.]+, connect [0-9,.]+, hello");
  }

  @Test
  void isDrawnAnewInTheDark() throws Exception {
    browser.open(page, WIDE, false);
    String white = browser.one("body").getCssValue("background-color");
    String light = picture("trials");

    browser.media("", true);
    browser.await("another picture", () -> !picture("trials").equals(light));

    assertThat(white).isEqualTo("rgba(255, 255, 255, 1)");
    assertThat(browser.one("body").getCssValue("background-color"))
        .isEqualTo("rgba(20, 24, 28, 1)");
    // By now the names stand for the dark palette.
    for (WebElement chart : browser.all(".chart")) {
      isDrawn(chart);
    }
    for (String name : List.of("--ink", "--muted", "--c0", "--c1", "--c2", "--c3", "--link")) {
      assertThat(contrast(name)).as(name + " on the paper, times 10").isGreaterThanOrEqualTo(45);
    }
  }

  @Test
  void fitsANarrowWindow() throws Exception {
    browser.open(page, NARROW, false);
    fits(NARROW);

    browser.width(WIDE);
    browser.await("wide charts", () -> browser.number("arguments[0].width", canvas()) > NARROW);
    browser.width(NARROW);
    browser.await("narrow charts", () -> browser.number("arguments[0].width", canvas()) < NARROW);
    fits(NARROW);
    browser.all("details:not([open]) > summary").forEach(WebElement::click);
    fits(NARROW);
  }

  @Test
  void isPrintedWithItsChartsInLightAndUnfolded() throws Exception {
    browser.open(page, WIDE, true);
    String before = picture("phases");

    browser.width(PAPER);
    browser.media("print", true);
    browser.run("dispatchEvent(new Event('beforeprint'))");
    browser.await("another picture", () -> !picture("phases").equals(before));
    assertThat(browser.one("body").getCssValue("background-color"))
        .isEqualTo("rgba(255, 255, 255, 1)");
    fits(PAPER);
    for (String hidden : List.of("nav", ".controls", ".chosen", "details.data", "details.slow")) {
      assertThat(browser.one(hidden).isDisplayed()).as(hidden).isFalse();
    }
    assertThat(browser.one("#trials details table").isDisplayed()).isTrue();
    assertThat(browser.one("#comparisons details table").isDisplayed()).isTrue();

    browser.media("", true);
    browser.width(WIDE);
    browser.run("dispatchEvent(new Event('afterprint'))");
    assertThat(browser.all("main details[open]")).isEmpty();
    browser.await("the picture of before", () -> picture("phases").equals(before));
  }

  @Test
  void givesAPdfIntoWhichTheChartsAreDrawn() throws Exception {
    browser.open(page, WIDE, false);
    long all = linesOfPdf();
    browser.run("document.styleSheets[0].insertRule('canvas { display: none !important }')");

    assertThat(all).isGreaterThan(linesOfPdf() + 1000);
  }

  @Test
  void isReadWithoutJavaScript() {
    browser.scripts(false);
    try {
      browser.open(page, WIDE, false);

      assertThat(browser.one("noscript .warning").isDisplayed()).isTrue();
      assertThat(browser.all(".chart canvas")).isEmpty();
      for (String useless : List.of(".controls", ".chart", ".chosen", "details.data", "footer")) {
        assertThat(browser.one(useless).isDisplayed()).as(useless).isFalse();
      }
      // Both phases' sentences: no list can choose one.
      assertThat(browser.one("#percentiles-says").getText())
          .contains("Response, µs, median of the trials", "Handshake, µs, median of the trials");
      assertThat(browser.all("#arms tbody tr")).hasSize(14).allMatch(WebElement::isDisplayed);
      assertThat(browser.one("#ladder-says").getText()).contains("The knee is between");
    } finally {
      browser.scripts(true);
    }
  }

  /** Nothing is wider than the window, and each chart is as wide as its place. */
  private static void fits(int width) {
    assertThat(browser.number("document.documentElement.scrollWidth")).isLessThanOrEqualTo(width);
    for (WebElement chart : browser.all(".chart")) {
      assertThat(browser.number("arguments[0].querySelector('canvas').clientWidth", chart))
          .as(chart.getAttribute("aria-label"))
          .isBetween(200L, browser.number("arguments[0].clientWidth", chart));
      assertThat(browser.number("arguments[0].getBoundingClientRect().right", chart))
          .isLessThanOrEqualTo(width);
    }
  }

  /** The browser draws a canvas into a PDF line by line, not as an image. */
  private static long linesOfPdf() throws IOException {
    Map<String, Object> printed = browser.command("Page.printToPDF", Map.of());
    byte[] bytes = Base64.getDecoder().decode((String) printed.get("data"));
    String pdf = new String(bytes, StandardCharsets.ISO_8859_1);
    assertThat(pdf).startsWith("%PDF-");
    long lines = 0;
    Matcher stream = Pattern.compile("/FlateDecode[^>]*>>\\s*stream\r?\n").matcher(pdf);
    while (stream.find()) {
      ByteArrayInputStream from =
          new ByteArrayInputStream(bytes, stream.end(), bytes.length - stream.end());
      String drawn =
          new String(new InflaterInputStream(from).readAllBytes(), StandardCharsets.ISO_8859_1);
      lines += drawn.lines().filter(line -> line.endsWith(" l")).count();
    }
    return lines;
  }

  private static String section(WebElement chart) {
    return (String) browser.run("return arguments[0].closest('section').id", chart);
  }

  /** In the colours that the page has now. */
  private static void isDrawn(WebElement chart) {
    assertThat(colours(chart))
        .as(chart.getAttribute("aria-label"))
        .contains("--ink")
        .anyMatch(name -> name.startsWith("--c"));
  }

  private static WebElement chart(String id) {
    return browser.one("#" + id + " .chart");
  }

  private static WebElement canvas() {
    return browser.one(".chart canvas");
  }

  @SuppressWarnings("unchecked")
  private static List<String> colours(WebElement chart) {
    return (List<String>) browser.run(COLOURS, chart.findElement(By.tagName("canvas")));
  }

  private static String picture(String id) {
    return (String)
        browser.run("return arguments[0].querySelector('canvas').toDataURL()", chart(id));
  }

  private static String spoken(String id) {
    return (String)
        browser.run("return arguments[0].textContent", browser.one("#" + id + " .unseen"));
  }

  /** Ten times the contrast of a colour of the style sheet with the paper, as WCAG defines it. */
  private static long contrast(String name) {
    return browser.number(
        """
        (() => {
          const style = getComputedStyle(document.documentElement);
          const [a, b] = [arguments[0], '--paper'].map(name => {
            const rgb = style.getPropertyValue(name).trim();
            const [red, green, blue] = [1, 3, 5].map(at => {
              const share = parseInt(rgb.slice(at, at + 2), 16) / 255;
              return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          });
          return 10 * (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        })()\
        """,
        name);
  }
}
