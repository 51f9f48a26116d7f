// The search, and the buttons that change the size and the folding of drawings.

// More operations than this are not unfolded at once.
const MOST_UNFOLDED = 400;
const MOST_FOUND = 50;

const at = (id) => document.getElementById(id);

function matches(node, words) {
  const text = [node.operation, node.name, ...node.outputs.flatMap((output) => output.names)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

// Lists the drawn operations of the views that have all words of the search. `suffixOf` returns the text after the name of an operation of a view.
function search(views, suffixOf = () => "") {
  const words = at("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  if (!words.length) {
    at("found").replaceChildren();
    return;
  }
  const found = views.flatMap((view) => view.model.graph.nodes
    .filter((node) => view.model.itemOf.has(node.id) && matches(node, words)).map((node) => ({ view, node })));
  const note = found.length > MOST_FOUND ? `${found.length} found, the first ${MOST_FOUND} of them:` : `${found.length} found`;
  at("found").replaceChildren(html("p", {}, note), ...(found.length ? [html("ul", {}, ...found.slice(0, MOST_FOUND).map(({ view, node }) => {
    const button = html("button", { type: "button" }, [node.operation, node.name, suffixOf(view)].filter((text) => text).join(" "));
    button.addEventListener("click", () => view.reveal(node));
    return html("li", {}, button);
  }))] : []));
}

function setAll(views, isOpen) {
  let isComplete = true;
  for (const view of views) {
    isComplete = view.model.setAll(isOpen, MOST_UNFOLDED) && isComplete;
    view.drawing.render(view.model);
  }
  at("found").replaceChildren(...(isComplete || !isOpen ? [] : [html("p", {},
    `Groups remain folded: at most ${MOST_UNFOLDED} operations are unfolded at once.`)]));
}

// Connects the controls that all pages have with their views.
function connectControls(views, suffixOf) {
  const update = () => search(views, suffixOf);
  const each = (change) => () => views.forEach((view) => change(view.drawing));
  at("search").addEventListener("input", update);
  at("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") at("found").querySelector("button")?.click();
  });
  at("fold").addEventListener("click", () => setAll(views, false));
  at("unfold").addEventListener("click", () => setAll(views, true));
  at("in").addEventListener("click", each((drawing) => drawing.setZoom(drawing.zoom * 1.25)));
  at("out").addEventListener("click", each((drawing) => drawing.setZoom(drawing.zoom / 1.25)));
  at("fit").addEventListener("click", each((drawing) => drawing.fit()));
  at("keys").addEventListener("click", () => {
    at("help").hidden = !at("help").hidden;
    at("keys").setAttribute("aria-expanded", String(!at("help").hidden));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    at("search").focus();
  });
  for (const view of views) view.actions.refreshed = update;
}
