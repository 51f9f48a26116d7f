#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::openvino {

// Text of OpenVINO IR for tests, without indentation.

struct PortText {
  int64_t id = 0;
  std::string type = "FP32";
  std::vector<int64_t> dims = {};
  std::string names = {};
};

struct LayerText {
  int64_t id = 0;
  std::string name;
  std::string type;
  std::string version = "opset1";
  std::string data = {};  // attributes of <data>
  std::vector<PortText> inputs = {};
  std::vector<PortText> outputs = {};
  std::string more = {};  // port maps, bodies
};

std::string ToXml(const LayerText& layer);

// {from layer, from port, to layer, to port}
struct EdgeText {
  int64_t from_layer, from_port, to_layer, to_port;
};

// `<layers>`, `<edges>` and an empty `<rt_info>`.
std::string NetParts(const std::vector<LayerText>& layers, const std::vector<EdgeText>& edges);
std::string Net(const std::vector<LayerText>& layers, const std::vector<EdgeText>& edges);
std::string Body(std::string_view tag, const std::vector<LayerText>& layers,
                 const std::vector<EdgeText>& edges);

LayerText Parameter(int64_t id, std::string name, std::vector<int64_t> dims, std::string type = "FP32");
LayerText Result(int64_t id, std::string name, std::vector<int64_t> dims, std::string type = "FP32");
// Inputs at the ports 0 and 1, the output at port 2.
LayerText Binary(int64_t id, std::string type, std::vector<int64_t> dims, std::string element = "FP32");
LayerText Const(int64_t id, std::string name, std::vector<int64_t> dims, int64_t offset, int64_t size,
                std::string type = "FP32");

// Entries of port maps.
std::string MapInput(int64_t external, int64_t internal, std::string_view slice = "");
std::string MapOutput(int64_t external, int64_t internal, std::string_view slice = "");

// The If of X and Y of shape [1,2,2]: X*Y or X+Y.
struct IfParts {
  std::vector<int64_t> condition_dims = {1};
  std::string condition_type = "BOOL";
  std::vector<int64_t> input_ids = {0, 1, 2};  // the order of the ports in the list
  std::string then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 3);
  std::string else_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 3);
  std::string then_body;  // empty: X*Y
  std::string else_body;  // empty: X+Y
  std::vector<PortText> outputs = {{.id = 3, .dims = {1, 2, 2}}};
};
std::string IfNet(const IfParts& parts);
std::string BinaryBody(std::string_view tag, std::string operation, std::vector<int64_t> dims = {1, 2, 2});

// The TensorIterator of X, sliced along axis 1, and the merged H: y = x + h. It outputs the concatenation and
// the last state.
struct LoopParts {
  int64_t length = 4;
  int64_t part = 1;
  std::string input_slice = R"(axis="1")";
  std::string output_slice = R"(axis="1")";
  std::string back_edges = R"(<edge from-layer="4" to-layer="1"/>)";
};
std::string LoopNet(const LoopParts& parts);

}  // namespace nnefc::openvino
