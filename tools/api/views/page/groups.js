// Groups of operations: a group is an instantiated fragment, or a run of consecutive operations of a long list.

const LONGEST_LIST = 120;
const RUN = 100;
// The largest number of ports on one side of a group.
const MOST_PORTS = 100;

// An item of a drawing: an operation, or a group of items that is drawn as one box while it is folded.
function makeNodeItem(node) {
  return { key: `n${node.id}`, node, parent: null };
}

function makeGroup(key, title, kind) {
  return { key, title, kind, items: [], parent: null, isOpen: false, edges: [], ports: [], layout: null };
}

function shapeText(output) {
  if (!output) return "";
  const extents = output.shape === null ? "..." : output.shape.map((extent) => extent ?? "?").join(",");
  return `${output.type}[${extents}]`;
}

// Replaces long lists of items by groups of RUN consecutive ones, until no list is long.
function splitLongLists(group, makeKey) {
  for (const item of group.items) if (item.items) splitLongLists(item, makeKey);
  while (group.items.length > LONGEST_LIST) {
    const runs = [];
    for (let begin = 0; begin < group.items.length; begin += RUN) {
      const part = group.items.slice(begin, begin + RUN);
      const run = makeGroup(makeKey(), `${firstName(part[0])} to ${lastName(part[part.length - 1])}`, "run");
      run.items = part;
      runs.push(run);
    }
    group.items = runs;
  }
}

function firstName(item) {
  return item.items ? firstName(item.items[0]) : item.node.name || item.node.operation;
}
function lastName(item) {
  return item.items ? lastName(item.items[item.items.length - 1]) : item.node.name || item.node.operation;
}

function countNodes(item) {
  return item.items ? item.items.reduce((sum, each) => sum + countNodes(each), 0) : 1;
}

function* nodesOf(item) {
  if (!item.items) yield item.node;
  else for (const each of item.items) yield* nodesOf(each);
}

// The items of one graph of the description, and the edges between them.
class GraphModel {
  constructor(graph) {
    this.graph = graph;
    this.byId = new Map(graph.nodes.map((node) => [node.id, node]));
    this.readers = new Map(graph.nodes.map((node) => [node.id, []]));
    for (const node of graph.nodes)
      for (const input of node.inputs) this.readers.get(input.node).push(node);
    this.itemOf = new Map();
    this.keys = 0;
    this.root = this.makeTree();
    this.connect();
    const all = countNodes(this.root);
    this.forEachGroup(this.root, (group) => { group.isOpen = group === this.root || all <= 60; });
  }

  // Constants and variables are lines of the boxes that read them, except those that are results.
  isDrawn(node) {
    if (node.kind !== "constant" && node.kind !== "variable") return true;
    const readers = this.readers.get(node.id);
    return readers.length === 0 || readers.some((reader) => reader.kind === "output");
  }

  makeTree() {
    const root = makeGroup("root", this.graph.name, "root");
    const groups = new Map([[-1, root]]);
    const groupOf = (scope) => {
      const missing = [];
      while (!groups.has(scope)) {
        missing.push(scope);
        scope = this.graph.scopes[scope].parent;
      }
      let group = groups.get(scope);
      for (const each of missing.reverse()) {
        const { name, fragment } = this.graph.scopes[each];
        const inner = makeGroup(`s${each}`, fragment ? `${fragment}: ${name}` : name, "fragment");
        group.items.push(inner);
        groups.set(each, inner);
        group = inner;
      }
      return group;
    };
    for (const node of this.graph.nodes) {
      if (!this.isDrawn(node)) continue;
      groupOf(node.scope).items.push(makeNodeItem(node));
    }
    this.dissolveSmall(root);
    splitLongLists(root, () => `r${this.keys++}`);
    this.adopt(root);
    return root;
  }

  // A group of one item is that item.
  dissolveSmall(group) {
    group.items = group.items.filter((item) => !item.items || countNodes(item) > 0);
    group.items = group.items.map((item) => {
      if (!item.items) return item;
      this.dissolveSmall(item);
      return item.items.length === 1 ? item.items[0] : item;
    });
  }

  adopt(group) {
    for (const item of group.items) {
      item.parent = group;
      if (item.items) this.adopt(item);
      else this.itemOf.set(item.node.id, item);
    }
  }

