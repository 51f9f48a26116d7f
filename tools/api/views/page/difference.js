// The page of `nnefc diff`: two graphs side by side, and the tables of their differences.

const descriptions = JSON.parse(at("description").textContent);

function partsOf(side) {
  const [canvas, details, trail] = ["canvas", "details", "trail"].map((name) => at(side).querySelector(`.${name}`));
  return { canvas, details, trail };
}

// The graphs have no size before they are visible.
for (const part of document.querySelectorAll(".drawn")) part.hidden = false;
const views = { old: new View(partsOf("old"), descriptions.old), new: new View(partsOf("new"), descriptions.new) };
const otherSide = (side) => (side === "old" ? "new" : "old");
const wholeModel = (side) => views[side].trail[0].model;

// Returns true if both views draw bodies, at the same index of operations that are counterparts.
function drawSameBody() {
  const [before, after] = [views.old.trail, views.new.trail];
  return before.length > 1 && before.length === after.length &&
    before.slice(1).every((body, index) => body.node.counterpart === after[index + 1].node.id && body.index === after[index + 1].index);
}

// Returns the graph of a side with the counterparts of the nodes that are drawn: the same body, or the whole graph.
const comparedModel = (side) => (drawSameBody() ? views[side].model : wholeModel(side));

// Returns the counterpart of a node, or null.
function counterpartOf(side, node) {
  const isCompared = comparedModel(side).byId.get(node.id) === node;
  return isCompared && node.counterpart !== undefined ? comparedModel(otherSide(side)).byId.get(node.counterpart) : null;
}

// Returns the node that is drawn for a node: for data, an operation that reads them.
function drawnNode(side, node) {
  const model = comparedModel(side);
  return node && !model.itemOf.has(node.id) ? model.readers.get(node.id).find((reader) => model.itemOf.has(reader.id)) ?? null : node;
}

// Returns the group of the other graph with the counterpart of a group's first operation and the same number of operations, or null.
function counterpartGroup(side, group) {
  const nodes = [...nodesOf(group)];
  const node = nodes.map((each) => counterpartOf(side, each)).find((each) => each);
  let other = node && comparedModel(otherSide(side)).itemOf.get(node.id);
  while (other && countNodes(other) < nodes.length) other = other.parent;
  return other?.items && other.parent && countNodes(other) === nodes.length ? other : null;
}

const rows = [...document.querySelectorAll("#tables tr[data-old], #tables tr[data-new]")];
const differing = rows.filter((row) => !row.classList.contains("same"));
const rowOf = { old: new Map(), new: new Map() };
for (const row of [...rows].reverse()) {
  for (const side of ["old", "new"]) if (row.dataset[side]) rowOf[side].set(Number(row.dataset[side]), row);
}

function markRow(row) {
  document.querySelector("#tables tr.selected")?.classList.remove("selected");
  row?.classList.add("selected");
  const index = differing.indexOf(row);
  at("position").textContent = differing.length === 0 ? "" : index < 0 ? `${differing.length} to show` : `${index + 1} of ${differing.length}`;
}

for (const side of ["old", "new"]) {
  const view = views[side], other = views[otherSide(side)];
  view.actions.selected = (item) => {
    if (item.items) return;
    const node = drawnNode(otherSide(side), counterpartOf(side, item.node));
    other.follow(node, !drawSameBody());
    if (!node) alignOther(side);
    markRow(rowOf[side].get((view.trail[1]?.node ?? item.node).id));
    document.querySelector("#tables tr.selected")?.scrollIntoView({ block: "nearest" });
  };
  view.actions.toggled = (group) => {
    const counterpart = drawSameBody() || (view.trail.length === 1 && other.trail.length === 1) ? counterpartGroup(side, group) : null;
    if (counterpart && counterpart.isOpen !== group.isOpen) other.setOpen(counterpart, group.isOpen);
  };
  // Both graphs show the same body.
  view.actions.entering = (node, index) => {
    const counterpart = counterpartOf(side, node);
    if (!counterpart?.bodies?.[index]) return;
    if (view.trail.length === 1 && other.trail.length > 1) other.leave(0);
    other.openBody(counterpart, index);
  };
  view.actions.leaving = (index) => {
    if (drawSameBody()) other.leave(index);
  };
}

