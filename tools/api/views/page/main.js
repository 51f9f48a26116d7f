// The page of `nnefc draw`: one graph, and the choice of the costs that it shows.

const description = JSON.parse(at("description").textContent);
const view = new View({ canvas: at("canvas"), details: at("details"), trail: at("trail") }, description);

at("title").textContent = description.graph.name || description.model;
at("subtitle").textContent = `${description.model} · ${description.language}`;
document.title = `${description.graph.name || description.model} · nnefc draw`;
const measures = MEASURES.filter(([name]) => description.graph.nodes.some((node) => node[name] !== undefined));
for (const [name, title] of measures) at("measure").append(html("option", { value: name }, title));
at("measure").parentElement.hidden = measures.length === 0;

// Colours the graph that is drawn, the whole one or a body, by the chosen costs if its operations have these.
function colour() {
  const { nodes } = view.model.graph;
  const chosen = measures.find(([name]) => name === at("measure").value && nodes.some((node) => node[name] !== undefined));
  const measure = chosen ? new Measure(chosen, nodes) : null;
  if (measure || view.model.measure) {
    view.model.setMeasure(measure);
    view.drawing.render(view.model);
  }
  at("legend").hidden = measure === null;
  at("legend").replaceChildren(...(measure ? measure.legend(view.trail.length === 1 ? "the graph" : "one run of this body") : []));
}
at("measure").addEventListener("change", colour);
connectControls([view]);
const searchAgain = view.actions.refreshed;
view.actions.refreshed = () => {
  colour();
  searchAgain();
};
