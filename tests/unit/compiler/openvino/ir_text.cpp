#include "tests/unit/compiler/openvino/ir_text.h"

#include "fmt/format.h"

namespace nnefc::openvino {

namespace {

std::string PortXml(const PortText& port) {
  std::string dims;
  for (int64_t dim : port.dims) dims += fmt::format("<dim>{}</dim>", dim);
  const std::string names = port.names.empty() ? "" : fmt::format(R"( names="{}")", port.names);
  return fmt::format(R"(<port id="{}" precision="{}"{}>{}</port>)", port.id, port.type, names, dims);
}

std::string PortsXml(std::string_view tag, const std::vector<PortText>& ports) {
  if (ports.empty()) return "";
  std::string text;
  for (const PortText& port : ports) text += PortXml(port);
  return fmt::format("<{0}>{1}</{0}>", tag, text);
}

std::string ElementName(std::string_view precision) {
  if (precision == "FP32") return "f32";
  if (precision == "FP16") return "f16";
  if (precision == "I64") return "i64";
  if (precision == "I32") return "i32";
  return "boolean";
}

}  // namespace

std::string ToXml(const LayerText& layer) {
  const std::string data = layer.data.empty() ? "" : fmt::format("<data {}/>", layer.data);
  return fmt::format("<layer id=\"{}\" name=\"{}\" type=\"{}\" version=\"{}\">{}{}{}{}</layer>\n", layer.id,
                     layer.name, layer.type, layer.version, data, PortsXml("input", layer.inputs),
                     PortsXml("output", layer.outputs), layer.more);
}

std::string NetParts(const std::vector<LayerText>& layers, const std::vector<EdgeText>& edges) {
  std::string text = "<layers>\n";
  for (const LayerText& layer : layers) text += ToXml(layer);
  text += "</layers><edges>\n";
  for (const EdgeText& edge : edges) {
    text += fmt::format("<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\"/>\n",
                        edge.from_layer, edge.from_port, edge.to_layer, edge.to_port);
  }
  return text + "</edges><rt_info/>";
}

std::string Net(const std::vector<LayerText>& layers, const std::vector<EdgeText>& edges) {
  return fmt::format("<?xml version=\"1.0\"?>\n<net name=\"test\" version=\"11\">{}</net>\n",
                     NetParts(layers, edges));
}

std::string Body(std::string_view tag, const std::vector<LayerText>& layers,
                 const std::vector<EdgeText>& edges) {
  return fmt::format("<{0}>{1}</{0}>", tag, NetParts(layers, edges));
}

LayerText Parameter(int64_t id, std::string name, std::vector<int64_t> dims, std::string type) {
  const std::string data =
      fmt::format(R"(shape="{}" element_type="{}")", fmt::join(dims, ","), ElementName(type));
  return {.id = id,
          .name = std::move(name),
          .type = "Parameter",
          .data = data,
          .outputs = {{.type = std::move(type), .dims = std::move(dims)}}};
}

LayerText Result(int64_t id, std::string name, std::vector<int64_t> dims, std::string type) {
  return {.id = id,
          .name = std::move(name),
          .type = "Result",
          .inputs = {{.type = std::move(type), .dims = std::move(dims)}}};
}

LayerText Binary(int64_t id, std::string type, std::vector<int64_t> dims, std::string element) {
  return {.id = id,
          .name = fmt::format("{}_{}", type, id),
          .type = type,
          .data = R"(auto_broadcast="numpy")",
          .inputs = {{0, element, dims}, {1, element, dims}},
          .outputs = {{2, element, dims}}};
}

LayerText Const(int64_t id, std::string name, std::vector<int64_t> dims, int64_t offset, int64_t size,
                std::string type) {
  const std::string data = fmt::format(R"(element_type="{}" shape="{}" offset="{}" size="{}")",
                                       ElementName(type), fmt::join(dims, ", "), offset, size);
  return {.id = id,
          .name = std::move(name),
          .type = "Const",
          .data = data,
          .outputs = {{.type = std::move(type), .dims = std::move(dims)}}};
}

std::string MapInput(int64_t external, int64_t internal, std::string_view slice) {
  return fmt::format("<input external_port_id=\"{}\" internal_layer_id=\"{}\" {}/>\n", external, internal,
                     slice);
}

std::string MapOutput(int64_t external, int64_t internal, std::string_view slice) {
  return fmt::format("<output external_port_id=\"{}\" internal_layer_id=\"{}\" {}/>\n", external, internal,
                     slice);
}

std::string BinaryBody(std::string_view tag, std::string operation, std::vector<int64_t> dims) {
  return Body(tag,
              {Parameter(0, "x", dims), Parameter(1, "y", dims), Binary(2, std::move(operation), dims),
               Result(3, "z", dims)},
              {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}});
}

std::string IfNet(const IfParts& parts) {
  const std::vector<int64_t> dims = {1, 2, 2};
  LayerText branch = {.id = 3,
                      .name = "branch",
                      .type = "If",
                      .version = "opset8",
                      .inputs = {{parts.input_ids[0], parts.condition_type, parts.condition_dims},
                                 {parts.input_ids[1], "FP32", dims},
                                 {parts.input_ids[2], "FP32", dims}},
                      .outputs = parts.outputs};
  branch.more = fmt::format("<then_port_map>{}</then_port_map><else_port_map>{}</else_port_map>",
                            parts.then_map, parts.else_map);
  branch.more += parts.then_body.empty() ? BinaryBody("then_body", "Multiply") : parts.then_body;
  branch.more += parts.else_body.empty() ? BinaryBody("else_body", "Add") : parts.else_body;
  std::vector<LayerText> layers = {Parameter(0, "cond", parts.condition_dims, parts.condition_type),
                                   Parameter(1, "X", dims), Parameter(2, "Y", dims), std::move(branch)};
  std::vector<EdgeText> edges = {{0, 0, 3, 0}, {1, 0, 3, 1}, {2, 0, 3, 2}};
  for (const PortText& output : parts.outputs) {
    const auto id = static_cast<int64_t>(layers.size());
    layers.push_back(Result(id, fmt::format("out{}", id), output.dims, output.type));
    edges.push_back({3, output.id, id, 0});
  }
  return Net(layers, edges);
}

std::string LoopNet(const LoopParts& parts) {
  const std::vector<int64_t> whole = {1, parts.length};
  const std::vector<int64_t> part = {1, parts.part};
  const std::string body = Body("body",
                                {Parameter(0, "x", part), Parameter(1, "h", part), Binary(2, "Add", part),
                                 Result(3, "y", part), Result(4, "last", part)},
                                {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}, {2, 2, 4, 0}});
  LayerText loop = {.id = 2,
                    .name = "loop",
                    .type = "TensorIterator",
                    .inputs = {{0, "FP32", whole}, {1, "FP32", part}},
                    .outputs = {{2, "FP32", whole}, {3, "FP32", part}}};
  loop.more = fmt::format("<port_map>{}{}{}{}</port_map><back_edges>{}</back_edges>{}",
                          MapInput(0, 0, parts.input_slice), MapInput(1, 1),
                          MapOutput(2, 3, parts.output_slice), MapOutput(3, 4), parts.back_edges, body);
  return Net({Parameter(0, "X", whole), Parameter(1, "H", part), loop, Result(3, "ys", whole),
              Result(4, "last", part)},
             {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}, {2, 3, 4, 0}});
}

}  // namespace nnefc::openvino
