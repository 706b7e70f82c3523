// The picture of links: a small force layout on a canvas. Repulsion goes through a grid, so hundreds of nodes stay smooth.
(() => {
  "use strict";
  const box = document.querySelector("[data-graph]");
  if (!box) return;
  const canvas = box.querySelector("canvas");
  const picked = document.querySelector("[data-picked]");
  const pen = canvas.getContext("2d");
  const FAR = 90, REST = 62, COOL = 0.985;
  let nodes = [], edges = [], view = { x: 0, y: 0, k: 1 }, heat = 1, held = null, chosen = null, hover = null, colours = {}, dirty = true, flat = 1;

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

  const draw = () => {
    const s = devicePixelRatio;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(s * view.k, 0, 0, s * view.k, s * view.x, s * view.y);
    const near = chosen || hover;
    for (const { a, b, relation } of edges) {
      const mine = near && (a === near || b === near);
      pen.strokeStyle = mine ? colours.accent : relation === "contradicts" ? colours.red : colours.soft;
      pen.globalAlpha = mine ? 0.9 : relation === "together" ? 0.18 : 0.42;
      pen.lineWidth = (mine ? 1.6 : 1) / view.k ** 0.5;
      pen.setLineDash(relation === "together" ? [3, 4] : []);
      pen.beginPath(); pen.moveTo(a.x, a.y); pen.lineTo(b.x, b.y); pen.stroke();
      if (relation !== "together") arrow(a, b);
    }
    pen.setLineDash([]);
    for (const node of nodes) {
      pen.globalAlpha = node.state === "retired" ? 0.4 : 1;
      pen.fillStyle = colours[family[node.kind] || "grey"];
      pen.beginPath(); pen.arc(node.x, node.y, node.r, 0, 7); pen.fill();
      pen.lineWidth = 1.5; pen.strokeStyle = node === chosen ? colours.ink : colours.panel; pen.stroke();
    }
    pen.globalAlpha = 1;
    labels();
  };

  const arrow = (a, b) => {
    const d = Math.hypot(b.x - a.x, b.y - a.y) || 1, ux = (b.x - a.x) / d, uy = (b.y - a.y) / d;
    const x = b.x - ux * (b.r + 1), y = b.y - uy * (b.r + 1);
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - ux * 6 - uy * 3, y - uy * 6 + ux * 3); pen.lineTo(x - ux * 6 + uy * 3, y - uy * 6 - ux * 3); pen.fill();
  };

  const labels = () => {
    const few = nodes.length <= 30 || view.k > 1.3;
    const rows = nodes.filter((node) => few || node === hover || node === chosen || node.links > 5);
    pen.font = `${12 / view.k}px system-ui, sans-serif`;
    pen.textAlign = "center";
    for (const node of rows) {
      const text = node.title.length > 34 ? `${node.title.slice(0, 33)}…` : node.title;
      pen.lineWidth = 3 / view.k; pen.strokeStyle = colours.panel; pen.fillStyle = colours.ink;
      pen.strokeText(text, node.x, node.y + node.r + 13 / view.k);
      pen.fillText(text, node.x, node.y + node.r + 13 / view.k);
    }
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
    return nodes.findLast((node) => (node.x - p.x) ** 2 + (node.y - p.y) ** 2 < (node.r + 4) ** 2) || null;
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
  canvas.addEventListener("pointerdown", (event) => {
    held = under(event);
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) { const now = under(event); if (now !== hover) { hover = now; canvas.style.cursor = now ? "pointer" : "grab"; dirty = true; } return; }
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
    if (!drag.moved) return;
    drag.x = event.clientX; drag.y = event.clientY;
    if (held) { const p = at(event); held.x = p.x; held.y = p.y; heat = Math.max(heat, 0.3); } else { view.x += dx; view.y += dy; }
    dirty = true;
  });
  canvas.addEventListener("pointerup", () => {
    if (drag && !drag.moved) { chosen = held; tell(held); }
    held = null; drag = null; dirty = true;
  });
  canvas.addEventListener("dblclick", (event) => { const node = under(event); if (node) location.href = node.graph; });
  canvas.addEventListener("wheel", (event) => {
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

  addEventListener("resize", () => { size(); });
  document.addEventListener("themechange", readColours);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
  readColours();
  size();
  fetch(box.dataset.graph).then((answer) => answer.json()).then((data) => { start(data); box.dataset.ready = "true"; });
})();