  forEachGroup(group, visit) {
    visit(group);
    for (const item of group.items) if (item.items) this.forEachGroup(item, visit);
  }

  // Adds each edge to the innermost group with both ends. Groups within that have only one end get a port for it.
  connect() {
    for (const reader of this.graph.nodes) {
      const to = this.itemOf.get(reader.id);
      if (!to) continue;
      for (const input of reader.inputs) {
        const from = this.itemOf.get(input.node);
        if (!from) continue;
        const label = shapeText(this.byId.get(input.node).outputs[input.output]);
        const tensor = `${input.node}:${input.output}`;
        const above = new Set();
        for (let item = from; item; item = item.parent) above.add(item);
        let target = to;
        while (!above.has(target.parent)) {
          this.addPort(target.parent, target, `in${tensor}`, "in", from, label);
          target = target.parent;
        }
        let source = from;
        while (source.parent !== target.parent) {
          this.addPort(source.parent, source, `out${tensor}`, "out", to, label);
          source = source.parent;
        }
        this.addEdge(target.parent, source.key, target.key, label);
      }
    }
    this.forEachGroup(this.root, (group) => {
      group.edges = [...(group.edgeMap ?? new Map()).values()];
      group.ports = [...(group.portMap ?? new Map()).values()];
      this.mergePorts(group, "in");
      this.mergePorts(group, "out");
      delete group.edgeMap;
      delete group.portMap;
    });
  }

  addEdge(group, from, to, label) {
    group.edgeMap ??= new Map();
    const key = `${from}>${to}`;
    const edge = group.edgeMap.get(key);
    if (!edge) group.edgeMap.set(key, { from, to, label, labels: new Set([label]), count: 1 });
    else {
      edge.count += 1;
      edge.labels.add(label);
      edge.label = edge.labels.size === 1 ? label : `${edge.count} tensors`;
    }
  }

  addPort(group, item, key, side, other, label) {
    group.portMap ??= new Map();
    if (!group.portMap.has(key)) {
      const name = other.node.name || other.node.operation;
      group.portMap.set(key, { key, side, other, title: side === "in" ? `from ${name}` : `to ${name}` });
    }
    if (side === "in") this.addEdge(group, key, item.key, label);
    else this.addEdge(group, item.key, key, label);
  }

  // Merges the last ports of one side of a group with too many.
  mergePorts(group, side) {
    const ports = group.ports.filter((port) => port.side === side);
    if (ports.length <= MOST_PORTS) return;
    const merged = new Set(ports.slice(MOST_PORTS - 1).map((port) => port.key));
    const { other } = ports[MOST_PORTS - 1];
    const key = `${side} others`;
    group.ports = group.ports.filter((port) => !merged.has(port.key));
    group.ports.push({ key, side, other, title: `${side === "in" ? "from" : "to"} ${merged.size} others` });
    group.edgeMap.clear();
    for (const { from, to, labels, count } of group.edges) {
      const ends = [merged.has(from) ? key : from, merged.has(to) ? key : to];
      for (const label of labels) this.addEdge(group, ...ends, label);
      group.edgeMap.get(ends.join(">")).count += count - labels.size;
    }
    group.edges = [...group.edgeMap.values()];
    for (const edge of group.edges) edge.label = edge.labels.size === 1 ? edge.label : `${edge.count} tensors`;
  }

  // Unfolds the groups around an item.
  reveal(item) {
    for (let group = item.parent; group; group = group.parent) group.isOpen = true;
    this.forgetLayout(item.parent);
  }

  forgetLayout(group) {
    for (; group; group = group.parent) group.layout = null;
  }

  // Folds or unfolds all groups, but unfolds at most that many items, which a browser lays out in a second or two.
  // Returns false if groups remain folded.
  setAll(isOpen, most) {
    let open = this.root.items.length, isComplete = true;
    const waiting = this.root.items.filter((item) => item.items);
    for (let next = 0; next < waiting.length; ++next) {
      const group = waiting[next];
      group.layout = null;
      group.isOpen = isOpen && open + group.items.length <= most;
      if (group.isOpen) open += group.items.length;
      else isComplete = false;
      waiting.push(...group.items.filter((item) => item.items));
    }
    this.root.layout = null;
    return isComplete;
  }
}
