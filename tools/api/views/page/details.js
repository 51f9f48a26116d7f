// The panel of details: facts of the whole model, of a group or of an operation.

function countText(number) {
  const units = ["", " k", " M", " G", " T", " P", " E"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  if (unit === 0 && !Number.isInteger(number)) return numberText(number);
  return unit ? `${number.toPrecision(3)}${units[unit]}` : String(number);
}

function table(caption, headings, rows) {
  const head = html("tr", {}, ...headings.map((text) => html("th", { scope: "col" }, text)));
  return [html("h3", {}, caption), html("table", {}, html("thead", {}, head), html("tbody", {},
    ...rows.map((cells) => html("tr", {}, ...cells.map((cell) => html("td", typeof cell === "number" ? { class: "number" } : {},
      typeof cell === "number" ? countText(cell) : cell))))))];
}

// A table of two columns with names as headings of the rows.
function facts(rows) {
  return html("table", {}, html("tbody", {}, ...rows.map(([name, value]) =>
    html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, value)))));
}

// How a node differs from its counterpart in a compared graph.
function differenceParts({ difference }) {
  if (!difference) return [];
  return [html("p", { class: "difference" }, `This is ${difference.change}.`),
    ...(difference.notes.length ? [html("ul", {}, ...difference.notes.map((note) => html("li", {}, note)))] : [])];
}

