// What makes the pages easier to use. Everything works without it.
"use strict";
(() => {
  const changed = document.getElementById("changed");

  // The page says when it does not show any more what is open.
  const look = async () => {
    const { list, wait, version } = changed.dataset;
    if (document.hidden || changed.textContent || wait && !version) return;
    try {
      const answer = await fetch("/page/state" + (wait ? "?wait=" + encodeURIComponent(wait) : ""), { redirect: "error" });
      if (answer.status === 401) changed.textContent = "This page was closed. Open it again by a new address: windlass serve token --page";
      if (!answer.ok) return;
      const now = await answer.json();
      if (wait && now.wait === version || !wait && now.list === list) return;
      const link = document.createElement("a");
      link.href = location.pathname;
      link.textContent = "Show how it is now";
      changed.append(wait ? "This was answered elsewhere, or has ended. " : "The list has changed. ", link);
    } catch { /* the server is away: the next look tells */ }
  };
  if (changed) {
    setInterval(look, 10000);
    document.addEventListener("visibilitychange", look);
  }

  // Ctrl+Enter sends the form of a text.
  document.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || !(e.target instanceof HTMLTextAreaElement)) return;
    const form = e.target.form, buttons = form.querySelectorAll("button");
    if (buttons.length === 1) form.requestSubmit(buttons[0]);
  });

  // A text of one's own is no option.
  const custom = document.getElementById("custom");
  if (custom) custom.addEventListener("input", () => {
    for (const option of custom.form.querySelectorAll("input[type=radio]")) option.checked = option.checked && custom.value === "";
  });

  // One candidate at a time, where that is wanted.
  for (const box of document.querySelectorAll(".candidates.tabbed")) {
    const panels = [...box.querySelectorAll(".candidate")];
    const bar = document.createElement("div");
    bar.setAttribute("role", "tablist");
    bar.setAttribute("aria-label", "Candidates");
    const tabs = panels.map((panel, i) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.id = "tab-" + i;
      tab.setAttribute("role", "tab");
      tab.textContent = panel.querySelector("h3").textContent;
      panel.id = "panel-" + i;
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => show(i));
      bar.append(tab);
      return tab;
    });
    const show = (at) => {
      tabs.forEach((tab, i) => {
        tab.setAttribute("aria-selected", String(i === at));
        tab.tabIndex = i === at ? 0 : -1;
        panels[i].hidden = i !== at;
      });
    };
    bar.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      const at = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
      show(at);
      tabs[at].focus();
    });
    // A browser cannot point at what it asks for in a panel that is hidden: the panel is shown.
    box.addEventListener("invalid", (e) => show(panels.findIndex((p) => p.contains(e.target))), true);
    box.prepend(bar);
    show(0);
  }

  // A text that can be copied has a button for it.
  for (const text of document.querySelectorAll("[data-copied]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = "Selected: press Ctrl+C";
      }
    });
    text.after(button);
  }

  // Parts of a page that goes on are asked for again when there is more. The document comes parsed, and no script of it runs.
  const fetchPage = (address) => new Promise((done, failed) => {
    const ask = new XMLHttpRequest();
    ask.open("GET", address);
    ask.responseType = "document";
    ask.addEventListener("load", () => ask.status === 200 && ask.responseXML ? done(ask.responseXML) : failed(new Error(String(ask.status))));
    ask.addEventListener("error", () => failed(new Error("no answer")));
    ask.send();
  });
  const live = document.querySelector("[data-live]"), told = document.getElementById("live");
  if (live) {
    let events, asked = false, again = false, ended = false;
    const refresh = async () => {
      if (asked) {
        again = true;
        return;
      }
      asked = true;
      try {
        const now = await fetchPage(location.href);
        for (const part of document.querySelectorAll("[data-part]")) {
          const other = now.getElementById(part.id);
          if (!other || part.contains(document.activeElement)) continue;
          part.replaceWith(document.importNode(other, true));
        }
        if (!now.querySelector("[data-live]")) {
          events?.close();
          ended = true;
          told.textContent = "The run has stopped.";
        }
      } catch { /* the server is away: the stream tells when it is back */ }
      asked = false;
      if (again) {
        again = false;
        refresh();
      }
    };
    // A browser has few connections to a server: a page that is not seen leaves its own to others.
    const follow = () => {
      events?.close();
      events = undefined;
      if (document.hidden || ended) return;
      events = new EventSource(live.dataset.live);
      events.addEventListener("message", refresh);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
  }

  // What is dragged out of a frame is dropped nowhere but into a text: a browser goes to the address of a link.
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (e) => {
      if (e.target instanceof Element && e.target.closest("textarea, input")) return;
      e.preventDefault();
      if (e.dataTransfer) e.dataTransfer.dropEffect = "none";
    });
  }
})();
