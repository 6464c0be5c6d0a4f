// What draws on the screens of a session. Everything that it shows is in a table as well.
"use strict";
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // The money of all calls up to each, under each policy.
  const colours = ["#3584e4", "#e5a50a", "#2ba67a", "#9a6dd7", "#e01b24", "#63452c", "#0aa5b5", "#c061cb", "#888888"];
  const series = document.getElementById("series");
  const draw = (box, chart) => {
    const length = Math.max(...chart.series.map((s) => s.so_far.length));
    const amount = (v) => v === null || v === undefined ? "" : chart.usd ? "$" + v.toPrecision(3) : Math.round(v).toLocaleString();
    const axis = { stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 } };
    const plot = new uPlot({
      width: Math.max(box.clientWidth, 260), height: 280, scales: { x: { time: false } }, cursor: { drag: { setScale: false } },
      axes: [{ ...axis, label: "calls", labelSize: 20 }, { ...axis, size: 80, values: (_, list) => list.map(amount) }],
      series: [{ label: "call" }, ...chart.series.map((s, i) => ({ label: s.policy, stroke: colours[i % colours.length], width: 2, points: { show: length < 60 }, value: (_, v) => amount(v) }))],
    }, [Array.from({ length }, (_, i) => i + 1), ...chart.series.map((s) => s.so_far)], box);
    new ResizeObserver(() => plot.setSize({ width: Math.max(box.clientWidth, 260), height: 280 })).observe(box);
  };
  if (series && globalThis.uPlot) {
    fetch(series.dataset.series, { redirect: "error" }).then((a) => a.ok ? a.json() : []).then((charts) => {
      charts.forEach((chart, i) => {
        const box = document.querySelector(`[data-chart="${i}"]`);
        if (box && chart.series.length > 0) draw(box, chart);
      });
    }).catch(() => { /* the tables have the figures */ });
  }
})();
