// The page: connects the drawing, the details, the search and the buttons.

// More operations than this are not unfolded at once.
const MOST_UNFOLDED = 400;
const MOST_FOUND = 50;

const description = JSON.parse(document.getElementById("description").textContent);
const at = (id) => document.getElementById(id);
const trail = [];  // the graphs around the one that is drawn, and that one
const model = () => trail[trail.length - 1].model;

const drawing = new Drawing(at("canvas"), {
  show,
  jump: (item) => reveal(item.node),
  toggle(group) {
    group.isOpen = !group.isOpen;
    model().forgetLayout(group);
    drawing.render(model());
    drawing.focus(group);
  },
});
const details = new Details(at("details"), { reveal, enter });

function show(item) {
  drawing.mark(item);
  if (item.items) details.showGroup(model(), item);
  else details.showNode(model(), item.node);
}

// Unfolds the groups around an operation, and shows it.
function reveal(node) {
  const item = model().itemOf.get(node.id);
  if (!item) return;
  model().reveal(item);
  drawing.render(model());
  show(item);
  drawing.focus(item);
}

function open(title, graphModel) {
  trail.push({ title, model: graphModel });
  refresh();
}

function enter(node, index) {
  const body = node.bodies[index];
  open(`${body.role} of ${node.name || node.operation}`, new GraphModel(body.graph));
}

function refresh() {
  at("trail").replaceChildren(...trail.map(({ title }, index) => {
    const button = html("button", { type: "button" }, title);
    if (index === trail.length - 1) button.setAttribute("aria-current", "page");
    button.addEventListener("click", () => {
      trail.length = index + 1;
      refresh();
    });
    return button;
  }));
  at("trail").hidden = trail.length < 2;
  drawing.shown = null;
  drawing.render(model());
  const isWhole = trail.length === 1;
  details.showModel(model(), isWhole ? description.costs : undefined, isWhole ? description.profile : undefined);
  search();
}

function matches(node, words) {
  const text = [node.operation, node.name, ...node.outputs.flatMap((output) => output.names)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function search() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  if (!words.length) {
    at("found").replaceChildren();
    return;
  }
  const found = model().graph.nodes.filter((node) => model().itemOf.has(node.id) && matches(node, words));
  const note = found.length > MOST_FOUND ? `${found.length} found, the first ${MOST_FOUND} of them:` : `${found.length} found`;
  at("found").replaceChildren(html("p", {}, note), ...(found.length ? [html("ul", {}, ...found.slice(0, MOST_FOUND).map((node) => {
    const button = html("button", { type: "button" }, [node.operation, node.name].filter((text) => text).join(" "));
    button.addEventListener("click", () => reveal(node));
    return html("li", {}, button);
  }))] : []));
}

function setAll(isOpen) {
  const isComplete = model().setAll(isOpen, MOST_UNFOLDED);
  drawing.render(model());
  at("found").replaceChildren(...(isComplete || !isOpen ? [] : [html("p", {},
    `Groups remain folded: at most ${MOST_UNFOLDED} operations are unfolded at once.`)]));
}

at("title").textContent = description.graph.name || description.model;
at("subtitle").textContent = `${description.model} · ${description.language}`;
document.title = `${description.graph.name || description.model} · nnefc draw`;
const measures = MEASURES.filter(([name]) => description.graph.nodes.some((node) => node[name] !== undefined));
for (const [name, title] of measures) at("measure").append(html("option", { value: name }, title));
at("measure").parentElement.hidden = measures.length === 0;
at("measure").addEventListener("change", () => {
  drawing.measure = at("measure").value;
  drawing.render(model());
});
at("search").addEventListener("input", search);
at("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") at("found").querySelector("button")?.click();
});
at("fold").addEventListener("click", () => setAll(false));
at("unfold").addEventListener("click", () => setAll(true));
at("in").addEventListener("click", () => drawing.setZoom(drawing.zoom * 1.25));
at("out").addEventListener("click", () => drawing.setZoom(drawing.zoom / 1.25));
at("fit").addEventListener("click", () => drawing.fit());
at("keys").addEventListener("click", () => {
  at("help").hidden = !at("help").hidden;
  at("keys").setAttribute("aria-expanded", String(!at("help").hidden));
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  at("search").focus();
});
open(description.graph.name || "graph", new GraphModel(description.graph));
