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
  // How many elements there are, and those that begin inside another one beside them.
  overlapping(selector) {
    const boxes = [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
    const beside = (one, other) => one !== other && Math.abs(one.y - other.y) <= 10;
    return [boxes.length, boxes.filter((one) => boxes.some((other) => beside(one, other) && one.x >= other.x && one.x < other.right - 1))];
  },
  // What axe finds, and whether the page is wider than the window.
  async faults(within = "body") {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
    const { violations } = await axe.run(within, { runOnly: tags, resultTypes: ["violations"] });
    const found = violations.map((one) => [one.id, one.nodes[0].html.slice(0, 160)]);
    return this.wide() ? [["scrolls sideways"], ...found] : found;
  },
};
