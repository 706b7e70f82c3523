// What pages do besides being read: keys, theme, the pane, live updates. Pages work without it; docs/web.md says what does not.
(() => {
  "use strict";
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const typing = (target) => target.closest("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");
  const make = (tag, text = "", given = {}) => Object.assign(document.createElement(tag), { textContent: text }, given);
  const project = new URLSearchParams(location.search).get("project");
  const inProject = (path) => (project ? `${path}${path.includes("?") ? "&" : "?"}project=${encodeURIComponent(project)}` : path);
  const keep = (name, value) => { document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=strict`; };

  // The server writes times in the time zone of the browser.
  keep("holdfast-zone", Intl.DateTimeFormat().resolvedOptions().timeZone || "");

  // Forms that are sent when something in them is chosen.
  document.addEventListener("change", (event) => {
    const field = event.target.closest("[data-submit]");
    if (field) field.form.requestSubmit();
  });

  // Without an answer, or without access, a message says so, in the form if one was filled in; what was typed stays.
  const toast = find("#toast");
  const tell = (asker, ...said) => {
    const place = asker && asker.matches(".sheet") ? asker : toast;
    for (const old of all(".flash", place)) old.remove();
    const line = make("p", "", { className: "flash bad" });
    line.setAttribute("role", "alert");
    line.append(make("span"));
    line.firstChild.append(...said);
    place.prepend(line);
    line.scrollIntoView({ block: "nearest" });
  };
  const lost = (asker, status) => (status === 401
    ? tell(asker, "Your access has ended. ", make("a", "Log in in another tab", { href: "/", target: "_blank" }), ", or open the link that holdfast web printed, then try again. What you typed stays here.")
    : tell(asker, "Holdfast does not answer. Start it again, then try again. What you typed stays here."));
  const reach = async (asker, address, options) => {
    const answer = await fetch(address, options).catch(() => null);
    if (answer && answer.status !== 401) return answer;
    lost(asker, answer && answer.status);
    return null;
  };
  const polls = (event) => event.detail.elt.id === "review-count";
  document.addEventListener("htmx:sendError", (event) => { if (!polls(event)) lost(); });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status !== 401) return;
    event.detail.shouldSwap = false;
    if (!polls(event)) lost(null, 401);
  });
  // A form leaves its page only if the server answers.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.hasAttribute("hx-post") || form.dataset.sends === "now") return;
    event.preventDefault();
    if (form.dataset.sends) return;
    form.dataset.sends = "soon";
    const answer = await reach(form, "/api/version");
    form.dataset.sends = "now";
    if (answer) form.requestSubmit(event.submitter);
    delete form.dataset.sends;
  });

  // Light and dark: the server reads the cookie, so the next page is painted right from the start.
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const switchTheme = () => {
    root.dataset.theme = dark() ? "light" : "dark";
    keep("holdfast-theme", root.dataset.theme);
    document.dispatchEvent(new Event("themechange"));
  };
  for (const button of all("[data-theme-switch]")) { button.hidden = false; button.addEventListener("click", switchTheme); }

  const keys = find("#keys");
  for (const button of all("[data-help]")) { button.hidden = false; button.addEventListener("click", () => keys.showModal()); }

  // Copying ids and links; fields that name a memory offer titles. Both also in what is loaded later.
  const enhance = (within) => {
    for (const kind of all("[data-kind]", within)) { // of a new memory: only the fields of its kind are shown
      const more = find("[data-fields]", kind.form);
      const choose = () => {
        for (const field of all("[data-kinds]", kind.form)) field.hidden = !field.dataset.kinds.split(" ").includes(kind.value);
        more.hidden = all("[data-kinds]", more).every((field) => field.hidden);
      };
      kind.addEventListener("change", choose);
      choose();
    }
    for (const button of all("[data-copy], [data-copy-link]", within)) button.hidden = false;
    for (const field of all("[data-titles]", within)) field.addEventListener("input", () => offer(field));
    for (const field of all("[data-places]", within)) field.addEventListener("input", () => complete(field));
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-link]");
    if (!button) return;
    const text = button.dataset.copy || location.origin + button.dataset.copyLink;
    const before = button.textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = text; }
    setTimeout(() => { button.textContent = before; }, 1500);
  });
  const offer = async (field) => {
    const text = field.value.trim();
    if (text.length < 3 || /^[0-9A-Z]{26}$/.test(text)) return;
    const found = await titles(field.dataset.titles, text);
    field.list.replaceChildren(...found.map((one) => make("option", one.title, { value: one.id })));
  };
  // Places in code: what the checkout has for the line at the cursor is offered below the field, and completes that line.
  const complete = async (field) => {
    const { value, selectionStart: at } = field;
    const start = value.lastIndexOf("\n", at - 1) + 1;
    const end = `${value}\n`.indexOf("\n", at);
    const text = value.slice(start, end).trim();
    const found = text.length > 1 ? (await titles(field.dataset.places, text)).filter((one) => one.id !== text) : [];
    if (field.value !== value) return;
    const label = field.closest("label");
    const list = label.nextElementSibling.matches(".offers") ? label.nextElementSibling : make("p", "", { className: "offers", ariaLive: "polite" });
    const take = (one) => { field.setRangeText(one.id, start, `${field.value}\n`.indexOf("\n", start), "end"); field.focus(); complete(field); }; // more may have been typed
    list.replaceChildren(...found.map((one) => make("button", one.title, { type: "button", onclick: () => take(one) })));
    label.after(list);
  };
  const titles = async (address, text) => {
    const answer = await fetch(`${address}${address.includes("?") ? "&" : "?"}q=${encodeURIComponent(text)}`).catch(() => null);
    return answer && answer.ok ? (await answer.json()).found : [];
  };
  enhance(document);
  document.addEventListener("htmx:afterSwap", (event) => enhance(event.detail.target));

  // j and k move a mark along the rows of a page.
  const marked = () => find("[data-row].at");
  const move = (step) => {
    const rows = all("main [data-row]").filter((row) => row.offsetParent !== null);
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.classList.contains("at"));
    mark(rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + step))]);
  };
  const mark = (row, opens = true) => {
    all("[data-row].at").forEach((other) => other.classList.remove("at"));
    if (!row) return;
    row.classList.add("at");
    row.scrollIntoView({ block: "nearest" });
    const link = find("[data-open]", row);
    if (link) link.focus({ preventScroll: true });
    if (opens && document.body.classList.contains("paned") && link) open(link);
  };

  // At 1280 pixels and more a memory opens beside its list, so that filters and scroll position stay.
  const pane = find("#pane");
  const wide = matchMedia("(min-width: 1280px)");
  const isRecord = (link) => /^\/r\/[^/?]+(\?|$)/.test(link.getAttribute("href") || "");
  let opened = "";
  const parsed = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");
  const open = async (link) => {
    const address = link.getAttribute("href");
    if (!wide.matches || !isRecord(link) || address === opened) return address === opened;
    opened = address;
    const answer = await reach(null, address, { headers: { "hx-boosted": "true" } });
    const article = answer && find("article.record", await parsed(answer));
    if (opened !== address) return false;
    if (!answer) opened = "";
    else if (!article) location.href = address; // that page says why
    return place(address, article);
  };
  const enter = () => { const head = find("h1", pane); if (head) { head.tabIndex = -1; head.focus({ preventScroll: true }); } };
  const place = (address, article) => {
    if (!article) return false;
    const bar = make("p", "", { className: "pane-bar" });
    bar.append(make("a", "Open as a page", { href: address }), make("button", "Close", { className: "quiet", type: "button", onclick: shut }));
    pane.replaceChildren(bar, article);
    pane.hidden = false;
    document.body.classList.add("paned");
    pane.scrollTop = 0;
    htmx.process(pane);
    enhance(pane);
    state({ open: address });
    return true;
  };
  // What is done in the pane stays in the pane: the message and its undo come to the page with the list.
  if (pane) pane.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post" || form.hasAttribute("hx-post")) return;
    event.preventDefault();
    const answer = await reach(form, form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)) });
    if (!answer) return;
    const made = await parsed(answer);
    const said = find("#toast", made);
    if (said) said.remove();
    const article = find("article.record", made);
    if (!article && answer.ok) { location.reload(); return; }
    if (answer.redirected) opened = new URL(answer.url).pathname + new URL(answer.url).search;
    if (!article && !find("main form[method=post]", made)) { tell(form, find("h1", made) ? find("h1", made).textContent : answer.statusText); return; }
    const other = make("article"); // a form that keeps what was typed
    other.append(...find("main", made).children);
    place(opened, article || other);
    enter();
    toast.innerHTML = said ? said.innerHTML : "";
    const next = find("[name=next]", toast);
    if (next) next.value = location.pathname + location.search;
    htmx.process(toast);
  });
  const shut = () => {
    document.body.classList.remove("paned");
    pane.hidden = true;
    pane.replaceChildren();
    opened = "";
    state({ open: "" });
    const link = marked() && find("[data-open]", marked());
    if (link) link.focus({ preventScroll: true });
  };
  if (pane && !find("article.record") && find("main [data-open]")) {
    document.addEventListener("click", (event) => {
      const link = event.target.closest("main a[data-open]");
      if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button || !wide.matches || !isRecord(link)) return;
      event.preventDefault();
      mark(link.closest("[data-row]"), false);
      open(link).then((placed) => { if (placed) enter(); });
    });
  }

  // Back and reload return to the same place: what was loaded by scrolling is loaded again.
  const state = (changed) => history.replaceState({ ...(history.state || {}), ...changed }, "");
  addEventListener("pagehide", () => state({ rows: all("main [data-row]").length, y: scrollY }));
  const before = history.state || {};
  const arrived = performance.getEntriesByType("navigation")[0];
  if (arrived && arrived.type !== "navigate" && before.rows) {
    const again = async () => {
      for (let pages = 0; pages < 50 && all("main [data-row]").length < before.rows; pages += 1) {
        const more = find("main .more[hx-get]");
        if (!more) break;
        await htmx.ajax("GET", more.getAttribute("hx-get"), { target: more, swap: "outerHTML" });
      }
      scrollTo(0, before.y || 0);
      const link = before.open && all("main a[data-open]").find((one) => one.getAttribute("href") === before.open);
      if (link) { mark(link.closest("[data-row]")); open(link); }
    };
    addEventListener("load", again);
  }

  // Review: y keeps, x retires, e edits, u undoes; with a selection y and x apply to all of it.
  const many = find("[data-many]");
  const selected = () => all("[data-select]:checked");
  const count = () => {
    const word = find("[data-selected]");
    if (word) word.textContent = selected().length ? `${selected().length} selected` : "Select all";
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) for (const box of all("[data-select]")) box.checked = event.target.checked;
    if (many) count();
  });
  if (many) {
    document.body.addEventListener("htmx:beforeRequest", (event) => {
      const row = event.target.closest && event.target.closest("[data-row]");
      if (row && event.target.matches("form.act")) following = row.nextElementSibling;
    });
    document.body.addEventListener("htmx:afterSettle", () => {
      if (following && following.isConnected && following.matches("[data-row]")) mark(following);
      following = null;
      count();
    });
  }
  let following = null;
  const decide = (key) => {
    if (many && selected().length && (key === "y" || key === "x")) { find(`[data-bulk=${key}]`, many).click(); return true; }
    const button = marked() && find(`[data-key=${key}]`, marked());
    if (button) button.click();
    return Boolean(button);
  };

  const pages = { h: "/", a: "/activity", m: "/memories", r: "/review", t: "/threads", i: "/insights", s: "/sessions", c: "/scars", g: "/graph", p: "/map" };
  const go = (path) => { location.href = inProject(path); };
  let pending = false;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); showPalette(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape" && !find("dialog[open]")) { event.preventDefault(); event.target.blur(); } // a search field would forget what was typed
      return;
    }
    if (find("dialog[open]")) return;
    if (pending) {
      pending = false;
      if (pages[event.key]) { event.preventDefault(); go(pages[event.key]); }
      return;
    }
    const q = find("[data-q]");
    const edit = find("[data-edit]");
    const undo = find("[data-undo]");
    const box = marked() && find("[data-select]", marked());
    const does = {
      "/": () => { if (q) { q.focus(); q.select(); } else location.href = `${inProject("/memories")}#q`; },
      j: () => move(1),
      k: () => move(-1),
      g: () => { pending = true; setTimeout(() => { pending = false; }, 1200); },
      d: switchTheme,
      y: () => decide("y"),
      x: () => decide("x"),
      u: () => { if (undo) undo.click(); },
      c: () => { if (find("[data-remember]")) go("/remember"); },
      e: () => { if (!decide("e") && edit) { edit.open = true; find("textarea", edit).focus(); } },
      Escape: () => { if (document.body.classList.contains("paned")) shut(); },
      "?": () => keys.showModal(),
      " ": box && document.activeElement !== box ? () => { box.checked = !box.checked; count(); } : null,
    }[event.key];
    if (does) { event.preventDefault(); does(); }
  });

  // The palette goes to any page, memory, file, folder, session or agent, and does what the page offers.
  const palette = find("#palette");
  const list = find("#palette-list");
  const field = find("#palette-q");
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  for (const button of all("[data-palette]")) { button.hidden = false; button.addEventListener("click", () => showPalette()); }
  if (mac) for (const word of all("[data-command-key]")) word.textContent = "⌘K";
  const showPalette = () => { if (palette.open) return; palette.showModal(); field.value = ""; fill(); };
  let asked = 0;
  const fill = async () => {
    const text = field.value.trim().toLowerCase();
    const label = (one) => one.getAttribute("aria-label") || one.textContent.trim();
    const has = (one) => label(one).toLowerCase().includes(text);
    const own = all("#palette-pages li").filter(has).slice(0, text ? 4 : 20).map((one) => option(one.textContent, one.dataset.sort || "page", one.dataset.href));
    // What the page at hand offers to do; the palette does it there.
    const doing = new Map(all("main .acts button, main .acts summary, [data-theme-switch], [data-undo]").filter((one) => has(one) && one.offsetParent !== null && (one.matches("summary") || !one.closest("details:not([open])"))).map((one) => [label(one), one]));
    const acts = [...doing].slice(0, text ? 5 : 12).map(([name, one]) => option(name, "do", "", () => { palette.close(); one.click(); one.focus(); }));
    const options = [...own, ...acts];
    show(options);
    if (text.length < 2) return;
    asked += 1;
    const mine = asked;
    const found = await titles(palette.dataset.find, text);
    if (mine === asked) show([...options, ...found.map((one) => option(one.title, one.kind.replaceAll("_", " "), one.url)), option(`Search for “${field.value.trim()}”`, "search", inProject(`/memories?q=${encodeURIComponent(field.value.trim())}`)), option(`What an agent would get for “${field.value.trim()}”`, "simulate", inProject(`/simulate?q=${encodeURIComponent(field.value.trim())}`))]);
  };
  const option = (title, kind, href, act) => {
    const line = make("li", "", { role: "option" });
    line.setAttribute("role", "option");
    line.append(make("span", kind, { className: "muted" }), make("span", title));
    line.dataset.href = href;
    line.addEventListener("click", act || (() => { location.href = href; }));
    return line;
  };
  const show = (options) => { options.forEach((one, at) => { one.id = `palette-${at}`; }); list.replaceChildren(...options); choose(options[0]); };
  const choose = (line) => {
    for (const one of list.children) one.setAttribute("aria-selected", String(one === line));
    field.setAttribute("aria-activedescendant", line ? line.id : "");
    if (line) line.scrollIntoView({ block: "nearest" });
  };
  if (palette) {
    field.addEventListener("input", fill);
    palette.addEventListener("keydown", (event) => {
      const at = find("[aria-selected=true]", list);
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const other = at && (event.key === "ArrowDown" ? at.nextElementSibling : at.previousElementSibling);
        if (other) choose(other);
      }
      if (event.key === "Enter" && at) { event.preventDefault(); at.click(); }
      if (event.key === "Escape") { event.preventDefault(); palette.close(); } // a search field would only forget what was typed
    });
    palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
  }

  // The address follows what is searched, so that it can be shared and survives a reload.
  const search = find("[data-search]");
  if (search) {
    document.addEventListener("htmx:afterSwap", (event) => {
      if (event.detail.target.id !== "hits") return;
      const given = new URLSearchParams(new FormData(search));
      for (const [name, value] of [...given]) if (!value || (name === "mode" && value === "balanced") || (name === "state" && value === "active")) given.delete(name, value);
      history.replaceState(history.state, "", `/memories?${given}`);
    });
  }

  if (location.hash === "#q" && find("[data-q]")) find("[data-q]").focus(); // came by the key that searches

  // Days ago as a slider over a date.
  const day = (back) => { const at = new Date(); at.setDate(at.getDate() + back); return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`; };
  for (const slide of all("[data-slide]")) {
    const range = find("input", slide);
    const date = range.form.elements[slide.dataset.slide];
    const tell = () => { find("output", slide).textContent = Number(range.value) ? `on ${day(Number(range.value))}` : "today"; };
    slide.hidden = false;
    if (date.value) range.value = String(Math.round((new Date(date.value) - new Date(day(0))) / 86400000));
    tell();
    range.addEventListener("input", () => { date.value = Number(range.value) ? day(Number(range.value)) : ""; tell(); });
  }

  // The replay of a session: what came later than the slider fades.
  const replay = find("[data-replay]");
  if (replay) {
    const label = find("label", replay);
    const range = find("input", label);
    label.hidden = false;
    range.addEventListener("input", () => {
      const at = Number(range.value);
      for (const one of all("[data-number]", replay)) one.classList.toggle("later", Number(one.dataset.number) > at);
      for (const row of all(".stream [id^=e]")) row.classList.toggle("later", Number(row.id.slice(1)) > at);
      const row = find(`#e${at}`);
      if (row) { find("output", label).textContent = find("time", row).textContent; row.scrollIntoView({ block: "nearest" }); }
    });
  }

  // The page of a running session is drawn again when something happened in it.
  const running = find("[data-refresh]");
  if (running) {
    let waits = 0;
    const source = new EventSource(running.dataset.refresh);
    source.addEventListener("happened", () => {
      clearTimeout(waits);
      waits = setTimeout(() => htmx.ajax("GET", location.href, { target: "#session", select: "#session", swap: "outerHTML" }), 400);
    });
    addEventListener("pagehide", () => source.close());
  }

  // Activity: the server says that something happened, the page fetches what is new and puts it on top.
  const live = find("[data-live]");
  const stream = find("#stream");
  if (live && stream) {
    const word = find("[data-live-word]", live);
    let busy = false;
    let again = false;
    const fetchNew = async () => {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const answer = await fetch(stream.dataset.newer, { headers: { "hx-request": "true" } }).catch(() => null);
        if (!answer || !answer.ok) return; // the word above the stream says that it is not live
        stream.dataset.newer = answer.headers.get("x-newer") || stream.dataset.newer;
        const made = make("template");
        made.innerHTML = await answer.text();
        put([...made.content.children]);
      } finally {
        busy = false;
        if (again) { again = false; fetchNew(); }
      }
    };
    // A day or session that is on top already keeps its line; what is new comes below it.
    const put = (rows) => {
      if (!rows.length) return;
      let before = stream.firstElementChild;
      const day = rows[0].matches(".daybreak") && before && before.matches(".daybreak") && before.textContent === rows[0].textContent;
      if (day) { rows.shift(); before = before.nextElementSibling; }
      const heads = rows.filter((row) => row.matches(".sessionbreak"));
      const one = day && heads.length === 1 && before && before.matches(".sessionbreak") && before.dataset.session === heads[0].dataset.session;
      if (one) { rows.splice(rows.indexOf(heads[0]), 1); before = before.nextElementSibling; }
      for (const row of rows) if (row.matches(".event")) row.classList.add("new");
      const height = document.body.scrollHeight;
      for (const row of rows) stream.insertBefore(row, before);
      if (scrollY > 200) scrollBy(0, document.body.scrollHeight - height);
      const empty = find("main .empty");
      if (empty) empty.remove();
    };
    const source = new EventSource(live.dataset.live);
    source.addEventListener("open", () => { live.classList.add("on"); word.textContent = "live"; fetchNew(); });
    source.addEventListener("happened", fetchNew);
    source.addEventListener("error", () => { live.classList.remove("on"); word.textContent = "not live"; });
    addEventListener("pagehide", () => source.close());
  }
})();
