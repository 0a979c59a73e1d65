/* Draws the page's figures with uPlot. Without scripts, and on paper, the static drawings stay. */
(function () {
  "use strict";
  const figures = JSON.parse(document.getElementById("figure-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isPoints = (s) => s.kind === "points" || s.kind === "hollow" || s.kind === "knee";
  let charts = [];

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (s) => css(s.colour < 0 ? "--ink" : "--c" + s.colour);

  function number(v) {
    if (v == null) return "\u2013";
    const a = Math.abs(v);
    return a >= 99.95 ? v.toFixed(0) : a >= 9.995 ? v.toFixed(1) : a >= 0.0995 || a === 0 ? v.toFixed(2) : v.toFixed(3);
  }

  function bytes(v) {
    const units = ["B", "KiB", "MiB", "GiB"];
    let i = 0;
    for (; v >= 1024 && i < units.length - 1; i++) v /= 1024;
    return (Number.isInteger(v) ? v : number(v)) + " " + units[i];
  }

  /* Marker shapes as in the static drawings: circle, square, triangle, diamond, triangle down, cross. */
  function marker(ctx, shape, x, y, r) {
    const to = (points) => points.forEach(([px, py], i) =>
      (i ? ctx.lineTo : ctx.moveTo).call(ctx, x + r * px, y + r * py));
    ctx.beginPath();
    if (shape === 0) ctx.arc(x, y, r, 0, 2 * Math.PI);
    else if (shape === 1) ctx.rect(x - 0.92 * r, y - 0.92 * r, 1.84 * r, 1.84 * r);
    else if (shape === 2) to([[0, -1.3], [1.2, 0.8], [-1.2, 0.8]]);
    else if (shape === 3) to([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]);
    else if (shape === 4) to([[0, 1.3], [1.2, -0.8], [-1.2, -0.8]]);
    else to([[-0.35, -1.1], [0.35, -1.1], [0.35, -0.35], [1.1, -0.35], [1.1, 0.35], [0.35, 0.35],
             [0.35, 1.1], [-0.35, 1.1], [-0.35, 0.35], [-1.1, 0.35], [-1.1, -0.35], [-0.35, -0.35]]);
    ctx.closePath();
  }

  function drawPoints(u, s) {
    const ctx = u.ctx, ratio = window.devicePixelRatio || 1, stroke = colour(s), page = css("--page");
    for (let i = 0; i < s.xs.length; i++) {
      const x = u.valToPos(s.xs[i], "x", true), y = u.valToPos(s.ys[i], "y", true);
      if (s.kind === "knee") {
        ctx.beginPath();
        ctx.moveTo(x, y - 9 * ratio);
        ctx.lineTo(x, y + 9 * ratio);
        ctx.lineWidth = 2.4 * ratio;
        ctx.strokeStyle = stroke;
        ctx.stroke();
        continue;
      }
      marker(ctx, s.shape, x, y, 3.4 * ratio);
      ctx.fillStyle = stroke;
      ctx.strokeStyle = s.kind === "hollow" ? stroke : page;
      ctx.lineWidth = (s.kind === "hollow" ? 1.4 : 0.8) * ratio;
      if (s.kind !== "hollow") ctx.fill();
      ctx.stroke();
    }
  }

  /* Names of the groups at the ends of their lines, moved apart where they would touch. */
  function drawLabels(u, f) {
    const ctx = u.ctx, ratio = window.devicePixelRatio || 1, box = u.bbox, seen = new Map();
    f.series.forEach((s, i) => {
      const old = seen.get(s.group);
      if (u.series[i + 1].show && s.xs.length && (!old || (isPoints(old) && !isPoints(s)))) seen.set(s.group, s);
    });
    const labels = [...seen.values()].map((s) => ({
      s, x: u.valToPos(s.xs[s.xs.length - 1], "x", true), y: u.valToPos(s.ys[s.ys.length - 1], "y", true),
    })).sort((a, b) => a.y - b.y);
    if (f.labels === "margin")
      labels.forEach((l, i) => {
        l.x = box.left + box.width;
        if (i) l.y = Math.max(l.y, labels[i - 1].y + 15 * ratio);
      });
    ctx.font = "bold " + 12 * ratio + "px system-ui, sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    labels.forEach((l) => {
      ctx.fillStyle = colour(l.s);
      ctx.fillText(l.s.group, l.x + 8 * ratio, Math.min(l.y, box.top + box.height));
    });
  }

  function draw(u, f) {
    const ctx = u.ctx;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left - 6, u.bbox.top - 6, u.bbox.width + 12, u.bbox.height + 12);
    ctx.clip();
    f.series.forEach((s, i) => { if (isPoints(s) && u.series[i + 1].show) drawPoints(u, s); });
    ctx.restore();
    ctx.save();
    if (f.labels !== "legend") drawLabels(u, f);
    ctx.restore();
  }

  const scale = (a) => ({ time: false, distr: a.log ? 3 : 1, log: a.log || 10, range: () => [a.low, a.high] });

  function axis(a, size) {
    const font = "12px system-ui, sans-serif";
    return {
      label: a.label, labelFont: font, font: font, size: size, labelSize: 22, labelGap: 2, stroke: css("--ink"), gap: 5,
      splits: () => a.at, values: () => a.text, filter: (u, splits) => splits,
      grid: { stroke: css("--grid"), width: 1 }, ticks: { show: false },
      border: { show: true, stroke: css("--soft"), width: 1 },
    };
  }

  function series(s) {
    const line = !isPoints(s);
    return {
      stroke: colour(s), spanGaps: true, width: line ? 1.8 : 0, pxAlign: 0,
      dash: s.kind === "dashed" ? [5, 4] : undefined,
      paths: line ? undefined : () => null, points: { show: false },
    };
  }

  /* Sample of a role: what the static legend shows, 26 pixels wide. */
  function key(kind) {
    const shapes = {
      points: '<circle class="ink pt" cx="13" cy="7" r="3.6"/>',
      hollow: '<circle class="ink ho" cx="13" cy="7" r="3.4"/>',
      line: '<path class="ink ln" d="M2 7h22"/>', dashed: '<path class="ink ln da" d="M2 7h22"/>',
      knee: '<path class="ink ln kn" d="M13 1v12"/>',
    };
    return '<svg class="key" viewBox="0 0 26 14">' + shapes[kind] + "</svg>";
  }

  /* The marker of a group, in its colour. */
  function swatch(s) {
    const canvas = document.createElement("canvas"), ctx = canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = 12 * ratio;
    canvas.className = "swatch";
    if (s.colour < 0) return canvas;
    marker(ctx, s.shape, 6 * ratio, 6 * ratio, 4 * ratio);
    ctx.fillStyle = colour(s);
    ctx.fill();
    return canvas;
  }

  function button(text, sample, onClick) {
    const b = document.createElement("button");
    b.type = "button";
    if (typeof sample === "string") b.innerHTML = key(sample);
    else if (sample) b.append(swatch(sample));
    b.append(text);
    b.addEventListener("click", onClick);
    return b;
  }

  /* Legend as a table, a row for each group and a column for each role: click a name or a value to hide and show what
   * it stands for; the values follow the cursor. */
  function legend(u, f, at) {
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    const roles = new Map(f.series.map((s) => [s.role, s.kind])), groups = new Map(f.series.map((s) => [s.group, s]));
    const cells = new Map();
    const toggle = (wanted) => {
      const some = f.series.map((s, i) => (wanted(s, i) ? i + 1 : 0)).filter(Boolean);
      const show = !some.some((i) => u.series[i].show);
      some.forEach((i) => u.setSeries(i, { show: show }));
      cells.forEach((cell, i) => cell.classList.toggle("off", !u.series[i].show));
    };
    const corner = document.createElement("th");
    corner.className = "w at";
    head.append(corner);
    roles.forEach((kind, role) => {
      const th = document.createElement("th");
      th.className = "w";
      th.append(button(role, kind, () => toggle((s) => s.role === role)));
      head.append(th);
    });
    groups.forEach((first, group) => {
      const row = body.insertRow(), th = document.createElement("th");
      th.append(button(group, first, () => toggle((s) => s.group === group)));
      th.firstChild.style.color = colour(first);
      row.append(th);
      roles.forEach((kind, role) => {
        const cell = row.insertCell(), i = f.series.findIndex((s) => s.group === group && s.role === role);
        cell.className = "w";
        if (i < 0) return;
        cell.append(button("\u2013", null, () => toggle((s, j) => j === i)));
        cells.set(i + 1, cell);
      });
    });
    table.className = "legend";
    at.append(table);
    return () => {
      const left = u.cursor.left, over = left != null && left >= 0, x = over ? u.posToVal(left, "x") : null;
      corner.textContent = !over ? "" : f.x.bytes ? "V = " + bytes(Math.round(x)) : "gap " + number(x) + " \u00b5s";
      cells.forEach((cell, i) => {
        const at2 = over && u.cursor.idxs ? u.cursor.idxs[i] : null;
        cell.firstChild.textContent = at2 == null ? "\u2013" : number(u.data[i][at2]);
      });
    };
  }

  /* The series' own point nearest to the cursor, since series have different x values. */
  function nearest(u, i, at, x) {
    const ys = u.data[i];
    if (i === 0 || ys[at] != null) return at;
    let low = at, high = at;
    while (low >= 0 && ys[low] == null) low--;
    while (high < ys.length && ys[high] == null) high++;
    if (low < 0 && high >= ys.length) return null;
    if (low < 0) return high;
    if (high >= ys.length) return low;
    return x - u.data[0][low] <= u.data[0][high] - x ? low : high;
  }

  function make(f) {
    const at = document.getElementById(f.id + "-plot");
    const width = () => Math.max(320, at.clientWidth);
    const longest = Math.max(...f.series.map((s) => s.group.length));
    const room = f.labels === "legend" ? 18 : f.labels === "margin" ? 16 + 7 * longest : 7 * longest;
    let update = () => {};
    at.textContent = "";
    const u = new uPlot({
      width: width(), height: 370, padding: [10, room, 0, 0],
      scales: { x: scale(f.x), y: scale(f.y) },
      axes: [axis(f.x, 26), axis(f.y, 44)],
      series: [{}, ...f.series.map(series)],
      cursor: { drag: { x: false, y: false }, dataIdx: nearest, points: { size: 8 } },
      legend: { show: false },
      hooks: { draw: [(u2) => draw(u2, f)], setCursor: [() => update()] },
    }, uPlot.join(f.series.map((s) => [s.xs, s.ys])), at);
    update = legend(u, f, at);
    return { u, width };
  }

  function drawAll() {
    charts.forEach((c) => c.u.destroy());
    charts = figures.map(make);
  }

  document.documentElement.classList.add("live");
  drawAll();
  dark.addEventListener("change", drawAll);
  window.addEventListener("resize", () => charts.forEach((c) => c.u.setSize({ width: c.width(), height: 370 })));
})();
