// The drawing: elements of SVG for the places that layout.js computes.

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function describeItem(model, item) {
  if (item.items) {
    const state = item.isOpen ? "unfolded" : "folded";
    return [`group ${item.title}`, `${countNodes(item)} operations`, model.measure?.textOf(item), differencesText(item), state].filter((text) => text).join(", ");
  }
  const { operation, name, outputs, difference } = item.node;
  return [operation, name, ...outputs.map(shapeText), model.measure?.textOf(item), difference?.change, ...(difference?.notes ?? [])].filter((text) => text).join(", ");
}

// The classes of an item's element: its kind, and how it differs from its counterpart.
function classesOf(item) {
  if (!item.items) return [item.node.kind, item.node.difference?.change, item.node.difference?.is_first ? "first" : ""].filter((word) => word).join(" ");
  return ["group", item.isOpen ? "open" : "folded", countDifferences(item) ? "differs" : ""].filter((word) => word).join(" ");
}

// Returns a smooth path through the points of an edge, with an arrow head at its end.
function edgeShape(points) {
  const [first, ...rest] = points;
  const last = rest[rest.length - 1];
  let path = `M${first.x},${first.y}`;
  for (let i = 0; i < rest.length - 1; ++i) {
    const middle = i + 1 === rest.length - 1 ? last : { x: (rest[i].x + rest[i + 1].x) / 2, y: (rest[i].y + rest[i + 1].y) / 2 };
    path += ` Q${rest[i].x},${rest[i].y} ${middle.x},${middle.y}`;
  }
  if (rest.length === 1) path += ` L${last.x},${last.y}`;
  const before = points[points.length - 2];
  const angle = Math.atan2(last.y - before.y, last.x - before.x);
  const corner = (turn) => `${last.x - 8 * Math.cos(angle + turn)},${last.y - 8 * Math.sin(angle + turn)}`;
  return svg("g", { "aria-hidden": "true" }, svg("path", { class: "line", d: path }),
    svg("polygon", { class: "head", points: `${last.x},${last.y} ${corner(0.4)} ${corner(-0.4)}` }));
}

