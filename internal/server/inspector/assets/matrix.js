// Draws a whole context matrix, however long the session is, on one canvas as large as its frame. What it has to know is one
// block of numbers, see pack in whole.go; the texts of messages are never fetched. A click, or Enter, leads to a message.
"use strict";
(() => {
  const frame = document.getElementById("wholeMatrix");
  if (!frame) return;
  const canvas = frame.querySelector("canvas"), extent = frame.querySelector(".extent"), said = document.getElementById("matrixSaid");
  const zooms = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2];
  const HEAD = 22, CELL = 14, LEAST = 11, MOST = 30;

  const grouped = (n) => n.toLocaleString("en-US").replaceAll(",", "\u202f"); // as the rest of the page has numbers

  // parse reads what pack has written.
  const parse = (buffer) => {
    const head = new Uint32Array(buffer, 0, 4);
    const [words, columns, rows, strips] = head;
    let at = 16;
    const take = (n) => { const out = new Uint32Array(buffer, at, n); at += 4 * n; return out; };
    const m = { columns, rows, calls: take(columns), row: take(4 * rows), first: take(rows + 1), strip: take(4 * strips) };
    m.words = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, words)));
    return m;
  };

  const start = (m) => {
    const context = canvas.getContext("2d");
    const state = { zoom: 4, column: 0, row: 0, cursor: false, asked: false };
    let tops, cell, label, colours, hatch, ink, soft, paper;

    // heightOf is the height of a message by its tokens, as the drawing of a part has it.
    const heightOf = (tokens) => Math.min(LEAST + Math.floor(4 * Math.log2(1 + tokens / 40)), MOST);

    const measure = () => {
      const zoom = zooms[state.zoom];
      cell = Math.max(CELL * zoom, 1);
      label = Math.min(230, Math.round(frame.clientWidth * 0.4));
      tops = new Float64Array(m.rows + 1);
      for (let i = 0; i < m.rows; i++) tops[i + 1] = tops[i] + Math.max((heightOf(m.row[4 * i + 3]) + 1) * zoom, 1);
      extent.style.width = label + Math.ceil(m.columns * cell) + "px";
      extent.style.height = HEAD + Math.ceil(tops[m.rows]) + "px";
    };

    const paint = () => {
      const css = getComputedStyle(document.documentElement), of = (name) => css.getPropertyValue(name).trim();
      [ink, soft, paper] = [of("--text"), of("--soft"), of("--page")];
      colours = m.words.forms.map((form) => of("--f-" + form) || "#888888");
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const t = tile.getContext("2d");
      t.strokeStyle = "rgba(11, 26, 46, .45)";
      t.lineWidth = 1.2;
      for (const d of [-6, 0, 6]) { t.beginPath(); t.moveTo(d, 6); t.lineTo(d + 6, 0); t.stroke(); }
      hatch = context.createPattern(tile, "repeat");
    };

    const fit = () => {
      const scale = globalThis.devicePixelRatio || 1;
      const [w, h] = [frame.clientWidth, frame.clientHeight];
      if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
        canvas.width = Math.round(w * scale);
        canvas.height = Math.round(h * scale);
        canvas.style.width = w + "px";
        canvas.style.height = h + "px";
      }
      context.setTransform(scale, 0, 0, scale, 0, 0);
      return [w, h];
    };

    // rowAt is the row at a height below the head, from 0.
    const rowAt = (y) => {
      let [low, high] = [0, m.rows - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (tops[middle] <= y) low = middle; else high = middle - 1;
      }
      return low;
    };

    // stripFrom is the first strip of a row that ends at a column or behind it.
    const stripFrom = (row, column) => {
      let [low, high] = [m.first[row], m.first[row + 1]];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (m.strip[4 * middle + 1] < column) low = middle + 1; else high = middle;
      }
      return low;
    };

    const drawRow = (row, x, y, firstColumn, lastColumn) => {
      const top = Math.round(HEAD + tops[row] - y), most = Math.max(tops[row + 1] - tops[row] - (cell > 3 ? 1 : 0), 1);
      for (let s = stripFrom(row, firstColumn); s < m.first[row + 1] && m.strip[4 * s] <= lastColumn; s++) {
        const from = Math.max(m.strip[4 * s], firstColumn), to = Math.min(m.strip[4 * s + 1], lastColumn), kind = m.strip[4 * s + 2];
        const high = Math.min(Math.max(Math.round(heightOf(m.strip[4 * s + 3]) * zooms[state.zoom]), 1), most);
        const left = Math.round(label + from * cell - x), wide = Math.max((to - from + 1) * cell - (to === m.strip[4 * s + 1] && cell > 3 ? 1 : 0), 1);
        context.fillStyle = colours[kind & 0x7fff];
        context.fillRect(left, top, wide, high);
        if (kind & 0x8000 && high > 3) {
          context.fillStyle = hatch;
          context.fillRect(left, top, wide, high);
        }
      }
      return [top, most];
    };

    const drawHead = (x, w, firstColumn, lastColumn) => {
      context.fillStyle = paper;
      context.fillRect(0, 0, w, HEAD);
      context.fillStyle = soft;
      const every = Math.max(1, Math.ceil(46 / cell)), step = every > 5 ? Math.ceil(every / 10) * 10 : every;
      for (let c = Math.ceil(firstColumn / step) * step; c <= lastColumn; c += step) {
        const at = label + c * cell - x;
        if (at >= label) context.fillText(m.calls[c], at, 15);
      }
      context.fillStyle = paper;
      context.fillRect(0, 0, label, HEAD);
    };

    const draw = () => {
      state.asked = false;
      const [w, h] = fit();
      const [x, y] = [frame.scrollLeft, frame.scrollTop];
      context.fillStyle = paper;
      context.fillRect(0, 0, w, h);
      context.font = "11px system-ui, sans-serif";
      const firstColumn = Math.max(0, Math.floor(x / cell)), lastColumn = Math.min(m.columns - 1, Math.floor((x + w - label) / cell));
      const drawn = [];
      for (let row = rowAt(y); row < m.rows && tops[row] < y + h; row++) drawn.push([row, ...drawRow(row, x, y, firstColumn, lastColumn)]);
      context.fillStyle = paper;
      context.fillRect(0, 0, label - 2, h);
      context.fillStyle = ink;
      let free = HEAD;
      for (const [row, top, high] of drawn) {
        const middle = top + high / 2 + 4;
        if (middle - 10 < free) continue;
        context.fillText(`${row + 1} ${m.words.labels[m.row[4 * row + 2]]}`, 2, middle, label - 8);
        free = middle;
      }
      if (state.cursor) {
        context.strokeStyle = ink;
        context.lineWidth = 2;
        context.strokeRect(label + state.column * cell - x, HEAD + tops[state.row] - y, Math.max(cell, 3), Math.max(tops[state.row + 1] - tops[state.row], 3));
      }
      drawHead(x, w, firstColumn, lastColumn);
      frame.dataset.drawn = [x, y, drawn.length].join(" ");
    };
    const ask = () => { if (!state.asked) { state.asked = true; requestAnimationFrame(draw); } };

    // say tells what a cell is.
    const say = (column, row) => {
      const s = stripFrom(row, column), call = m.calls[column], name = m.words.labels[m.row[4 * row + 2]];
      const what = `Call ${grouped(call)}, message ${grouped(row + 1)}, ${name}: `;
      if (s >= m.first[row + 1] || m.strip[4 * s] > column) { said.textContent = what + "not in its history"; return; }
      const kind = m.strip[4 * s + 2], tokens = m.strip[4 * s + 3];
      said.textContent = what + `${m.words.forms[kind & 0x7fff]}, ${grouped(tokens)} tokens, ${m.words.reasons[kind >>> 16]}` + (kind & 0x8000 ? ", equal to the call before" : "");
    };

    const digits = (n) => n.toString(16).padStart(8, "0");
    const open = (path) => location.assign(frame.dataset.base + path);
    const openRow = (row) => open("/life/" + digits(m.row[4 * row]) + digits(m.row[4 * row + 1]));
    const openCall = (column) => open("/calls/" + m.calls[column]);

    // cellAt is the column and the row under a pointer; a row of -1 is the head, a column of -1 the labels.
    const cellAt = (e) => {
      const box = canvas.getBoundingClientRect(), [px, py] = [e.clientX - box.left, e.clientY - box.top];
      const column = px < label ? -1 : Math.floor((px - label + frame.scrollLeft) / cell);
      const row = py < HEAD ? -1 : rowAt(py - HEAD + frame.scrollTop);
      return column >= m.columns || row >= 0 && py - HEAD + frame.scrollTop >= tops[m.rows] ? null : [column, row];
    };

    const show = () => { // the cell of the cursor
      const [w, h] = [frame.clientWidth, frame.clientHeight], [left, top] = [state.column * cell, tops[state.row]];
      if (left < frame.scrollLeft) frame.scrollLeft = left;
      if (left + cell > frame.scrollLeft + w - label) frame.scrollLeft = left + cell - w + label;
      if (top < frame.scrollTop) frame.scrollTop = top;
      if (tops[state.row + 1] > frame.scrollTop + h - HEAD) frame.scrollTop = tops[state.row + 1] - h + HEAD;
      say(state.column, state.row);
      ask();
    };

    const zoomBy = (by) => {
      const to = Math.min(Math.max(state.zoom + by, 0), zooms.length - 1);
      if (to === state.zoom) return;
      const [column, row] = [frame.scrollLeft / cell, rowAt(frame.scrollTop)];
      state.zoom = to;
      measure();
      frame.scrollLeft = column * cell;
      frame.scrollTop = tops[row];
      ask();
    };

    const moves = {
      ArrowLeft: () => { state.column--; }, ArrowRight: () => { state.column++; }, ArrowUp: () => { state.row--; }, ArrowDown: () => { state.row++; },
      PageUp: () => { state.row -= 20; }, PageDown: () => { state.row += 20; },
      Home: (e) => { if (e.ctrlKey) state.row = 0; else state.column = 0; }, End: (e) => { if (e.ctrlKey) state.row = m.rows; else state.column = m.columns; },
    };
    frame.addEventListener("keydown", (e) => {
      if (e.altKey || e.metaKey) return;
      const move = moves[e.key];
      if (move) {
        move(e);
        state.cursor = true;
        state.column = Math.min(Math.max(state.column, 0), m.columns - 1);
        state.row = Math.min(Math.max(state.row, 0), m.rows - 1);
        show();
      } else if (e.key === "Enter" && state.cursor) openRow(state.row);
      else if (e.key === "c" && !e.ctrlKey && state.cursor) openCall(state.column);
      else if (e.key === "+" || e.key === "-") zoomBy(e.key === "+" ? 1 : -1);
      else return;
      e.preventDefault();
    });
    frame.addEventListener("scroll", ask, { passive: true });
    canvas.addEventListener("pointermove", (e) => {
      const at = cellAt(e);
      if (at && at[0] >= 0 && at[1] >= 0) say(...at);
    });
    canvas.addEventListener("click", (e) => {
      const at = cellAt(e);
      if (!at) return;
      if (at[1] >= 0) openRow(at[1]); else if (at[0] >= 0) openCall(at[0]);
    });
    for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoomBy(Number(button.dataset.zoom)));
    new ResizeObserver(() => { measure(); ask(); }).observe(frame);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { paint(); ask(); });
    // cellAt is where a cell is on the canvas, for whoever looks at it from outside.
    frame.cellAt = (column, row) => [label + column * cell - frame.scrollLeft, HEAD + tops[row] - frame.scrollTop, cell, tops[row + 1] - tops[row]];
    paint();
    measure();
    draw();
    said.textContent = `${grouped(m.columns)} calls, ${grouped(m.rows)} messages.`;
  };

  fetch(frame.dataset.matrix, { redirect: "error" })
    .then((a) => { if (!a.ok) throw new Error("status " + a.status); return a.arrayBuffer(); })
    .then((buffer) => start(parse(buffer)))
    .catch((e) => { said.textContent = "The whole matrix could not be drawn (" + e.message + "). The parts below have it."; });
})();
