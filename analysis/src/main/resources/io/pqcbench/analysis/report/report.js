// Draws the charts of the report that is in the page as JSON. Tables and sentences are in the page
// already; whatever fails here leaves them readable.
'use strict';
(() => {
  const report = JSON.parse(document.getElementById('report').textContent);
  const charts = report.charts;
  const root = document.documentElement;
  const NARROW = 600;
  const FONT = '12px system-ui, sans-serif';
  const COLORS = 8;

  // Words and numbers.

  /** What rounds to nothing is not negative. */
  const number = (value, digits = 1) =>
    (Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value).toLocaleString(
      'en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
  const micros = value => `${number(value)} µs`;
  const tick = value => value.toLocaleString('en-US', {maximumFractionDigits: 6});
  /** A percentile takes ten samples beyond it, on either side. */
  const need = p => Math.round(10 / Math.min(p, 1 - p));
  const figure = (value, samples, p) => (value == null
    ? `not enough samples (n=${tick(samples)}, needs ${tick(need(p))})` : micros(value));
  const percentile = x => {
    const digits = Math.max(0, Math.ceil(Math.log10(x) - 1e-9));
    return `${+(100 - 100 / x).toFixed(digits)} %`;
  };

  // Colours come from the style sheet, so that light, dark and paper are decided in one place.

  const css = name => getComputedStyle(root).getPropertyValue(name).trim();
  const faint = (color, share) =>
    color + Math.round(255 * share).toString(16).padStart(2, '0');

  /** How each arm is drawn: an A/A arm like its baseline, but dashed, and with squares for dots. */
  function looks() {
    const found = new Map();
    const plain = report.arms.filter(arm => !arm.again);
    plain.forEach((arm, i) => found.set(arm.name, look(i)));
    report.arms.filter(arm => arm.again).forEach((arm, i) => {
      const pair = report.comparisons.find(comparison => comparison.arm === arm.name);
      const like = (pair && found.get(pair.baseline)) || look(plain.length + i);
      found.set(arm.name, {...like, dash: [3, 3], again: true});
    });
    return found;
  }

  const look = i => ({
    color: () => css(`--c${i % COLORS}`),
    dash: i < COLORS ? [] : [10, 4],
  });

  const armLooks = looks();
  const armLook = name => armLooks.get(name) || look(0);

  // Parts of a chart.

  /** Ticks of a logarithmic axis: the sparsest of these steps that gives four, else the densest. */
  function logTicks(from, to) {
    let ticks = [];
    for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      ticks = [];
      for (let unit = 10 ** Math.floor(Math.log10(from)); unit <= to; unit *= 10) {
        ticks.push(...steps.map(step => +(step * unit).toPrecision(6)));
      }
      ticks = ticks.filter(value => value >= from && value <= to);
      if (ticks.length >= 4) {
        return ticks;
      }
    }
    return ticks;
  }

  function axis(label, more = {}) {
    const line = {stroke: () => css('--grid'), width: 1};
    return {
      label,
      font: FONT,
      labelFont: FONT,
      labelSize: 20,
      stroke: () => css('--ink'),
      grid: line,
      ticks: line,
      border: {show: true, stroke: () => css('--muted'), width: 1},
      size: 34,
      values: (u, splits) => splits.map(value => (value == null ? '' : tick(value))),
      ...more,
    };
  }

  /** Leaves out the labels that would touch another; those of powers of ten stay. */
  function apart(u, splits, i) {
    const least = i === 0 ? 44 : 14;
    const at = value => u.valToPos(value, i === 0 ? 'x' : 'y');
    const isTen = value => Number.isInteger(+Math.log10(value).toFixed(9));
    const shown = [];
    for (const value of [...splits.filter(isTen), ...splits.filter(each => !isTen(each))]) {
      if (shown.every(other => Math.abs(at(other) - at(value)) >= least)) {
        shown.push(value);
      }
    }
    return splits.map(value => (shown.includes(value) ? value : null));
  }

  const logAxis = (label, more = {}) => axis(label, {
    splits: (u, i, from, to) => logTicks(from, to),
    filter: apart,
    ...more,
  });

  const yAxis = {size: 64};

  const titled = (phase, unit) => `${phase[0].toUpperCase()}${phase.slice(1)}, ${unit}`;

  /** A little more than the data, so that no line lies on the frame. */
  const logRange = (u, low, high) =>
    low == null || high == null ? [1, 10] : [low / 1.08, high * 1.08];

  const linearRange = (u, low, high) => {
    const room = 0.06 * (high - low) || 1;
    return low == null ? [0, 1] : [low - room, high + room];
  };

  const logScale = {distr: 3, range: logRange};

  /** As far as the data, or what was zoomed to, go. */
  const xLogScale = {
    time: false,
    distr: 3,
    range: (u, a, b) => (a == null ? [1, 10] : [a, b > a ? b : 2 * a]),
  };

  const nothing = () => 'transparent';

  function line(label, theLook, more = {}) {
    return {
      label,
      stroke: theLook.color,
      width: 2,
      dash: theLook.dash,
      mark: theLook.dash.length ? nothing : theLook.color,
      points: {show: false},
      ...more,
    };
  }

  const points = theLook => ({
    show: true,
    size: 7,
    fill: () => (theLook.dash.length ? css('--paper') : theLook.color()),
  });

  /** Of uPlot's own points only the form differs. */
  function squares(u, i, from, to) {
    const fill = new Path2D();
    const side = (u.series[i].points.size - u.series[i].points.width) * devicePixelRatio;
    for (let at = from; at <= to; at++) {
      if (u.data[i][at] != null) {
        fill.rect(u.valToPos(u.data[0][at], 'x', true) - side / 2,
          u.valToPos(u.data[i][at], 'y', true) - side / 2, side, side);
      }
    }
    return {stroke: fill, fill, clip: null, flags: 3};
  }

  /** Draws within the plot's frame, in canvas pixels. */
  function inFrame(u, draw) {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox, devicePixelRatio);
    ctx.restore();
  }

  function zeroLine(u) {
    inFrame(u, (ctx, bbox, ratio) => {
      const y = u.valToPos(0, 'y', true);
      ctx.strokeStyle = css('--muted');
      ctx.lineWidth = ratio;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    });
  }

  // Charts: each is a function of what was chosen, which returns uPlot's options and data.

  /**
   * Median lines with the range over trials as bands; an A/A arm's, which would lie on its
   * baseline's, only as its edges.
   */
  function curves(of, axisName) {
    const series = [{label: axisName}];
    const bands = [];
    const data = [of.x];
    // Many bands on one another are a fog.
    const thin = Math.min(1, 3 / of.curves.length);
    for (const curve of of.curves) {
      const theLook = armLook(curve.arm);
      const at = series.length;
      const name = curve.against ? `${curve.arm} against ${curve.against}` : curve.arm;
      series.push(line(name, theLook, {curve}));
      data.push(curve.middle);
      if (curve.trials > 1) {
        const {again} = theLook;
        const edge = {
          class: 'edge',
          width: 1,
          stroke: () => faint(theLook.color(), (again ? 0.7 : 0.3) * thin),
          dash: theLook.dash,
          points: {show: false},
          of: at,
          curve,
        };
        series.push({...edge, label: `${name}, smallest`}, {...edge, label: `${name}, largest`});
        data.push(curve.low, curve.high);
        if (!again) {
          bands.push({series: [at + 2, at + 1], fill: () => faint(theLook.color(), 0.16 * thin)});
        }
      }
    }
    const limits = (i, row) => {
      const {curve} = series[i];
      return !curve || curve.trials === 1 || curve.middle[row] == null ? ''
        : ` (${number(curve.low[row])} to ${number(curve.high[row])})`;
    };
    return {series, bands, data, limits};
  }

  const ofPhase = (list, phase) => list.find(each => each.phase === phase) || list[0];

  function percentiles(phase) {
    const of = ofPhase(charts.percentiles, phase);
    const said = (value, curve, x) => figure(value, curve.samples, 1 - 1 / x);
    const {series, bands, data, limits} = curves(of, 'percentile');
    const marks = [1, 2, 4, 10, 20, 100, 1e3, 1e4, 1e5, 1e6];
    return {
      data,
      limits,
      text: (i, value, row) => (i === 0 ? percentile(value)
        : said(value, series[i].curve, of.x[row])),
      options: {
        series,
        bands,
        scales: {x: xLogScale, y: logScale},
        axes: [
          logAxis('Percentile (1/(1-p), log scale)', {
            splits: (u, i, from, to) =>
              marks.filter(x => x >= from && x <= to && (x !== 4 && x !== 20 || u.width > NARROW)),
            values: (u, splits) => splits.map(x => (x == null ? '' : percentile(x))),
          }),
          logAxis(titled(phase, 'µs (log scale)'), yAxis),
        ],
      },
    };
  }

  function differences(phase) {
    const share = value => (value == null ? 'no samples' : `${number(value)} points`);
    const {series, bands, data, limits} = curves(ofPhase(charts.differences, phase), 'within');
    return {
      data,
      limits,
      text: (i, value) => (i === 0 ? micros(value) : share(value)),
      options: {
        series,
        bands,
        scales: {
          x: xLogScale,
          y: {range: (u, a, b) => linearRange(u, Math.min(a, 0), Math.max(b, 0))},
        },
        axes: [
          logAxis(titled(phase, 'µs (log scale)')),
          axis('Difference, percentage points', yAxis),
        ],
        hooks: {drawAxes: [zeroLine]},
      },
    };
  }

  function trials(phase) {
    const blocks = Math.max(...report.trials.map(trial => trial.block));
    const step = 0.7 / report.arms.length;
    const at = trial => {
      const place = report.arms.findIndex(arm => arm.name === trial.arm);
      return trial.block + (place - (report.arms.length - 1) / 2) * step;
    };
    const dots = [...report.trials].sort((a, b) => at(a) - at(b));
    const found = (trial, name) => trial.figures.phases[phase]?.[name];
    const known = (trial, name) =>
      (found(trial, name)?.need == null ? found(trial, name)?.interval.estimate ?? null : null);
    const said = (trial, name) =>
      figure(known(trial, name), trial.figures.count, name === 'p50' ? 0.5 : 0.99);
    const series = [{label: 'trial'}];
    const data = [dots.map(at)];
    for (const arm of report.arms) {
      const theLook = armLook(arm.name);
      for (const name of ['p50', 'p99']) {
        const fill = () => (name === 'p99' ? css('--paper') : theLook.color());
        series.push(line(`${arm.name} ${name}`, theLook, {
          paths: () => null,
          points: {show: true, size: 9, width: 2, fill, ...(arm.again ? {paths: squares} : {})},
          mark: fill,
          arm: arm.name,
          figure: name,
        }));
        data.push(dots.map(trial => (trial.arm === arm.name ? known(trial, name) : null)));
      }
    }
    return {
      data,
      text: (i, value, row) => {
        const trial = dots[row];
        return i === 0 ? `${trial.name}, block ${trial.block}`
          : series[i].arm === trial.arm ? said(trial, series[i].figure) : '';
      },
      options: {
        series,
        scales: {
          x: {
            time: false,
            range: (u, a, b) => (isAll(data[0], a, b) ? [0.5, blocks + 0.5] : [a, b]),
          },
          y: logScale,
        },
        axes: [
          axis('Block', {
            splits: (u, i, from, to) => whole(from, to, u.width / 40),
            values: (u, splits) => splits.map(tick),
          }),
          logAxis(titled(phase, 'µs (log scale)'), yAxis),
        ],
      },
    };
  }

  /** Whether limits are those of the data, and not what was zoomed to. */
  const isAll = (x, from, to) => from === x[0] && to === x[x.length - 1];

  /** Whole numbers from one limit to another, at most so many. */
  function whole(from, to, most) {
    const step = Math.max(1, Math.ceil((to - from) / most));
    const all = [];
    for (let value = Math.ceil(from); value <= to; value += step) {
      all.push(value);
    }
    return all;
  }

  const ROW = 14;
  /** Left of a timeline, for the names of what disturbed the client. */
  const GUTTER = 78;
  let chosen = null;

  function timeline(name, host) {
    const shown = charts.timelines.find(each => each.trial === name) || charts.timelines[0];
    const {binSeconds, seconds, quantiles, disturbances} = shown;
    const sources = Object.keys(disturbances);
    const x = seconds.map(second => second + binSeconds / 2);
    const end = Math.max(shown.endSeconds, seconds[seconds.length - 1] + binSeconds);
    const theLook = {color: () => css('--c0'), dash: []};
    const lines = [
      ['p50', theLook],
      ['p90', {color: () => css('--c5'), dash: []}],
      ['p99', {color: () => css('--c1'), dash: []}],
      ['max', {color: () => css('--c7'), dash: [2, 3]}],
    ];
    let floor = 0;
    const yRange = (u, low, high) => {
      [floor, high] = logRange(u, low, high);
      const share = (ROW * sources.length + 8) / (height(host) - 70);
      return [floor / (high / floor) ** (share / (1 - share)), high];
    };
    const shares = [0.5, 0.9, 0.99];
    const said = (i, value, idx) => (i < shares.length
      ? figure(value, shown.counts[idx], shares[i]) : value == null ? 'none' : micros(value));
    const bin = idx =>
      `${tick(seconds[idx])} to ${tick(seconds[idx] + binSeconds)} s, n=${tick(shown.counts[idx])}`;
    return {
      data: [x, ...lines.map(([quantile]) => quantiles[quantile])],
      text: (i, value, row) => (i === 0 ? bin(row) : said(i - 1, value, row)),
      options: {
        series: [
          {label: 'due from'},
          ...lines.map(([quantile, its]) => line(quantile, its, {
            points: {show: x.length < 40, size: 4, fill: its.color},
          })),
        ],
        bands: [
          {series: [4, 1], fill: () => faint(theLook.color(), 0.08)},
          {series: [2, 1], fill: () => faint(theLook.color(), 0.16)},
        ],
        scales: {
          x: {time: false, range: (u, a, b) => (isAll(x, a, b) ? [0, end] : [a, b])},
          y: {distr: 3, range: yRange},
        },
        axes: [
          axis('Due, s after the start of the run'),
          logAxis('Response, µs (log scale)', {
            size: GUTTER,
            splits: (u, i, from, to) => logTicks(Math.max(from, floor), to),
          }),
        ],
        hooks: {
          drawAxes: [u => drawWarmup(u, shown)],
          draw: [u => drawDisturbances(u, sources, disturbances), u => drawSlow(u, shown.slow)],
          ready: [u => u.over.addEventListener('click', event => pick(u, event, shown, sources))],
        },
      },
    };
  }

  function drawWarmup(u, {warmupSeconds}) {
    inFrame(u, (ctx, bbox, ratio) => {
      const from = u.valToPos(0, 'x', true);
      const to = u.valToPos(warmupSeconds, 'x', true);
      ctx.fillStyle = faint(css('--muted'), 0.12);
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      if (to - from > 70 * ratio) {
        caption(ctx, 'warm-up', from + 6 * ratio, bbox.top + 10 * ratio, ratio);
      }
    });
  }

  function caption(ctx, text, x, y, ratio) {
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    ctx.fillStyle = faint(css('--paper'), 0.8);
    ctx.fillRect(x - 2 * ratio, y - 6 * ratio, ctx.measureText(text).width + 4 * ratio, 12 * ratio);
    ctx.fillStyle = css('--ink');
    ctx.fillText(text, x, y);
  }

  const rowMiddle = (bbox, ratio, row, rows) =>
    bbox.top + bbox.height - (ROW * (rows - row - 0.5) + 2) * ratio;

  function drawDisturbances(u, sources, disturbances) {
    inFrame(u, (ctx, bbox, ratio) => {
      sources.forEach((source, row) => {
        const y = rowMiddle(bbox, ratio, row, sources.length);
        for (const each of disturbances[source]) {
          const from = u.valToPos(each.start, 'x', true);
          const width = Math.max(u.valToPos(each.end, 'x', true) - from, 1.5 * ratio);
          const share = each.micros / 1e6 / (each.end - each.start) || 1;
          ctx.fillStyle = each === chosen ? css('--mark')
            : faint(css('--bad'), 0.15 + 0.85 * Math.min(1, share));
          ctx.fillRect(from, y - 5 * ratio, width, 10 * ratio);
        }
      });
    });
    const {ctx, bbox} = u;
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'right';
    ctx.fillStyle = css('--ink');
    sources.forEach((source, row) => ctx.fillText(source, bbox.left - 5 * devicePixelRatio,
      rowMiddle(bbox, devicePixelRatio, row, sources.length), (GUTTER - 5) * devicePixelRatio));
  }

  function drawSlow(u, slow) {
    inFrame(u, (ctx, bbox, ratio) => {
      for (const each of slow) {
        const size = (each === chosen ? 7 : 4) * ratio;
        const x = u.valToPos(each.planned, 'x', true);
        const y = u.valToPos(each.micros.response, 'y', true);
        ctx.beginPath();
        ctx.moveTo(x - size, y);
        ctx.lineTo(x, y - size);
        ctx.lineTo(x + size, y);
        ctx.lineTo(x, y + size);
        ctx.closePath();
        ctx.fillStyle = each === chosen ? css('--mark') : faint(css('--mark'), 0.35);
        ctx.fill();
        ctx.strokeStyle = css('--mark');
        ctx.lineWidth = ratio;
        ctx.stroke();
      }
    });
  }

  /** Chooses the slow request, or else the disturbance, that was clicked. */
  function pick(u, event, {slow, disturbances}, sources) {
    const {offsetX: left, offsetY: top} = event;
    const distance = each => Math.hypot(
      u.valToPos(each.planned, 'x') - left, u.valToPos(each.micros.response, 'y') - top);
    const nearest = slow.reduce((a, b) => (a && distance(a) <= distance(b) ? a : b), null);
    if (nearest && distance(nearest) < 14) {
      choose(u, nearest);
      return;
    }
    const fromBottom = u.over.clientHeight - top;
    const row = sources.length - 1 - Math.floor((fromBottom - 2) / ROW);
    const hit = (disturbances[sources[row]] || []).find(each =>
      u.valToPos(each.start, 'x') - 4 <= left && u.valToPos(each.end, 'x') + 4 >= left);
    if (hit) {
      choose(u, hit, sources[row]);
    }
  }

  function choose(u, what, source) {
    chosen = what;
    document.querySelector('#timeline .chosen').textContent = source
      ? disturbanceText(what, source) : slowText(what);
    u.redraw(false, false);
  }

  function slowText({index, planned, cause, evidence, micros: parts}) {
    const phases = Object.entries(parts)
      .filter(([phase, value]) => phase !== 'response' && value != null)
      .map(([phase, value]) => `${phase} ${number(value)}`);
    return `Request ${index}, due at ${number(planned, 3)} s, took ${micros(parts.response)}. `
      + `Cause: ${cause || 'not known'}${evidence ? `: ${evidence}` : ''}. `
      + `Phases, µs: ${phases.join(', ')}.`;
  }

  function disturbanceText({start, end, count, micros: all, largestMicros, detail}, source) {
    const when = `${number(start, 3)} to ${number(end, 3)} s`;
    return count === 1
      ? `${source}, ${when}: ${micros(all)}${detail ? `, ${detail}` : ''}.`
      : `${count} of ${source}, ${when}: ${micros(all)} in all; the largest `
        + `${micros(largestMicros)}${detail ? `, ${detail}` : ''}.`;
  }

  function phases() {
    const parts = [...new Set(report.split.flatMap(split => Object.keys(split.parts)))];
    const shift = (split, part) => split.parts[part]?.shift.shift;
    const limits = report.split.flatMap(split => parts.flatMap(part => {
      const found = shift(split, part);
      return found ? [found.low, found.estimate, found.high].filter(value => value != null) : [];
    }));
    return {
      data: [
        parts.map((part, i) => i),
        ...report.split.map(split => parts.map(part => shift(split, part)?.estimate ?? null)),
      ],
      text: (i, value) => (i === 0 ? parts[value] : value == null ? '' : micros(value)),
      limits: (i, row) => {
        const found = i === 0 ? null : shift(report.split[i - 1], parts[row]);
        return found ? ` ${intervalText(found)}` : '';
      },
      options: {
        series: [
          {label: 'phase'},
          ...report.split.map(split => line(nameOf(split), armLook(split.arm), {
            paths: () => null,
          })),
        ],
        scales: {
          x: {time: false, range: () => [-0.5, parts.length - 0.5]},
          y: {range: u => linearRange(u, Math.min(0, ...limits), Math.max(0, ...limits))},
        },
        axes: [
          axis('Phase', {
            splits: () => parts.map((part, i) => i),
            values: () => parts,
            grid: {show: false},
            space: 1,
          }),
          axis('Shift of the mean, µs', yAxis),
        ],
        cursor: {drag: {x: false, y: false}},
        hooks: {drawAxes: [zeroLine], draw: [u => drawBars(u, parts, shift)]},
      },
    };
  }

  const nameOf = split => `${split.arm} against ${split.baseline}`;

  const intervalText = found =>
    (found.low == null ? '(no interval)' : `(${number(found.low)} to ${number(found.high)})`);

  function drawBars(u, parts, shift) {
    const shown = report.split.filter((split, i) => u.series[i + 1].show);
    inFrame(u, (ctx, bbox, ratio) => {
      const room = u.valToPos(1, 'x', true) - u.valToPos(0, 'x', true);
      const width = Math.min(0.7 * room / shown.length, 60 * ratio);
      shown.forEach((split, i) => parts.forEach((part, at) => {
        const found = shift(split, part);
        if (found) {
          const x = u.valToPos(at, 'x', true) + (i - (shown.length - 1) / 2) * width;
          drawBar(u, ctx, ratio, x, 0.8 * width, found, armLook(split.arm));
        }
      }));
    });
  }

  function drawBar(u, ctx, ratio, x, width, {estimate, low, high}, theLook) {
    const zero = u.valToPos(0, 'y', true);
    const top = u.valToPos(estimate, 'y', true);
    ctx.setLineDash(theLook.dash.map(each => each * ratio));
    ctx.strokeStyle = theLook.color();
    ctx.fillStyle = faint(theLook.color(), theLook.dash.length ? 0.2 : 0.65);
    ctx.lineWidth = 1.5 * ratio;
    ctx.fillRect(x - width / 2, Math.min(zero, top), width, Math.abs(top - zero));
    ctx.strokeRect(x - width / 2, Math.min(zero, top), width, Math.abs(top - zero));
    ctx.setLineDash([]);
    if (low != null) {
      ctx.strokeStyle = css('--ink');
      ctx.beginPath();
      ctx.moveTo(x, u.valToPos(low, 'y', true));
      ctx.lineTo(x, u.valToPos(high, 'y', true));
      for (const end of [low, high]) {
        ctx.moveTo(x - 4 * ratio, u.valToPos(end, 'y', true));
        ctx.lineTo(x + 4 * ratio, u.valToPos(end, 'y', true));
      }
      ctx.stroke();
    }
  }

  const rungNames = charts.ladder ? [...new Set(charts.ladder.rungs.map(rung => rung.series))] : [];

  /**
   * Lines over the offered rate; each is {label, series, look, value and text of a rung}, and the
   * rates as offered have no series.
   */
  function ladder(lines, label) {
    const {rungs, knees} = charts.ladder;
    const x = [...new Set(rungs.map(rung => rung.offered))].sort((a, b) => a - b);
    const at = (each, offered) =>
      rungs.find(rung => rung.offered === offered && rung.series === each.series);
    const value = (each, offered) => {
      const rung = each.series == null ? {offered} : at(each, offered);
      return rung ? each.value(rung) ?? null : null;
    };
    const said = (each, offered) => {
      const rung = each.series == null ? {offered} : at(each, offered);
      return rung ? each.text(each.value(rung), rung) : 'no trial';
    };
    return {
      data: [x, ...lines.map(each => x.map(offered => value(each, offered)))],
      text: (i, shown, row) => (i === 0 ? `${number(shown)}/s` : said(lines[i - 1], x[row])),
      options: {
        series: [
          {label: 'offered'},
          ...lines.map(each => line(each.label, each.look, {
            spanGaps: true,
            points: each.series == null ? {show: false} : points(each.look),
          })),
        ],
        scales: {
          x: {time: false, distr: 3, range: (u, a, b) => [a / 1.15, b * 1.15]},
          y: {distr: 3, range: (u, a, b) => (a == null ? [1, 10] : [a / 1.2, b * 1.2])},
        },
        axes: [
          logAxis('Offered, 1/s (log scale)', {
            splits: () => x,
            values: (u, splits) => splits.map(rate => (rate == null ? '' : number(rate, 0))),
          }),
          logAxis(label, yAxis),
        ],
        hooks: {draw: [u => drawKnees(u, knees), u => drawExcluded(u, lines, at)]},
      },
    };
  }

  const ladderLook = series => look(rungNames.indexOf(series));

  const latencyLadder = phase => ladder(
    rungNames.flatMap(series => ['p50', 'p99'].map(name => ({
      label: `${series} ${name}`,
      series,
      look: {...ladderLook(series), dash: name === 'p99' ? [6, 4] : []},
      value: rung => rung.micros[`${phase}.${name}`],
      text: (value, rung) => figure(value, rung.samples, name === 'p50' ? 0.5 : 0.99),
    }))),
    titled(phase, 'µs (log scale)'));

  const perSecond = value => (value == null ? 'not known' : `${number(value)}/s`);

  const rateLadder = () => ladder(
    [
      {
        label: 'as offered',
        series: null,
        look: {color: () => css('--muted'), dash: [2, 4]},
        value: rung => rung.offered,
        text: perSecond,
      },
      ...rungNames.map(series => ({
        label: series,
        series,
        look: ladderLook(series),
        value: rung => rung.achieved,
        text: perSecond,
      })),
    ],
    'Achieved, 1/s (log scale)');

  function drawKnees(u, knees) {
    inFrame(u, (ctx, bbox, ratio) => {
      knees.filter(knee => knee.at != null).forEach((knee, i) => {
        const x = u.valToPos(knee.at, 'x', true);
        ctx.strokeStyle = ladderLook(knee.series).color();
        ctx.lineWidth = 1.5 * ratio;
        ctx.setLineDash([6 * ratio, 3 * ratio]);
        ctx.beginPath();
        ctx.moveTo(x + i * 2 * ratio, bbox.top);
        ctx.lineTo(x + i * 2 * ratio, bbox.top + bbox.height);
        ctx.stroke();
        ctx.setLineDash([]);
        ctx.font = `${11 * ratio}px system-ui, sans-serif`;
        const text = `knee of ${knee.series}`;
        const left = Math.max(bbox.left + 4 * ratio, x - ctx.measureText(text).width - 8 * ratio);
        caption(ctx, text, left, bbox.top + bbox.height - (10 + 15 * i) * ratio, ratio);
      });
    });
  }

  function drawExcluded(u, lines, at) {
    inFrame(u, (ctx, bbox, ratio) => {
      lines.forEach((each, i) => u.data[0].forEach((offered, idx) => {
        const rung = each.series == null ? null : at(each, offered);
        if (rung?.excluded && u.data[i + 1][idx] != null && u.series[i + 1].show) {
          ctx.strokeStyle = css('--bad');
          ctx.lineWidth = 2 * ratio;
          ctx.beginPath();
          ctx.arc(u.valToPos(offered, 'x', true), u.valToPos(u.data[i + 1][idx], 'y', true),
            8 * ratio, 0, 2 * Math.PI);
          ctx.stroke();
        }
      }));
    });
  }

  // What all charts have in common.

  /** Of paper two charts fill a page. */
  const height = host =>
    (root.classList.contains('print') ? 260 : host.clientWidth < NARROW ? 300 : 380);
  const plots = [];

  /** Puts a chart into its place; {@code make} gets what is chosen in the section's list. */
  function put(id, makes) {
    const section = document.getElementById(id);
    if (!section) {
      return;
    }
    const list = section.querySelector('select');
    section.querySelectorAll('.chart').forEach((host, i) => {
      const plot = {host, section, list, make: makes[i], spoken: unseen(host)};
      host.addEventListener('keydown', event => move(plot, event));
      host.addEventListener('blur', () => leave(plot));
      plots.push(plot);
      draw(plot);
      new ResizeObserver(() => resize(plot)).observe(host);
    });
    list?.addEventListener('change', () => {
      chosen = null;
      ours(section).forEach(draw);
      say(section, list);
    });
    say(section, list);
    section.querySelector('details.data').addEventListener('toggle', () => dataTable(section));
  }

  const ours = section => plots.filter(plot => plot.section === section);

  function draw(plot) {
    const {host, list} = plot;
    plot.drawn?.destroy();
    plot.made = plot.make(list?.value, host);
    const {options, data} = plot.made;
    plot.width = host.clientWidth;
    plot.drawn = new uPlot({
      width: plot.width,
      height: height(host),
      ...options,
      cursor: {y: false, ...options.cursor},
      legend: {
        live: false,
        markers: {
          width: 2,
          dash: (u, i) => (u.series[i].dash?.length ? 'dotted' : 'solid'),
          fill: (u, i) => u.series[i].mark?.() ?? 'transparent',
        },
      },
      hooks: {...options.hooks, setSeries: [toggled], setCursor: [u => showTip(plot, u)]},
    }, data, host);
    legendKeys(plot.drawn);
    dataTable(plot.section);
  }

  function resize(plot) {
    const {host} = plot;
    if (host.clientWidth !== plot.width && host.clientWidth > 0) {
      plot.width = host.clientWidth;
      plot.drawn.setSize({width: plot.width, height: height(host)});
    }
  }

  /** Shows the sentences of what is chosen. */
  function say(section, list) {
    const sentences = [...section.querySelectorAll('[data-when]')];
    const value = list ? list.value : sentences[0]?.dataset.when;
    sentences.forEach(each => {
      each.hidden = each.dataset.when !== value;
    });
  }

  /** The edges of a band go with their line. */
  function toggled(u, i, options) {
    if (i == null || options.show == null) {
      return;
    }
    u.series.forEach((each, edge) => {
      if (each.of === i && each.show !== options.show) {
        u.setSeries(edge, {show: options.show});
      }
    });
    legendNames(u).forEach((name, at) => {
      name.setAttribute('aria-pressed', u.series[at + 1].show);
    });
  }

  /** One a series, from the second on: the first is the axis. */
  const legendNames = u => u.root.querySelectorAll('.u-series th');

  function legendKeys(u) {
    legendNames(u).forEach(name => {
      name.tabIndex = 0;
      name.setAttribute('role', 'button');
      name.setAttribute('aria-pressed', 'true');
      name.addEventListener('keydown', event => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          name.click();
        }
      });
    });
  }

  /** What a chart has at a place of its axis: a series and its words each. */
  const words = ({made, drawn}, row) => drawn.series
    .map((each, i) => [each, made.text(i, drawn.data[i][row], row) + (made.limits?.(i, row) ?? '')])
    .filter(([each, text]) => each.show !== false && each.of == null && text !== '');

  /** The values under the cursor, beside it. */
  function showTip(plot, u) {
    plot.tip?.remove();
    plot.tip = null;
    if (u.cursor.idx == null || !plot.drawn) {
      return;
    }
    const tip = document.createElement('div');
    tip.className = 'tip';
    // The keyboard's are spoken.
    tip.setAttribute('aria-hidden', 'true');
    for (const [each, text] of words(plot, u.cursor.idx)) {
      const row = document.createElement('p');
      if (each !== u.series[0]) {
        row.style.borderLeftColor = each.stroke(u);
        row.style.borderLeftStyle = each.dash?.length ? 'dotted' : 'solid';
      }
      row.textContent = `${each.label}: ${text}`;
      tip.append(row);
    }
    const place = u.over.parentElement;
    place.append(tip);
    plot.tip = tip;
    const at = u.over.offsetLeft + u.cursor.left;
    const left = at + 14 + tip.offsetWidth <= place.clientWidth ? at + 14 : at - 14 - tip.offsetWidth;
    tip.style.left = `${Math.max(0, left)}px`;
  }

  const leave = plot => plot.drawn.setCursor({left: -10, top: -10});

  const STEPS = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity};

  function move(plot, event) {
    const u = plot.drawn;
    if (event.target !== plot.host) {
      return;
    }
    if (event.key === 'Escape') {
      leave(plot);
    } else if (event.key in STEPS) {
      event.preventDefault();
      const last = u.data[0].length - 1;
      const step = STEPS[event.key] * (event.shiftKey ? 10 : 1);
      const at = Math.min(last, Math.max(0, (u.cursor.idx ?? (step > 0 ? -1 : last + 1)) + step));
      u.setCursor({left: u.valToPos(u.data[0][at], 'x'), top: 10});
      plot.spoken.textContent = words(plot, at)
        .map(([each, text]) => `${each.label} ${text}`)
        .join('; ');
    }
  }

  /** Where the values under the keyboard's cursor are said. */
  function unseen(host) {
    const place = document.createElement('div');
    place.className = 'unseen';
    place.setAttribute('role', 'status');
    host.after(place);
    return place;
  }

  // Tables of what is drawn, made when they are opened.

  function dataTable(section) {
    const details = section.querySelector('details.data');
    if (details.open) {
      details.querySelector('.wide').replaceChildren(...ours(section).map(plot => table(
        plot.drawn.series.map(each => each.label), rows(plot.made))));
    }
  }

  const rows = ({data, text}) =>
    data[0].map((x, row) => data.map((column, i) => text(i, column[row], row)));

  function slowTable(section, list) {
    const details = section.querySelector('details.slow');
    const plot = ours(section)[0];
    const shown = charts.timelines.find(each => each.trial === list?.value) || charts.timelines[0];
    if (!details.open || !shown) {
      return;
    }
    details.querySelector('.wide').replaceChildren(table(
      ['due, s', 'response, µs', 'cause', 'evidence'],
      shown.slow.map(each => [
        button(number(each.planned, 3), () => choose(plot.drawn, each)),
        number(each.micros.response),
        each.cause || 'not known',
        each.evidence,
      ])));
  }

  function button(text, action) {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.addEventListener('click', action);
    return made;
  }

  function table(head, rows) {
    const made = document.createElement('table');
    const first = made.createTHead().insertRow();
    for (const name of head) {
      const cell = document.createElement('th');
      cell.scope = 'col';
      cell.textContent = name;
      first.append(cell);
    }
    const tbody = made.createTBody();
    for (const row of rows) {
      const line = tbody.insertRow();
      row.forEach(each => line.insertCell().append(each));
    }
    return made;
  }

  function timelineExtras() {
    const section = document.getElementById('timeline');
    if (!section) {
      return;
    }
    const list = section.querySelector('select');
    const details = section.querySelector('details.slow');
    details.addEventListener('toggle', () => slowTable(section, list));
    list?.addEventListener('change', () => {
      section.querySelector('.chosen').textContent = 'No request is chosen.';
      slowTable(section, list);
    });
  }

  const redraw = () => plots.forEach(draw);

  let unfolded = [];

  /** Paper is white, narrower than a screen, and cannot be unfolded. */
  function print(on) {
    root.classList.toggle('print', on);
    if (on) {
      unfolded = [...document.querySelectorAll('main details:not(.data, .slow, [open])')];
    }
    unfolded.forEach(details => {
      details.open = on;
    });
    plots.forEach(plot => {
      plot.host.style.width = on ? '680px' : '';
    });
    redraw();
  }

  put('percentiles', [percentiles]);
  put('differences', [differences]);
  put('trials', [trials]);
  put('timeline', [timeline]);
  put('phases', [phases]);
  put('ladder', [latencyLadder, rateLadder]);
  timelineExtras();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
})();