function valueText(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

function sourceText(source) {
  if (!source) return "";
  if (source.line !== undefined) return `${source.file}:${source.line}:${source.column}`;
  return source.offset === undefined ? source.file : `${source.file}, byte ${source.offset}`;
}

const MOST_TIMED = 20;
function timeRows(node) {
  if (node.milliseconds === undefined) return [];
  return [["Gop/s", numberText(speedOf(node))], ["op/byte", numberText(intensityOf(node))], ["kernel", node.kernel]];
}

class Details {
  // `actions` has reveal(node) and enter(node, index of a body).
  constructor(panel, actions) {
    this.panel = panel;
    this.actions = actions;
  }

  show(...children) {
    this.panel.replaceChildren(...children);
    this.panel.scrollTop = 0;
  }

  link(node, text) {
    const button = html("button", { type: "button" }, text);
    button.addEventListener("click", () => this.actions.reveal(node));
    return button;
  }

  profileParts(nodes, profile) {
    const timed = nodes.filter((node) => node.milliseconds !== undefined).sort((a, b) => b.milliseconds - a.milliseconds);
    const rows = timed.slice(0, MOST_TIMED).map((node) => [this.link(node, node.name || node.operation),
      ...[node.milliseconds, speedOf(node), intensityOf(node)].map((number) => html("span", { class: "number" }, numberText(number)))]);
    const rest = profile.without_node ? [html("p", {}, `${profile.without_node} of ${profile.steps} steps belong to no operation of this graph.`)] : [];
    return [...rooflineChart(timed, profile.peak_operations_per_second), ...rest,
      ...table("Slowest operations", ["operation", "ms", "Gop/s", "op/byte"], rows)];
  }

  // `totals` and `profile` are those of the description; bodies have none.
  showModel(model, totals, profile) {
    const { nodes } = model.graph;
    const counts = new Map();
    for (const node of nodes) {
      if (node.kind === "operation") counts.set(node.operation, (counts.get(node.operation) ?? 0) + 1);
    }
    const parts = [html("h2", {}, model.graph.name || "Graph")];
    if (profile) parts.push(...this.profileParts(nodes, profile));
    const rows = costRows(nodes);
    if (rows.length) {
      parts.push(facts(rows), ...memoryChart(model, totals));
      const heavy = nodes.filter((node) => node.macs > 0).sort((a, b) => b.macs - a.macs).slice(0, 20);
      if (heavy.length)
        parts.push(...table("Most multiply-accumulates", ["operation", "MACs", "parameters"],
          heavy.map((node) => [this.link(node, node.name || node.operation), node.macs, node.parameters ?? 0])));
    }
    const list = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    parts.push(...table("Operations", ["operation", "count"], list.map(([name, count]) => [name, count])));
    this.show(...parts);
  }

  showGroup(model, group) {
    const nodes = [...nodesOf(group)];
    const note = group.kind === "repeat" ? [html("p", {}, "These blocks have the same operations, attributes, shapes and connections. The data of variables may differ.")] : [];
    this.show(html("h2", {}, group.title), ...note, facts([["operations", String(nodes.length)], ...costRows(nodes)]),
      ...table("Contents", ["operation", "result"], group.items.slice(0, 200).map((item) => item.items
        ? [item.title, `${countNodes(item)} operations`]
        : [this.link(item.node, item.node.name || item.node.operation), item.node.outputs.map(shapeText).join(", ")])));
  }

  showNode(model, node) {
    const scopes = [];
    for (let scope = node.scope; scope >= 0; scope = model.graph.scopes[scope].parent) {
      const { name, fragment } = model.graph.scopes[scope];
      scopes.unshift(fragment ? `${fragment} (${name})` : name);
    }
    const rows = [["name", node.name], ["operation", `${node.set}.${node.operation}`], ["section", node.section],
      ["source", sourceText(node.source)], ["part of", scopes.join(" › ")], ...costRows([node]), ...timeRows(node)];
    const parts = [html("h2", {}, node.name || node.operation), ...differenceParts(node), facts(rows.filter(([, value]) => value))];
    const attributes = Object.entries(node.attributes);
    if (attributes.length) parts.push(html("h3", {}, "Attributes"), facts(attributes.map(([name, value]) => [name, valueText(value)])));
    if (node.inputs.length)
      parts.push(...table("Inputs", ["input", "from", "type"], node.inputs.map((input) => {
        const producer = model.byId.get(input.node);
        const output = producer.outputs[input.output];
        const text = producer.name || producer.operation;
        const type = output.value ? `${shapeText(output)} = ${valueText(output.value)}` : shapeText(output);
        return [input.name, model.itemOf.has(producer.id) ? this.link(producer, text) : text, type];
      })));
    if (node.outputs.length)
      parts.push(...table("Outputs", ["names", "type"], node.outputs.map((output) => [output.names.join(", "), shapeText(output)])));
    for (const [title, statistics] of this.statisticsOf(model, node))
      parts.push(html("h3", {}, title), ...statisticsParts(statistics));
    const readers = model.readers.get(node.id);
    if (readers.length)
      parts.push(html("h3", {}, "Readers"), ...readers.slice(0, 50).map((reader) => this.link(reader, reader.name || reader.operation)));
    (node.bodies ?? []).forEach((body, index) => {
      const button = html("button", { type: "button" }, `Show ${body.role}`);
      button.addEventListener("click", () => this.actions.enter(node, index));
      parts.push(html("h3", {}, body.role), button,
        facts([["inputs", body.inputs.map((map) => this.mappingText(map, "input", "parameter")).join("; ")],
          ["outputs", body.outputs.map((map) => this.mappingText(map, "output", "result")).join("; ")],
          ["back edges", body.back_edges.map((edge) => `result ${edge.result} to parameter ${edge.parameter}`).join("; ")],
        ].filter(([, value]) => value)));
    });
    this.show(...parts);
  }

  // The statistics of a node's data, and of the variables and constants that it reads, with titles.
  statisticsOf(model, node) {
    const found = node.statistics ? [["Elements", node.statistics]] : [];
    for (const input of node.inputs) {
      const { statistics } = model.byId.get(input.node);
      if (statistics) found.push([`Elements of ${input.name || "an input"}`, statistics]);
    }
    return found;
  }

  mappingText(mapping, outside, inside) {
    const outer = mapping.external < 0 ? "condition" : `${outside} ${mapping.external}`;
    return `${outer}: ${inside} ${mapping.internal}${mapping.axis === undefined ? "" : `, sliced along axis ${mapping.axis}`}`;
  }
}
