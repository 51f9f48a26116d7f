// The page of `nnefc draw`: one graph, and the choice of the costs that it shows.

const description = JSON.parse(at("description").textContent);
const view = new View({ canvas: at("canvas"), details: at("details"), trail: at("trail") }, description);

at("title").textContent = description.graph.name || description.model;
at("subtitle").textContent = `${description.model} · ${description.language}`;
document.title = `${description.graph.name || description.model} · nnefc draw`;
const measures = MEASURES.filter(([name]) => description.graph.nodes.some((node) => node[name] !== undefined));
for (const [name, title] of measures) at("measure").append(html("option", { value: name }, title));
at("measure").parentElement.hidden = measures.length === 0;
at("measure").addEventListener("change", () => {
  const chosen = measures.find(([name]) => name === at("measure").value);
  const measure = chosen ? new Measure(chosen, description.graph.nodes) : null;
  // Operations of bodies have no costs.
  view.trail[0].model.setMeasure(measure);
  view.drawing.render(view.model);
  at("legend").hidden = measure === null;
  at("legend").replaceChildren(...(measure ? measure.legend() : []));
});
connectControls([view]);
