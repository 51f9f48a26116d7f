// Repeated blocks: consecutive operations that occur again with the same operations, attributes, shapes and connections. Only the data of
// variables may differ.

// Repetitions of fewer operations are not folded.
const SMALLEST_REPEAT = 4;
const LARGEST_BLOCK = 256;

// One list of items in a topological order, and which of its items are equal.
class RepeatFinder {
  constructor(model, items) {
    this.items = items;
    this.places = new Map();  // the index of the item with an operation, by its identifier
    items.forEach((item, index) => { for (const node of nodesOf(item)) this.places.set(node.id, index); });
    const numbers = new Map();
    const numberOf = (text) => {
      if (!numbers.has(text)) numbers.set(text, numbers.size);
      return numbers.get(text);
    };
    this.connections = [];
    this.relative = [];  // numbers that are equal for equal operations that read results at the same distances
    this.signatures = items.map((item, index) => {
      const inputs = item.node?.kind === "operation" ? item.node.inputs.map((input) => ({ ...input, producer: model.byId.get(input.node) })) : [];
      const drawn = inputs.filter(({ producer }) => model.isDrawn(producer));
      this.connections.push(drawn.map(({ node }) => ({ node, distance: this.places.has(node) ? index - this.places.get(node) : 0 })));
      const text = this.signatureOf(model, item, inputs) ?? `unique ${index}`;
      const distances = this.connections[index].map(({ distance }) => distance || `from ${index}`);
      this.relative.push(numberOf(`${text} ${distances.join(" ")}`));
      return numberOf(text);
    });
    const lastReaders = new Map();
    this.connections.forEach((inputs, index) => { for (const { node } of inputs) lastReaders.set(node, index); });
    this.crossings = this.countCrossings([...lastReaders].map(([node, index]) => ({ node, index })));
    this.readers = this.countCrossings(this.connections.flatMap((inputs, index) => inputs.map(({ node }) => ({ node, index }))));
  }

  // Returns a text that is equal for equal operations, apart from the operations that they read; nothing for inputs, outputs and groups.
  signatureOf(model, { node }, inputs) {
    if (node?.kind !== "operation" || node.bodies) return null;
    const read = inputs.map(({ name, output, producer }) => model.isDrawn(producer) ? [name, output]
      : [name, producer.kind, shapeText(producer.outputs[output]), producer.outputs[output].value ?? null]);
    return JSON.stringify([node.set, node.operation, node.attributes, node.outputs.map(shapeText), read]);
  }

  // Returns for each index how many of the reads, by the item at `index` of the result of `node`, are at or after it and of a result before it.
  countCrossings(reads) {
    const changes = new Array(this.items.length + 1).fill(0);
    for (const { node, index } of reads) {
      const place = this.places.get(node);
      if (place === undefined || place >= index) continue;
      changes[place + 1] += 1;
      changes[index + 1] -= 1;
    }
    let sum = 0;
    return changes.map((change) => (sum += change));
  }

  // Returns true if the items at two indices are equal operations that read the same, or results at the same distance.
  isEqual(a, b) {
    if (this.relative[a] === this.relative[b]) return true;
    return this.signatures[a] === this.signatures[b] && this.connections[a].every((input, index) => {
      const other = this.connections[b][index];
      return input.node === other.node || (input.distance > 0 && input.distance === other.distance);
    });
  }

  // Returns the repeats in order: { begin, length, count }. They share no items, and are those for which the folded blocks after the first
  // ones have the most items. The time is that of LARGEST_BLOCK comparisons for each item.
  find() {
    const size = this.items.length;
    const largest = Math.min(LARGEST_BLOCK, Math.floor(size / 2));
    const minimum = this.makeMinimum();
    const equal = new Int32Array(largest + 1);  // by the length of a block: how many items from an index on are equal to those a block later
    const best = new Array(size + 1).fill(null);  // of the items from an index on
    best[size] = { value: 0, repeat: null };
    for (let begin = size - 1; begin >= 0; --begin) {
      best[begin] = { value: best[begin + 1].value, repeat: null };
      let shortest = 0;
      for (let length = 1; length <= largest; ++length) {
        equal[length] = begin + length < size && this.isEqual(begin, begin + length) ? equal[length] + 1 : 0;
        // Blocks of several equal ones fold fewer items.
        if (equal[length] < length || equal[length] + length < SMALLEST_REPEAT || (shortest && length % shortest === 0 && equal[length] + length <= equal[shortest] + shortest)) continue;
        shortest ||= length;
        const count = Math.floor(equal[length] / length) + 1;
        const value = this.valueOf(begin, length, count, minimum) + best[begin + length * count].value;
        if (value > best[begin].value || (value === best[begin].value && !best[begin].repeat)) best[begin] = { value, repeat: { begin, length, count } };
      }
    }
    const repeats = [];
    for (let begin = 0; begin < size;) {
      const { repeat } = best[begin];
      if (repeat) repeats.push(repeat);
      begin = repeat ? begin + repeat.length * repeat.count : begin + 1;
    }
    return repeats;
  }

  // A multiple of the number of items that are folded, less what makes blocks hard to read: results that cross their limits and would not if
  // they began elsewhere, which weigh more than one block. Then blocks begin where a result has several readers, or at an operation with data.
  valueOf(begin, length, count, minimum) {
    const excess = this.crossings[begin] - minimum(begin, begin + length);
    const hasData = this.items[begin].node.inputs.length > this.connections[begin].length;
    return 100 * (count - 1) * length - 150 * length * excess - 50 + 2 * Math.min(this.readers[begin], 9) + (hasData ? 1 : 0);
  }

  // Returns a function for the smallest number of crossings in a range of indices.
  makeMinimum() {
    const levels = [this.crossings];
    for (let width = 1; 2 * width <= this.crossings.length; width *= 2) {
      const last = levels[levels.length - 1];
      levels.push(last.slice(0, this.crossings.length - 2 * width + 1).map((value, index) => Math.min(value, last[index + width])));
    }
    return (begin, end) => {
      const level = 31 - Math.clz32(end - begin);
      return Math.min(levels[level][begin], levels[level][end - 2 ** level]);
    };
  }
}

// Replaces repeated blocks in the long lists of items of a group by groups. Those of fragments remain.
function foldRepeats(model, group, makeKey) {
  for (const item of group.items) if (item.items) foldRepeats(model, item, makeKey);
  if (group.items.length <= MOST_UNFOLDED_FIRST) return;
  const items = [];
  let next = 0;
  for (const { begin, length, count } of new RepeatFinder(model, group.items).find()) {
    items.push(...group.items.slice(next, begin));
    next = begin + length * count;
    const all = group.items.slice(begin, next);
    const repeat = makeGroup(makeKey(), `block × ${count}: ${firstName(all[0])} to ${lastName(all[all.length - 1])}`, "repeat");
    for (let i = 0; i < count && length > 1; ++i) {
      const part = all.slice(i * length, (i + 1) * length);
      const block = makeGroup(makeKey(), `block ${i + 1}: ${firstName(part[0])} to ${lastName(part[length - 1])}`, "block");
      block.items = part;
      repeat.items.push(block);
    }
    if (length === 1) repeat.items = all;
    items.push(repeat);
  }
  group.items = [...items, ...group.items.slice(next)];
}
