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
  view.drawing.measure = at("measure").value;
  view.drawing.render(view.model);
});
connectControls([view]);
