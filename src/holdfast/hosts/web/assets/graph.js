// The picture of links: a small force layout on a canvas. Repulsion goes through a grid, so hundreds of nodes stay smooth.
// Clusters pull their members together; nodes and labels keep their size on the screen, and labels that would overlap are left out.
(() => {
  "use strict";
  const box = document.querySelector("[data-graph]");
  if (!box) return;
  const canvas = box.querySelector("canvas");
  const picked = document.querySelector("[data-picked]");
  const pen = canvas.getContext("2d");
  const FAR = 90, REST = 62, COOL = 0.985;
  let nodes = [], edges = [], clusters = [], sought = "", view = { x: 0, y: 0, k: 1 }, heat = 1, held = null, chosen = null, hover = null, colours = {}, dirty = true, flat = 1;

  const family = {
    scar: "red", anti_pattern: "red", blocker: "red", decision: "violet", inception: "violet", learning: "blue", pattern: "blue",
    elicitation: "blue", win: "green", progress: "green", fact: "teal", reference: "teal", thread: "orange", review: "orange",
    preference: "pink", summary: "yellow", retrospective: "yellow",
  };

  // A custom property holds light-dark(…) as text; only a used colour is resolved.
  const readColours = () => {
    const probe = document.createElement("span");
    box.append(probe);
    const read = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    for (const name of ["red", "orange", "yellow", "green", "teal", "blue", "violet", "pink", "grey"]) colours[name] = read(`--c-${name}`);
    colours.line = read("--line"); colours.ink = read("--ink"); colours.soft = read("--soft"); colours.panel = read("--panel"); colours.accent = read("--accent");
    probe.remove();
    dirty = true;
  };

  const size = () => {
    const { width, height } = box.getBoundingClientRect();
    flat = Math.min(1, Math.max(0.45, height / width));
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    dirty = true;
  };

  const start = (data) => {
    const places = new Map();
    nodes = data.nodes.map((node, i) => {
      const angle = i * 2.39996, ring = 14 * Math.sqrt(i + 1);
      const made = { ...node, x: Math.cos(angle) * ring, y: Math.sin(angle) * ring, vx: 0, vy: 0, links: 0 };
      places.set(node.id, made);
      return made;
    });
    edges = data.edges.map((edge) => ({ ...edge, a: places.get(edge.source), b: places.get(edge.target) })).filter((edge) => edge.a && edge.b);
    for (const edge of edges) { edge.a.links += 1; edge.b.links += 1; }
    clusters = (data.clusters || []).map((one) => ({ ...one, members: one.members.map((id) => places.get(id)).filter(Boolean) })).filter((one) => one.members.length > 1);
    clusters.forEach((one, i) => { const angle = i * 2.39996, ring = 150 * Math.sqrt(i + 0.5); for (const node of one.members) if (!node.placed) { node.placed = true; node.x = Math.cos(angle) * ring + node.x * 0.2; node.y = Math.sin(angle) * ring + node.y * 0.2; } });
    for (const node of nodes) node.r = 4 + Math.min(8, 1.6 * Math.sqrt(node.links)) + (node.id === box.dataset.center ? 3 : 0);
    for (let i = 0; i < 120; i += 1) step();
    fit();
    chosen = places.get(box.dataset.center) || null;
    requestAnimationFrame(frame);
  };

  const step = () => {
    const cells = new Map();
    for (const node of nodes) {
      const key = `${Math.floor(node.x / FAR)},${Math.floor(node.y / FAR)}`;
      (cells.get(key) || cells.set(key, []).get(key)).push(node);
    }
    for (const node of nodes) {
      const cx = Math.floor(node.x / FAR), cy = Math.floor(node.y / FAR);
      for (let i = -1; i <= 1; i += 1) for (let j = -1; j <= 1; j += 1) {
        for (const other of cells.get(`${cx + i},${cy + j}`) || []) {
          if (other === node) continue;
          const dx = node.x - other.x || 0.1, dy = node.y - other.y || 0.1, d2 = dx * dx + dy * dy;
          if (d2 > FAR * FAR) continue;
          const force = 260 / (d2 + 30);
          node.vx += dx * force * 0.1 * heat; node.vy += dy * force * 0.1 * heat;
        }
      }
      node.vx -= node.x * 0.004 * heat * flat; node.vy -= node.y * 0.004 * heat / flat;
    }
    for (const { a, b } of edges) {
      const dx = b.x - a.x, dy = b.y - a.y, d = Math.hypot(dx, dy) || 1, pull = (d - REST) * 0.03 * heat / d;
      a.vx += dx * pull; a.vy += dy * pull; b.vx -= dx * pull; b.vy -= dy * pull;
    }
    for (const one of clusters) {
      one.x = one.members.reduce((sum, node) => sum + node.x, 0) / one.members.length;
      one.y = one.members.reduce((sum, node) => sum + node.y, 0) / one.members.length;
      for (const node of one.members) { node.vx += (one.x - node.x) * 0.02 * heat; node.vy += (one.y - node.y) * 0.02 * heat; }
    }
    for (const node of nodes) {
      if (node === held) { node.vx = node.vy = 0; continue; }
      node.x += node.vx; node.y += node.vy;
      node.vx *= 0.62; node.vy *= 0.62;
    }
    heat *= COOL;
  };

  const fit = () => {
    const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
    const [l, r, t, b] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const { width, height } = box.getBoundingClientRect();
    view.k = Math.min(1.6, (width - 60) / Math.max(1, r - l), (height - 60) / Math.max(1, b - t));
    view.x = width / 2 - view.k * (l + r) / 2;
    view.y = height / 2 - view.k * (t + b) / 2;
  };

  const at_screen = (node) => ({ x: node.x * view.k + view.x, y: node.y * view.k + view.y });
  const draw = () => {
    const s = devicePixelRatio;
    pen.setTransform(s, 0, 0, s, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const near = chosen || hover;
    for (const one of clusters) {
      const middle = at_screen(one);
      one.r = 16 + Math.max(...one.members.map((node) => { const p = at_screen(node); return Math.hypot(p.x - middle.x, p.y - middle.y); }));
      pen.globalAlpha = 0.5; pen.strokeStyle = colours.line; pen.lineWidth = 1.5; pen.setLineDash([4, 4]);
      pen.beginPath(); pen.arc(middle.x, middle.y, one.r, 0, 7); pen.stroke();
    }
    for (const { a, b, relation } of edges) {
      const mine = near && (a === near || b === near), p = at_screen(a), q = at_screen(b);
      pen.strokeStyle = mine ? colours.accent : relation === "contradicts" ? colours.red : colours.soft;
      pen.globalAlpha = mine ? 0.9 : relation === "together" ? 0.18 : 0.42;
      pen.lineWidth = mine ? 1.6 : 1;
      pen.setLineDash(relation === "together" ? [3, 4] : []);
      pen.beginPath(); pen.moveTo(p.x, p.y); pen.lineTo(q.x, q.y); pen.stroke();
      if (relation !== "together") arrow(p, q, b.r);
    }
    pen.setLineDash([]);
    for (const node of nodes) {
      const p = at_screen(node), fits = !sought || node.title.toLowerCase().includes(sought);
      pen.globalAlpha = fits ? (node.state === "retired" ? 0.4 : 1) : 0.15;
      pen.fillStyle = colours[family[node.kind] || "grey"];
      pen.beginPath(); pen.arc(p.x, p.y, node.r, 0, 7); pen.fill();
      pen.lineWidth = node === chosen ? 2.5 : 1.5; pen.strokeStyle = node === chosen ? colours.ink : colours.panel; pen.stroke();
    }
    pen.globalAlpha = 1;
    labels();
  };

  const arrow = (a, b, r) => {
    const d = Math.hypot(b.x - a.x, b.y - a.y) || 1, ux = (b.x - a.x) / d, uy = (b.y - a.y) / d;
    const x = b.x - ux * (r + 1), y = b.y - uy * (r + 1);
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - ux * 6 - uy * 3, y - uy * 6 + ux * 3); pen.lineTo(x - ux * 6 + uy * 3, y - uy * 6 - ux * 3); pen.fill();
  };

  // The most important labels first; one that would cover another is left out.
  const labels = () => {
    const taken = [], { width, height } = box.getBoundingClientRect();
    const write = (text, x, y, font, colour) => {
      pen.font = font;
      const wide = pen.measureText(text).width / 2 + 3;
      if (x < 0 || x > width || y < 0 || y > height) return;
      x = Math.min(Math.max(x, wide), width - wide);
      const mine = [x - wide, y - 12, x + wide, y + 4];
      if (taken.some((other) => mine[0] < other[2] && other[0] < mine[2] && mine[1] < other[3] && other[1] < mine[3])) return;
      taken.push(mine);
      pen.textAlign = "center"; pen.lineWidth = 3; pen.strokeStyle = colours.panel; pen.fillStyle = colour;
      pen.strokeText(text, x, y); pen.fillText(text, x, y);
    };
    const shorter = (text) => (text.length > 34 ? `${text.slice(0, 33)}…` : text);
    const title = (node) => { const p = at_screen(node); write(shorter(node.title), p.x, p.y + node.r + 13, "12px system-ui, sans-serif", colours.ink); };
    for (const node of [chosen, hover]) if (node) title(node);
    if (sought) for (const node of nodes) if (node.title.toLowerCase().includes(sought)) title(node);
    for (const one of clusters) { const p = at_screen(one); write(one.name.length > 40 ? `…${one.name.slice(-39)}` : one.name, p.x, p.y - one.r - 4, "600 12px system-ui, sans-serif", colours.soft); }
    if (nodes.length <= 60 || view.k > 1.1) for (const node of [...nodes].sort((a, b) => b.links - a.links)) title(node);
  };

  const frame = () => {
    if (heat > 0.02 || held) { step(); dirty = true; }
    if (dirty) { dirty = false; draw(); }
    requestAnimationFrame(frame);
  };

  const at = (event) => {
    const edge = canvas.getBoundingClientRect();
    return { x: (event.clientX - edge.left - view.x) / view.k, y: (event.clientY - edge.top - view.y) / view.k };
  };
  const under = (event) => {
    const p = at(event);
    return nodes.findLast((node) => ((node.x - p.x) ** 2 + (node.y - p.y) ** 2) * view.k ** 2 < (node.r + 5) ** 2) || null;
  };
  const tell = (node) => {
    picked.replaceChildren();
    if (!node) return;
    const link = document.createElement("a");
    link.href = node.url; link.textContent = node.title;
    const kind = document.createElement("span");
    kind.className = `kind k-${node.kind}`; kind.textContent = `${node.kind.replaceAll("_", " ")} `;
    const line = document.createElement("p");
    line.append(kind, link);
    const around = document.createElement("p");
    around.className = "meta";
    const deeper = document.createElement("a");
    deeper.href = node.graph; deeper.textContent = "Show what is around it";
    around.append(`${node.links} links here`, deeper);
    picked.append(line, around);
  };

  let drag = null;
  const fingers = new Map();
  let spread = 0;
  const apart = () => { const [one, two] = [...fingers.values()]; return Math.hypot(one.x - two.x, one.y - two.y); };
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 2) { spread = apart(); drag = null; held = null; return; }
    held = under(event);
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 2) {
      const [one, two] = [...fingers.values()], now = apart();
      if (spread) zoom(now / spread, (one.x + two.x) / 2, (one.y + two.y) / 2);
      spread = now;
      return;
    }
    if (!drag) { const now = under(event); if (now !== hover) { hover = now; canvas.style.cursor = now ? "pointer" : "grab"; dirty = true; } return; }
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
    if (!drag.moved) return;
    drag.x = event.clientX; drag.y = event.clientY;
    if (held) { const p = at(event); held.x = p.x; held.y = p.y; heat = Math.max(heat, 0.3); } else { view.x += dx; view.y += dy; }
    dirty = true;
  });
  const released = (event) => {
    fingers.delete(event.pointerId);
    if (event.type === "pointerup" && drag && !drag.moved) { chosen = held; tell(held); }
    held = null; drag = null; dirty = true;
  };
  canvas.addEventListener("pointerup", released);
  canvas.addEventListener("pointercancel", released);
  canvas.addEventListener("dblclick", (event) => { const node = under(event); if (node) location.href = node.graph; });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX, event.clientY);
  }, { passive: false });
  const zoom = (by, cx, cy) => {
    const edge = canvas.getBoundingClientRect(), x = cx - edge.left, y = cy - edge.top, k = Math.min(6, Math.max(0.15, view.k * by));
    view.x = x - (x - view.x) * k / view.k; view.y = y - (y - view.y) * k / view.k; view.k = k; dirty = true;
  };
  canvas.addEventListener("keydown", (event) => {
    const edge = canvas.getBoundingClientRect(), mid = [edge.left + edge.width / 2, edge.top + edge.height / 2];
    const does = {
      "+": () => zoom(1.2, ...mid), "-": () => zoom(1 / 1.2, ...mid),
      ArrowLeft: () => { view.x += 40; }, ArrowRight: () => { view.x -= 40; }, ArrowUp: () => { view.y += 40; }, ArrowDown: () => { view.y -= 40; },
      Enter: () => { if (chosen) location.href = chosen.url; },
      n: () => next(1), p: () => next(-1),
    }[event.key];
    if (does) { event.preventDefault(); event.stopPropagation(); does(); dirty = true; }
  });

  const next = (by) => {
    if (!nodes.length) return;
    chosen = nodes[(Math.max(0, nodes.indexOf(chosen)) + by + nodes.length) % nodes.length];
    tell(chosen);
  };

  const seek = document.querySelector("[data-graph-find]");
  if (seek) {
    seek.hidden = false;
    const field = seek.querySelector("input");
    field.addEventListener("input", () => {
      sought = field.value.trim().toLowerCase();
      const first = sought && nodes.find((node) => node.title.toLowerCase().includes(sought));
      if (first) { chosen = first; tell(first); }
      dirty = true;
    });
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  }

  addEventListener("resize", () => { size(); });
  document.addEventListener("themechange", readColours);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
  readColours();
  size();
  fetch(box.dataset.graph).then((answer) => answer.json()).then((data) => { start(data); box.dataset.ready = "true"; });
})();
