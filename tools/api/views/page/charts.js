// Charts of the panel of details. Each has a text with the same facts.

// A number with four significant digits.
function numberText(number) {
  return String(Number(number.toPrecision(4)));
}

// The bytes that are needed while each operation runs, with the largest number as text.
function memoryChart(model, totals) {
  const live = model.graph.nodes.filter((node) => node.alive_bytes !== undefined).map((node) => node.alive_bytes);
  if (!totals?.peak_bytes || !live.length) return [];
  const width = 320, height = 90;
  const x = (index) => (width * index / live.length).toFixed(1), y = (bytes) => (height - height * bytes / totals.peak_bytes).toFixed(1);
  let path = `M0,${height}`;
  live.forEach((bytes, index) => { path += ` L${x(index)},${y(bytes)} L${x(index + 1)},${y(bytes)}`; });
  const text = `Inputs and results need at most ${countText(totals.peak_bytes)}B at once, at ${totals.peak_operation}.`;
  return [html("h3", {}, "Memory, in the order of execution"),
    svg("svg", { role: "img", "aria-label": text, width, height, viewBox: `0 0 ${width} ${height}` },
      svg("path", { class: "area", d: `${path} L${width},${height} Z` })), html("p", {}, text)];
}

// Statistics of the elements of a tensor: a table and a histogram.
function statisticsParts(statistics) {
  const { count, examined, bins } = statistics;
  const number = (name) => statistics[name] === undefined ? "" : numberText(statistics[name]);
  const rows = [["elements", String(count)], ["examined", examined === count ? "" : String(examined)], ["min", number("min")],
    ["max", number("max")], ["mean", number("mean")], ["deviation", number("deviation")], ["zeros", String(statistics.zeros)],
    ["not finite", statistics.not_finite ? String(statistics.not_finite) : ""]];
  const parts = [facts(rows.filter(([, value]) => value))];
  if (!bins) return parts;
  const width = 320, height = 70, step = width / bins.length, most = Math.max(...bins);
  const text = `Histogram from ${number("min")} to ${number("max")} in ${bins.length} bins: ${bins.join(", ")} elements.`;
  parts.push(svg("svg", { role: "img", "aria-label": text, class: "histogram", width, height, viewBox: `0 0 ${width} ${height}` },
    ...bins.map((bin, index) => {
      const size = bin ? Math.max(1, height * bin / most) : 0;
      return svg("rect", { class: "area", x: index * step + 1, y: height - size, width: step - 2, height: size });
    })));
  return parts;
}

// Billions of arithmetic operations per second, and operations per byte, of a measured operation; 0 if unknown.
function speedOf(node) {
  return node.milliseconds > 0 ? node.arithmetic / node.milliseconds / 1e6 : 0;
}

function intensityOf(node) {
  return node.bytes > 0 ? node.arithmetic / node.bytes : 0;
}

// The roofline view of measured operations, on logarithmic axes: the limits are the measured peak of the processor, and the largest
// number of bytes per second that one of the operations reaches.
function rooflineChart(timed, peak) {
  const points = timed.filter((node) => speedOf(node) > 0 && intensityOf(node) > 0);
  if (!points.length) return [];
  const width = 320, height = 200, margin = 40;
  const bandwidth = Math.max(...points.map((node) => speedOf(node) / intensityOf(node)));  // GB/s
  const peakSpeed = peak ? peak / 1e9 : Math.max(...points.map(speedOf));
  const scale = (values, from, to) => {
    const low = Math.floor(Math.log10(Math.min(...values))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
    return { low, high, at: (value) => from + (to - from) * (Math.log10(value) - low) / (high - low) };
  };
  const ridge = peakSpeed / bandwidth;  // op/byte from which arithmetic is the limit
  const x = scale([...points.map(intensityOf), ridge], margin, width - 6);
  const y = scale([...points.map(speedOf), peakSpeed], height - margin, 6);
  const low = 10 ** x.low, high = 10 ** x.high;
  const start = Math.max(low, 10 ** y.low / bandwidth);
  const roof = `M${x.at(start)},${y.at(start * bandwidth)} L${x.at(ridge)},${y.at(peakSpeed)} L${x.at(high)},${y.at(peakSpeed)}`;
  const limit = points.filter((node) => intensityOf(node) < ridge).length;
  const text = `Roofline of ${points.length} operations: ${numberText(peakSpeed)} Gop/s ${peak ? "is the measured peak of the processor" : "is the highest speed"}, `
    + `${numberText(bandwidth)} GB/s the highest rate of an operation. ${limit} operations are left of ${numberText(ridge)} op/byte, where these limits meet.`;
  const label = (left, top, anchor, content) => svg("text", { class: "label quiet", x: left, y: top, "text-anchor": anchor }, content);
  const power = (exponent) => exponent >= 0 && exponent < 4 ? String(10 ** exponent) : `1e${exponent}`;
  return [html("h3", {}, "Roofline"),
    svg("svg", { role: "img", "aria-label": text, class: "roofline", width, height, viewBox: `0 0 ${width} ${height}` },
      svg("path", { class: "axis", d: `M${margin},6 V${height - margin} H${width - 6}` }), svg("path", { class: "roof", d: roof }),
      ...points.map((node) => svg("circle", { class: "area", cx: x.at(intensityOf(node)).toFixed(1), cy: y.at(speedOf(node)).toFixed(1), r: 3 })),
      label(margin, height - 14, "middle", power(x.low)), label(width - 6, height - 14, "end", power(x.high)),
      label((width + margin) / 2, height - 4, "middle", "op/byte"), label(margin - 3, 16, "end", power(y.high)),
      label(margin - 3, height - margin, "end", power(y.low)), label(margin + 4, 16, "start", "Gop/s")),
    html("p", {}, text)];
}
