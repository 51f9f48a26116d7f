// The costs of operations, and their colours.

// The names of the costs in the description, what they are, and the unit of an amount.
const MEASURES = [["milliseconds", "measured milliseconds", " ms"], ["macs", "multiply-accumulates", " MACs"], ["parameters", "parameters", " parameters"],
  ["parameter_bytes", "bytes of parameters", "B"], ["output_bytes", "bytes of results", "B"]];
// The shares of the whole graph, in percent, from which the colours of the style sheet are used.
const LEVELS = [0, 1, 5, 20];

function sumOf(nodes, name) {
  let sum = 0;
  for (const node of nodes) sum += node[name] ?? 0;
  return sum;
}

function costRows(nodes) {
  return MEASURES.filter(([name]) => nodes.some((node) => node[name] !== undefined)).map(([name, title]) => [title, countText(sumOf(nodes, name))]);
}

// A cost by which the items of a graph are coloured.
class Measure {
  constructor([name, title, unit], nodes) {
    this.name = name;
    this.title = title;
    this.unit = unit;
    this.total = sumOf(nodes, name);
  }

  percentOf(value) {
    return this.total > 0 ? 100 * value / this.total : 0;
  }

  // Returns "1.5 M MACs (12 %)", or nothing if the item has no such costs.
  textOf(item) {
    const value = sumOf(nodesOf(item), this.name);
    return value > 0 ? `${this.amountText(value)} (${Number(this.percentOf(value).toPrecision(2))} %)` : "";
  }

  amountText(value) {
    return `${countText(value)}${this.unit}`;
  }

  // Returns the class of the colour of an item, or nothing.
  levelOf(item) {
    const value = sumOf(nodesOf(item), this.name);
    return value > 0 ? levelClass(LEVELS.findLastIndex((percent) => this.percentOf(value) >= percent)) : "";
  }

  // `whole` is what the shares are of: "the graph".
  legend(whole) {
    const items = LEVELS.map((percent, index) => html("li", {}, html("span", { class: `swatch ${levelClass(index)}` }),
      index === 0 ? `below ${LEVELS[1]} %` : `from ${percent} %`));
    return [html("span", {}, `Share of ${this.amountText(this.total)} of ${whole}:`), html("ul", {}, ...items)];
  }
}

function levelClass(index) {
  return `level${index + 1}`;
}
