// Groups of operations: a group is an instantiated fragment, a repeated block, or a run of consecutive operations of a long list.

const LONGEST_LIST = 120;
const RUN = 100;
// Graphs of at most this number of items are unfolded at first.
const MOST_UNFOLDED_FIRST = 60;
// The number of items up to which groups with differences are unfolded at first.
const MOST_ITEMS_FIRST = 200;
// Fewer consecutive items without differences are not folded.
const SMALLEST_EQUAL_RUN = 3;
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

// Replaces runs of consecutive items without differences by groups. Items in `near` remain, as do groups with differences, whose items are
// folded in the same manner. A run is consecutive in a topological order, so that no cycle of groups arises.
function foldEqualRuns(group, near, makeKey) {
  const items = [];
  let run = [];
  const endRun = () => {
    if (run.length < SMALLEST_EQUAL_RUN) {
      items.push(...run);
    } else {
      const equal = makeGroup(makeKey(), `equal: ${firstName(run[0])} to ${lastName(run[run.length - 1])}`, "equal");
      equal.items = run;
      items.push(equal);
    }
    run = [];
  };
  for (const item of group.items) {
    const differs = countDifferences(item) > 0;
    if (item.items && differs) foldEqualRuns(item, near, makeKey);
    if (differs || (item.node && near.has(item.node.id))) {
      endRun();
      items.push(item);
    } else {
      run.push(item);
    }
  }
  endRun();
  group.items = items;
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

// The number of operations of an item that differ from their counterparts in a compared graph.
function countDifferences(item) {
  return item.items ? item.items.reduce((sum, each) => sum + countDifferences(each), 0) : item.node.difference ? 1 : 0;
}

function differencesText(item) {
  const count = countDifferences(item);
  return count ? `${count} ${count === 1 ? "difference" : "differences"}` : "";
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
    this.measure = null;  // the cost that colours the items
    this.root = this.makeTree();
    this.connect();
    this.unfoldFirst();
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
    const makeKey = () => `r${this.keys++}`;
    if (!countDifferences(root)) foldRepeats(this, root, makeKey);
    else if (countNodes(root) > MOST_UNFOLDED_FIRST) foldEqualRuns(root, this.nearDifferences(), makeKey);
    splitLongLists(root, makeKey);
    this.adopt(root);
    return root;
  }

  // The identifiers of the operations that differ from their counterparts, and of those that they read or that read them.
  nearDifferences() {
    const near = new Set();
    for (const node of this.graph.nodes) {
      if (!node.difference) continue;
      near.add(node.id);
      for (const input of node.inputs) near.add(input.node);
      for (const reader of this.readers.get(node.id)) near.add(reader.id);
    }
    return near;
  }

  // Unfolds all groups of a small graph; of a large one those with differences, outer ones first, up to a number of items.
  unfoldFirst() {
    const all = countNodes(this.root);
    this.root.isOpen = true;
    let open = this.root.items.length;
    const waiting = this.root.items.filter((item) => item.items);
    for (let next = 0; next < waiting.length; ++next) {
      const group = waiting[next];
      if (all > MOST_UNFOLDED_FIRST && (!countDifferences(group) || open + group.items.length > MOST_ITEMS_FIRST)) continue;
      group.isOpen = true;
      open += group.items.length;
      waiting.push(...group.items.filter((item) => item.items));
    }
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

  setMeasure(measure) {
    this.measure = measure;
    // The boxes have the amounts as text.
    this.forEachGroup(this.root, (group) => { group.layout = null; });
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