// Selects what a row is about in both graphs.
function showRow(row) {
  for (const view of Object.values(views)) if (view.trail.length > 1) view.leave(0);
  for (const side of ["old", "new"]) {
    const id = row.dataset[side];
    views[side].follow(id ? drawnNode(side, wholeModel(side).byId.get(Number(id))) : null);
  }
  for (const side of ["old", "new"]) if (row.dataset[side] === undefined) alignOther(otherSide(side));
  markRow(row);
  at("graphs").scrollIntoView({ block: "nearest" });
}

function step(by) {
  if (differing.length === 0) return;
  const index = differing.findIndex((row) => row.classList.contains("selected"));
  const next = index < 0 ? (by > 0 ? 0 : differing.length - 1) : (index + by + differing.length) % differing.length;
  showRow(differing[next]);
  differing[next].scrollIntoView({ block: "nearest" });
}

for (const row of rows) {
  const heading = row.querySelector("th");
  const button = html("button", { type: "button", "aria-label": `${heading.textContent}: show ${row.querySelector("code").textContent}` }, heading.textContent);
  heading.replaceChildren(button);
}
at("tables").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-old], tr[data-new]");
  if (row && document.getSelection().isCollapsed) showRow(row);
});
at("next").addEventListener("click", () => step(1));
at("previous").addEventListener("click", () => step(-1));
for (const id of ["next", "previous"]) at(id).disabled = differing.length === 0;
document.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "n") step(1);
  if (event.key === "p") step(-1);
});

// Scrolling: the items that are drawn in both graphs are the anchors, between which the place in the other graph is interpolated.
function anchorsOf(side) {
  const drawing = views[side].drawing, other = views[otherSide(side)].drawing;
  const anchors = [{ here: 0, there: 0 }, { here: drawing.size.height, there: other.size.height }];
  if (views.old.trail.length > 1 || views.new.trail.length > 1) return anchors;
  for (const item of drawing.order) {
    if (item.items && item.isOpen) continue;
    const [node] = nodesOf(item);
    const counterpart = counterpartOf(side, node);
    const found = counterpart && wholeModel(otherSide(side)).itemOf.get(counterpart.id);
    const there = found && other.centers.get(other.visible(found).key);
    if (there) anchors.push({ here: drawing.centers.get(item.key).y, there: there.y });
  }
  return anchors;
}

function interpolate(anchors, here) {
  let before = anchors[0], after = anchors[1];
  for (const anchor of anchors) {
    if (anchor.here <= here && anchor.here >= before.here) before = anchor;
    if (anchor.here > here && anchor.here <= after.here) after = anchor;
  }
  const share = after.here > before.here ? (here - before.here) / (after.here - before.here) : 0;
  return before.there + share * (after.there - before.there);
}

// Scrolls the other graph to the place of one.
function alignOther(side) {
  const here = views[side], there = views[otherSide(side)];
  const middle = interpolate(anchorsOf(side), (here.parts.canvas.scrollTop + here.parts.canvas.clientHeight / 2) / here.drawing.zoom);
  const { canvas } = there.parts;
  const before = canvas.scrollTop;
  canvas.scrollTo({ top: middle * there.drawing.zoom - canvas.clientHeight / 2, behavior: "instant" });
  if (canvas.scrollTop !== before) expected[otherSide(side)] = canvas.scrollTop;
}

const expected = { old: null, new: null };  // the places that the page scrolled to, not the reader
for (const side of ["old", "new"]) {
  const { canvas } = views[side].parts;
  canvas.addEventListener("scroll", () => {
    const isOwn = expected[side] !== null && Math.abs(canvas.scrollTop - expected[side]) < 2;
    expected[side] = null;
    if (isOwn || !at("together").checked || !canvas.matches(":hover, :focus-within")) return;
    alignOther(side);
  });
}

connectControls([views.old, views.new], (view) => (view === views.old ? "(old)" : "(new)"));
markRow(null);
