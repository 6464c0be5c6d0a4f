// The editor of a cascade file. Without it a text field is there, and buttons.
"use strict";
(() => {
  let place = document.getElementById("editor");
  const area = document.getElementById("text"), form = document.getElementById("author");
  if (!place || !area || typeof windlassEditor === "undefined") return;
  const { check, name, schema, language } = place.dataset;
  const state = document.getElementById("state"), list = document.getElementById("found"), graph = document.getElementById("graph");
  const own = (object, key) => Object.hasOwn(object ?? {}, key) ? object[key] : undefined;

  // Where the cursor is: the keys that lead to it, whether a key or a value stands there, and what is written of that.
  // "*" is an element of a list.
  const inJSON = (text) => {
    const stack = [];
    let top = { path: [], keys: [], kind: "value" }, from = -1;
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (c === '"') {
        let end = i + 1;
        while (end < text.length && text[end] !== '"' && text[end] !== "\n") end += text[end] === "\\" ? 2 : 1;
        if (end >= text.length) return { ...top, from: i, written: text.slice(i + 1), quoted: true };
        if (top.kind === "key" && text[end] === '"') {
          try { top.key = JSON.parse(text.slice(i, end + 1)); } catch { top.key = ""; }
          top.keys.push(top.key);
        }
        i = end;
        from = -1;
      } else if (c === "{" || c === "[") {
        stack.push(top);
        const path = top.list ? [...top.path, "*"] : top.key === undefined ? top.path : [...top.path, top.key];
        top = { path, keys: [], kind: c === "{" ? "key" : "value", list: c === "[" };
        from = -1;
      } else if (c === "}" || c === "]") {
        top = stack.pop() ?? top;
        from = -1;
      } else if (c === ":") {
        top.kind = "value";
        from = -1;
      } else if (c === ",") {
        if (!top.list) top = { ...top, kind: "key", key: undefined };
        from = -1;
      } else if (/\s/.test(c)) from = -1;
      else if (from < 0) from = i;
    }
    return { ...top, from: from < 0 ? text.length : from, written: from < 0 ? "" : text.slice(from), quoted: false };
  };

  // Of YAML only what is written in lines is followed, not collections in braces.
  const inYAML = (text) => {
    const lines = text.split("\n"), last = lines.pop();
    const stack = [{ indent: -1, path: [], keys: [] }]; // of keys, and of elements of lists
    const step = (line, isLast) => {
      let rest = line, indent = 0;
      for (;;) {
        indent += rest.length - rest.trimStart().length;
        rest = rest.trimStart();
        while (stack.length > 1 && stack.at(-1).indent >= indent + (/^-(\s|$)/.test(rest) && !stack.at(-1).element ? 1 : 0)) stack.pop();
        if (!/^-(\s|$)/.test(rest)) break;
        const up = stack.at(-1);
        stack.push({ indent, element: true, path: [...up.path, "*"], keys: [] });
        indent++;
        rest = rest.slice(1);
      }
      const up = stack.at(-1), found = /^("?)([\w.$-]+)\1:(\s+|$)/.exec(rest);
      if (isLast) {
        if (!found) return { path: up.path, keys: up.keys, kind: up.element && rest === line.trim().replace(/^(-\s*)+/, "") ? "either" : "key", from: text.length - rest.length, written: rest };
        const value = rest.slice(found[0].length);
        return { path: up.path, keys: up.keys, key: found[2], kind: "value", from: text.length - value.length, written: value };
      }
      if (found && !/^["'#]/.test(rest)) {
        up.keys.push(found[2]);
        stack.push({ indent, path: [...up.path, found[2]], keys: [], block: /^[|>]/.test(rest.slice(found[0].length)) });
      }
    };
    let block = -1; // the indentation of the key of a text in several lines
    for (const line of lines) {
      const indent = line.length - line.trimStart().length;
      if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
      if (block >= 0 && indent > block) continue;
      block = -1;
      step(line, false);
      if (stack.at(-1).block) block = stack.at(-1).indent;
    }
    if (last.trimStart().startsWith("#") || block >= 0 && last.length - last.trimStart().length > block) return null;
    return step(last, true);
  };

  // The JSON Schema.
  let whole = null;
  const loaded = fetch(schema, { redirect: "error" }).then((answer) => answer.ok ? answer.json() : null).then((text) => { whole = text; }).catch(() => { /* nothing is completed then */ });

  // parts returns a schema without references: it, or the alternatives that it has.
  const parts = (s, depth = 0) => {
    if (!s || typeof s !== "object" || depth > 8) return [];
    if (s.$ref) return [{ description: s.description }, ...parts(own(whole.$defs, s.$ref.replace("#/$defs/", "")), depth + 1)];
    const others = [...(s.anyOf ?? []), ...(s.oneOf ?? []), ...(s.allOf ?? [])];
    return [s, ...others.flatMap((other) => parts(other, depth + 1))];
  };
  const at = (path) => path.reduce((found, key) => found.flatMap((s) => {
    const next = key === "*" ? s.items : own(s.properties, key) ?? (typeof s.additionalProperties === "object" ? s.additionalProperties : undefined);
    return parts(next);
  }), parts(whole));
  const about = (s) => parts(s).map((p) => p.description).find((d) => d) ?? "";

  // begins returns how a value of a schema begins after its key.
  const begins = (s) => {
    const all = parts(s);
    if (language === "yaml") return all.some((p) => p.type === "object" || p.type === "array") ? ":\n" : ": ";
    const type = all.map((p) => p.type).find((t) => t);
    return { string: ': ""', object: ": {}", array: ": []" }[type] ?? ": ";
  };
  const keys = (where) => {
    const options = new Map();
    for (const s of at(where.path)) {
      for (const [key, value] of Object.entries(s.properties ?? {})) {
        if (where.keys.includes(key) || options.has(key)) continue;
        options.set(key, { label: key, info: about(value), apply: language === "json" ? JSON.stringify(key) + begins(value) : key + begins(value).replace("\n", "") });
      }
    }
    return [...options.values()];
  };
  const isDefault = "the default";
  const values = (where) => {
    const options = new Map(), path = where.list ? [...where.path, "*"] : where.key === undefined ? where.path : [...where.path, where.key];
    const offer = (value, info) => {
      const text = language === "json" ? JSON.stringify(value) : typeof value === "string" && !/^[\w][\w ./@-]*$/.test(value) ? JSON.stringify(value) : String(value);
      if (!options.has(text)) options.set(text, { label: String(value), apply: text, info, boost: info === isDefault ? 1 : 0 });
    };
    for (const s of at(path)) {
      for (const value of s.enum ?? []) offer(value, "");
      if (s.type === "boolean") [true, false].forEach((value) => offer(value, value === s.default ? isDefault : ""));
      else if (s.default !== undefined && typeof s.default !== "object") offer(s.default, isDefault);
      for (const example of s.examples ?? []) if (typeof example !== "object" && !s.enum) offer(example, "an example");
    }
    return [...options.values()];
  };
  const complete = async (before, asked) => {
    await loaded;
    if (!whole) return null;
    const where = language === "json" ? inJSON(before) : inYAML(before);
    if (!where || !asked && where.written === "" && !where.quoted) return null;
    const options = where.kind === "value" ? values(where) : where.kind === "key" ? keys(where) : [...keys(where), ...values({ ...where, key: undefined })];
    if (options.length === 0) return null;
    // The quote that was typed is replaced with the one of the option, and so is what the editor has closed it with.
    return {
      from: where.from, filter: true, validFor: undefined,
      options: options.map((o) => ({
        ...o,
        displayLabel: o.label,
        label: where.quoted ? JSON.stringify(o.label) : o.label,
        apply: (view, _, from, to) => {
          const end = where.quoted && view.state.sliceDoc(to, to + 1) === '"' ? to + 1 : to;
          const rest = view.state.sliceDoc(end, end + 1) === ":" ? o.apply.replace(/:.*$/s, "") : o.apply;
          const inside = /(""|\{\}|\[\])$/.test(rest) && where.kind !== "value" ? 1 : 0;
          view.dispatch({ changes: { from, to: end, insert: rest }, selection: { anchor: from + rest.length - inside }, userEvent: "input.complete" });
        },
      })),
    };
  };

  // What is wrong with the text, a moment after each change.
  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const row = (d) => {
    const item = element("li", "", d.severity === "error" ? "error" : "warning"), line = element("p", ""), place = (d.file ? d.file + ":" : "") + d.line + ":" + d.col;
    line.dir = "auto";
    if (d.file) line.append(element("code", place));
    else {
      const button = element("button", place);
      button.type = "button";
      button.setAttribute("aria-label", place + ": go to line " + d.line + ", column " + d.col);
      button.addEventListener("click", () => editor.go(d.line, d.col));
      line.append(button);
    }
    line.append(" ", element("span", d.severity, "kind"), " ", d.message, " ", element("code", d.code, "hint"));
    item.append(line);
    if (d.hint) {
      const hint = element("p", d.hint, "hint");
      hint.dir = "auto";
      item.append(hint);
    }
    return item;
  };
  const draw = (now) => {
    const picture = graph.querySelector("#picture"), text = graph.querySelector("#graphText");
    document.getElementById("graphNote").textContent = now || !text ? "" : "The text has errors: this is the graph of it as it was before.";
    if (!now) return;
    if (picture && text && now.picture) {
      picture.src = now.picture;
      picture.alt = now.alt;
      text.textContent = now.text;
      return;
    }
    const box = element("div", "", "picture"), image = document.createElement("img"), more = document.createElement("details"), code = element("pre", now.text, "code");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "The graph, which may be wider than the page");
    image.id = "picture";
    image.alt = now.alt;
    image.src = now.picture;
    box.append(image);
    code.id = "graphText";
    code.tabIndex = 0;
    more.append(element("summary", "The graph as text"), code);
    graph.replaceChildren(...(now.picture ? [box] : []), more);
  };
  const fileNote = document.getElementById("fileNote");
  const told = (answer) => {
    state.textContent = answer.state;
    state.className = answer.bad ? "state bad" : "state";
    if (fileNote.textContent !== answer.note) fileNote.textContent = answer.note;
    list.replaceChildren(...answer.found.map(row));
    editor.show(answer.found.filter((d) => !d.file));
    draw(answer.graph);
  };
  const kept = " This tab keeps it as a draft, which is offered when the file is opened here again.";
  const refusals = {
    401: "This page was closed: the text is not checked, and cannot be saved." + kept + " Open the page again in this tab, by the address that is printed by: windlass serve token --page",
    403: "This page is of a login that has ended: the text is not checked. Press Check: it keeps your text, which can then be saved.",
    413: "The text is longer than the page takes, and cannot be checked or saved." + kept,
  };
  let waits = 0, asking = null;
  const ask = async () => {
    asking?.abort();
    const mine = asking = new AbortController();
    const body = new URLSearchParams({ token: form.elements.token.value, version: form.elements.version.value, name, text: editor.text() });
    try {
      const answer = await fetch(check, { method: "POST", body, redirect: "error", signal: mine.signal });
      if (answer.ok) told(await answer.json());
      else {
        state.textContent = refusals[answer.status] ?? "The text cannot be checked. Press Check: it says why, and keeps your text.";
        state.className = "state bad";
      }
    } catch (e) {
      if (e.name !== "AbortError") state.textContent = "The server is away: the text is not checked." + kept;
    }
  };
  const saved = area.defaultValue;
  let leaving = false, editor = null;

  // A draft is what was written and not saved. It outlives a login and a server, and ends with the tab.
  const draftKey = "draft of " + name;
  const hasChange = () => "changed" in place.dataset || editor.text() !== saved;
  const keep = () => {
    try {
      if (hasChange()) sessionStorage.setItem(draftKey, editor.text());
      else sessionStorage.removeItem(draftKey);
    } catch { /* a browser that keeps nothing for a page */ }
  };
  const keptDraft = () => {
    try { return sessionStorage.getItem(draftKey); } catch { return null; }
  };
  const edit = (text) => {
    editor = windlassEditor.create({
      parent: place, text, language, label: "The text of " + name, complete,
      changed() {
        keep();
        clearTimeout(waits);
        waits = setTimeout(ask, 300);
      },
    });
    place.className = "on";
    place.shadowRoot.querySelector(".cm-content").tabIndex = 0; // the frame that scrolls has something that takes the focus
  };
  const offer = document.getElementById("draft"), draft = keptDraft();
  edit(area.value);
  if (draft === null || draft === editor.text() || "changed" in place.dataset) keep();
  else offer.hidden = false;
  document.getElementById("useDraft").addEventListener("click", () => {
    const fresh = place.cloneNode(false); // an element has one shadow root
    place.replaceWith(fresh);
    place = fresh;
    offer.hidden = true;
    edit(draft);
    editor.focus();
    keep();
    ask();
  });
  document.getElementById("dropDraft").addEventListener("click", () => {
    offer.hidden = true;
    editor.focus();
    keep();
  });
  area.hidden = true;
  document.getElementById("keys").textContent = "Ctrl+Space completes keys and values, F8 goes to what is wrong next, Tab leaves the text.";
  form.addEventListener("submit", () => {
    area.value = editor.text();
    keep();
    leaving = true;
  });
  addEventListener("beforeunload", (e) => {
    if (!leaving && hasChange()) e.preventDefault();
  });
  addEventListener("pageshow", () => { leaving = false; });
  ask();
})();