class Drawing {
  // `actions` has show(item), toggle(item) and jump(item).
  constructor(canvas, actions) {
    this.canvas = canvas;
    this.actions = actions;
    this.zoom = 1;
    this.shown = null;
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.setZoom(this.zoom * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
    }, { passive: false });
  }

  render(model) {
    this.model = model;
    this.elements = new Map();
    this.centers = new Map();  // of the items by key, in the units of the layout
    this.order = [];
    const layout = layoutOf(model, model.root);
    this.size = layout;
    this.svg = svg("svg", { role: "group", "aria-label": `Graph ${model.graph.name}`, viewBox: `0 0 ${layout.width} ${layout.height}` });
    this.drawGroup(this.svg, layout, { x: 0, y: 0 });
    this.canvas.replaceChildren(this.svg);
    this.setZoom(this.zoom);
    const first = this.shown && this.elements.has(this.shown.key) ? this.shown : this.order[0];
    if (first) this.elements.get(first.key).setAttribute("tabindex", "0");
    this.mark(this.shown);
  }

  // `origin` is the place of the group's contents in the drawing.
  drawGroup(parent, layout, origin) {
    for (const edge of layout.edges) parent.append(edgeShape(edge.points));
    const boxes = [...layout.boxes.values()].sort((a, b) => a.y - b.y || a.x - b.x);
    for (const box of boxes) parent.append(box.port ? this.drawPort(box) : this.drawItem(box, origin));
    for (const edge of layout.edges) {
      if (!edge.text) continue;
      parent.append(svg("text", { class: "edge label", x: edge.x, y: edge.y + 4, "text-anchor": "middle", "aria-hidden": "true" }, edge.text));
    }
  }

  drawPort(box) {
    const element = svg("g", { class: "port", transform: `translate(${box.x},${box.y})`, "aria-hidden": "true" },
      svg("rect", { class: "box", width: box.width, height: box.height, rx: 12 }), ...this.texts(box));
    element.addEventListener("click", (event) => {
      event.stopPropagation();
      this.actions.jump(box.port.other);
    });
    return element;
  }

  texts(box) {
    return box.lines.map((line, index) => svg("text", { class: `label ${line.style}`, x: box.width / 2, y: 7 + LINE * index + 12,
      "text-anchor": "middle" }, line.text));
  }

  drawItem(box, origin) {
    const { item } = box;
    const element = svg("g", { class: `${classesOf(item)} ${box.level ?? ""}`, transform: `translate(${box.x},${box.y})`, role: "button", tabindex: "-1",
      "aria-label": describeItem(this.model, item) });
    element.append(svg("rect", { class: "box", width: box.width, height: box.height, rx: item.items ? 2 : 6 }));
    this.elements.set(item.key, element);
    this.centers.set(item.key, { x: origin.x + box.x + box.width / 2, y: origin.y + box.y + (box.inner ? TITLE : box.height) / 2 });
    this.order.push(item);
    element.addEventListener("click", (event) => {
      event.stopPropagation();
      element.focus({ preventScroll: true });
      if (item.items) this.actions.toggle(item);
      this.actions.show(item);
    });
    if (box.inner) {
      element.append(svg("rect", { class: "title", width: box.width, height: TITLE - 2 }),
        svg("text", { class: "label strong", x: PADDING, y: 17 }, `▾ ${shortened(item.title)}`));
      const inner = svg("g", { transform: `translate(0,${TITLE})` });
      this.drawGroup(inner, box.inner, { x: origin.x + box.x, y: origin.y + box.y + TITLE });
      // Items of a group are no children of its button: a button has no others inside.
      return svg("g", {}, element, svg("g", { transform: `translate(${box.x},${box.y})` }, inner));
    }
    element.append(...this.texts(box));
    return element;
  }

  setZoom(zoom) {
    this.zoom = Math.min(3, Math.max(0.05, zoom));
    this.svg.setAttribute("width", this.size.width * this.zoom);
    this.svg.setAttribute("height", this.size.height * this.zoom);
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    this.setZoom(Math.min(1, clientWidth / this.size.width, clientHeight / this.size.height));
  }

  // Marks the item whose details are shown.
  mark(item) {
    this.shown = item;
    for (const [key, element] of this.elements) element.classList.toggle("shown", item !== null && key === item.key);
  }

  focus(item) {
    const element = this.elements.get(item.key);
    if (!element) return;
    for (const each of this.elements.values()) each.setAttribute("tabindex", "-1");
    element.setAttribute("tabindex", "0");
    element.focus({ preventScroll: true });
    this.scrollTo(item);
  }

  // Scrolls an item, or the title of an unfolded group, to the middle of the canvas.
  scrollTo(item) {
    const { x, y } = this.centers.get(item.key);
    this.canvas.scrollTo({ left: x * this.zoom - this.canvas.clientWidth / 2, top: y * this.zoom - this.canvas.clientHeight / 2, behavior: "instant" });
  }

  // Returns the visible item of an operation: itself, or the outermost folded group around it.
  visible(item) {
    let shown = item;
    for (let group = item.parent; group; group = group.parent) if (!group.isOpen) shown = group;
    return shown;
  }

  neighbour(item, isForward) {
    for (const node of nodesOf(item)) {
      const others = isForward ? this.model.readers.get(node.id) : node.inputs.map((input) => this.model.byId.get(input.node));
      for (const other of others) {
        const found = this.model.itemOf.get(other.id);
        if (found && this.visible(found) !== item) return this.visible(found);
      }
    }
    return null;
  }

  onKey(event) {
    const index = this.order.findIndex((item) => this.elements.get(item.key) === document.activeElement);
    if (index < 0) return;
    const item = this.order[index];
    const moves = { ArrowDown: index + 1, ArrowRight: index + 1, ArrowUp: index - 1, ArrowLeft: index - 1, Home: 0, End: this.order.length - 1 };
    let target = null;
    if (event.key in moves) target = this.order[moves[event.key]];
    else if (event.key === "PageDown" || event.key === "PageUp") target = this.neighbour(item, event.key === "PageDown");
    else if (event.key === "Enter") this.actions.show(item);
    else if (event.key === " " && item.items) this.actions.toggle(item);
    else if (event.key === "Escape" && item.parent !== this.model.root) this.actions.toggle(item.parent);
    else if (event.key !== " ") return;
    event.preventDefault();
    if (target) this.focus(target);
  }
}
