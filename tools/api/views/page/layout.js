// Places of items: dagre lays out the contents of each open group as a graph of its own, which is one box of the graph around it.

const PADDING = 10;
const LINE = 16;
const TITLE = 26;
const LONGEST_LABEL = 38;
const MOST_LINES = 7;
const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text, font) {
  ruler.font = font;
  return ruler.measureText(text).width;
}

function shortened(text) {
  const letters = Array.from(text);
  return letters.length <= LONGEST_LABEL ? text : letters.slice(0, LONGEST_LABEL - 1).join("") + "…";
}

const SIGNS = { added: "+", removed: "−", changed: "≠" };
const MOST_NOTES = 2;

// How an operation differs from its counterpart in a compared graph.
function differenceLines({ difference }) {
  if (!difference) return [];
  const notes = difference.notes.slice(0, difference.notes.length > MOST_NOTES ? MOST_NOTES - 1 : MOST_NOTES);
  if (notes.length < difference.notes.length) notes.push(`and ${difference.notes.length - notes.length} more differences`);
  return [{ text: `${SIGNS[difference.change]} ${difference.change}`, style: "strong" }, ...notes.map((note) => ({ text: shortened(note), style: "" }))];
}

// The lines of the box of an operation: its difference if graphs are compared, operation, name, and the constants and variables that it reads.
function linesOf(model, node) {
  const lines = [...differenceLines(node), { text: shortened(node.operation), style: "strong" }];
  if (node.name) lines.push({ text: shortened(node.name), style: "" });
  for (const input of node.inputs) {
    const producer = model.byId.get(input.node);
    if (model.isDrawn(producer)) continue;
    const output = producer.outputs[input.output];
    const value = output.value?.length === 1 ? String(output.value[0]) : shapeText(output);
    lines.push({ text: shortened(input.name ? `${input.name}: ${value}` : value), style: "quiet" });
  }
  if (node.bodies) lines.push({ text: `${node.bodies.length === 1 ? "1 body" : `${node.bodies.length} bodies`}`, style: "quiet" });
  const most = MOST_LINES + differenceLines(node).length;
  if (lines.length > most) lines.splice(most - 1, Infinity, { text: "…", style: "quiet" });
  return lines;
}

function fontOf(style) {
  return `${style === "strong" ? "bold " : ""}12px Helvetica, Arial, sans-serif`;
}

function boxOf(lines) {
  const width = Math.max(60, ...lines.map((line) => widthOf(line.text, fontOf(line.style))));
  return { lines, width: Math.ceil(width) + 2 * PADDING, height: lines.length * LINE + 14 };
}

// The amount of the cost that colours the items.
function costLines(model, item) {
  const text = model.measure?.textOf(item);
  return text ? [{ text, style: "" }] : [];
}

function boxOfItem(model, item) {
  const level = model.measure?.levelOf(item);
  if (!item.items) return { ...boxOf([...linesOf(model, item.node), ...costLines(model, item)]), level };
  if (!item.isOpen) {
    const count = countNodes(item);
    const lines = [{ text: shortened(item.title), style: "strong" }, { text: `${count} operations`, style: "quiet" }];
    lines.push(...costLines(model, item));
    return { ...boxOf([...lines, ...(countDifferences(item) ? [{ text: `≠ ${differencesText(item)}`, style: "strong" }] : [])]), level };
  }
  const inner = layoutOf(model, item);
  const title = widthOf(shortened(item.title), fontOf("strong")) + 2 * PADDING;
  return { width: Math.max(inner.width, title), height: inner.height + TITLE, inner };
}

// Returns the places of the items, ports and edges of an open group.
function layoutOf(model, group) {
  if (group.layout) return group.layout;
  const graph = new dagre.graphlib.Graph({ multigraph: false });
  const isLarge = group.items.length + group.ports.length > 250;
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 24, edgesep: 14, marginx: 14, marginy: 12,
    ranker: isLarge ? "longest-path" : "network-simplex" });
  const boxes = new Map();
  for (const item of group.items) boxes.set(item.key, { item, ...boxOfItem(model, item) });
  for (const port of group.ports) boxes.set(port.key, { port, ...boxOf([{ text: shortened(port.title), style: "quiet" }]) });
  for (const [key, box] of boxes) graph.setNode(key, { width: box.width, height: box.height });
  for (const edge of group.edges) {
    const label = shortened(edge.label);
    graph.setEdge(edge.from, edge.to, { text: label, width: Math.ceil(widthOf(label, "11px Helvetica, Arial, sans-serif")) + 8,
      height: 16, labelpos: "c" });
  }
  dagre.layout(graph);
  for (const [key, box] of boxes) {
    const place = graph.node(key);
    box.x = place.x - box.width / 2;
    box.y = place.y - box.height / 2;
  }
  const edges = graph.edges().map((edge) => graph.edge(edge));
  const { width, height } = graph.graph();
  group.layout = { boxes, edges, width: Math.max(width, 80), height: Math.max(height, 40) };
  return group.layout;
}
