// What pages do besides being read: keys, theme, live updates. Every page works without it.
(() => {
  "use strict";
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

  // Forms that are sent when something in them is chosen.
  document.addEventListener("change", (event) => {
    const field = event.target.closest("[data-submit]");
    if (field) field.form.requestSubmit();
  });

  // Light and dark: the server reads the cookie, so the next page is painted right from the start.
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const switchTheme = () => {
    root.dataset.theme = dark() ? "light" : "dark";
    document.cookie = `holdfast-theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
    document.dispatchEvent(new Event("themechange"));
  };
  for (const button of all("[data-theme-switch]")) { button.hidden = false; button.addEventListener("click", switchTheme); }

  const keys = find("#keys");
  for (const button of all("[data-help]")) { button.hidden = false; button.addEventListener("click", () => keys.showModal()); }

  // j and k move a mark along the rows of a page.
  const move = (step) => {
    const rows = all("[data-row]");
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.classList.contains("at"));
    const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
    rows.forEach((row) => row.classList.remove("at"));
    next.classList.add("at");
    next.scrollIntoView({ block: "nearest" });
    const link = find("[data-open]", next);
    if (link) link.focus({ preventScroll: true });
  };

  const pages = { s: "/", r: "/search", e: "/sessions", t: "/threads", c: "/scars", g: "/graph", h: "/health", i: "/insights", p: "/projects" };
  const project = new URLSearchParams(location.search).get("project");
  const go = (path) => { location.href = project ? `${path}?project=${encodeURIComponent(project)}` : path; };
  let pending = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") { event.preventDefault(); event.target.blur(); } // a search field would forget what was typed
      return;
    }
    if (keys.open) return;
    if (pending) {
      pending = false;
      if (pages[event.key]) { event.preventDefault(); go(pages[event.key]); }
      return;
    }
    const q = find("[data-q]");
    const edit = find("[data-edit]");
    const does = {
      "/": () => (q ? (q.focus(), q.select()) : go("/search")),
      j: () => move(1),
      k: () => move(-1),
      g: () => { pending = true; setTimeout(() => { pending = false; }, 1200); },
      d: switchTheme,
      e: () => { if (edit) { edit.open = true; find("textarea", edit).focus(); } },
      "?": () => keys.showModal(),
    }[event.key];
    if (does) { event.preventDefault(); does(); }
  });

  // The address follows what is searched, so that it can be shared and survives a reload.
  const search = find("[data-search]");
  if (search) {
    document.addEventListener("htmx:afterSwap", (event) => {
      if (event.detail.target.id !== "hits") return;
      const given = new URLSearchParams(new FormData(search));
      for (const [name, value] of [...given]) if (!value) given.delete(name);
      history.replaceState(null, "", `/search?${given}`);
    });
  }

  // The stream: the server says that something happened, the page fetches what is new and puts it on top.
  const live = find("[data-live]");
  const list = find("#stream");
  if (live && list) {
    const word = find("[data-live-word]", live);
    let busy = false;
    let again = false;
    const fetchNew = async () => {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const answer = await fetch(list.dataset.newer, { headers: { "hx-request": "true" } });
        if (!answer.ok) return;
        list.dataset.newer = answer.headers.get("x-newer") || list.dataset.newer;
        const made = document.createElement("template");
        made.innerHTML = await answer.text();
        const rows = all("li", made.content).filter((row) => row.parentElement === null || row.parentNode === made.content);
        put(rows);
      } finally {
        busy = false;
        if (again) { again = false; fetchNew(); }
      }
    };
    const put = (rows) => {
      const top = list.firstElementChild;
      const sameDay = top && top.classList.contains("daybreak") && rows[0] && rows[0].textContent === top.textContent;
      if (sameDay) rows.shift();
      for (const row of rows) if (row.matches(".event")) row.classList.add("new");
      const before = sameDay ? top.nextSibling : top;
      const height = document.body.scrollHeight;
      for (const row of rows) list.insertBefore(row, before);
      if (scrollY > 200) scrollBy(0, document.body.scrollHeight - height);
      if (rows.length && find(".empty")) find(".empty").remove();
    };
    const source = new EventSource(live.dataset.live);
    source.addEventListener("open", () => { live.classList.add("on"); word.textContent = "live"; fetchNew(); });
    source.addEventListener("happened", fetchNew);
    source.addEventListener("error", () => { live.classList.remove("on"); word.textContent = "not live"; });
    addEventListener("pagehide", () => source.close());
  }
})();
