// What tests ask a page, as `checks`.
window.checks = {
  // Removes what consists of the same elements as something before it in the same kind of list: axe takes a moment for each text.
  same() {
    const seen = new Set(), named = (one) => `${one.tagName} ${one.getAttribute("class")}`;
    for (const row of document.querySelectorAll("main :is([data-row], li, tr, .setting, .card)")) {
      const shape = [row.parentElement, row, ...row.querySelectorAll("*")].map(named).join();
      if (seen.has(shape)) row.remove(); else seen.add(shape);
    }
  },
  // How far what is on the page moved after it was painted, as browsers measure it.
  shift: () => new Promise((done) => {
    let moved = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) moved += one.value; }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(moved), 100);
  }),
  open() { for (const one of document.querySelectorAll("main details, #pane details")) one.open = true; },
  wide: () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
};
