// The implementation that each operation chooses, at each threshold of its applicability and cost: the value
// itself and both neighbours. make_choices.py computes the expected ids from the documented thresholds.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/register.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/onednn/register.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast {
namespace {

constexpr const char* kFile = "tests/unit/runtime/fast/choices.txt";

// A line of the file: words `key=value` of the request, and after a bar the expected id for each processor.
struct ChoiceCase {
  std::string text;
  std::map<std::string, std::string> words;

  bool has(const std::string& key) const { return words.count(key) > 0; }
  int64_t Int(const std::string& key, int64_t missing) const {
    return has(key) ? std::stoll(words.at(key)) : missing;
  }
  Shape Extents(const std::string& key) const {
    Shape extents;
    std::istringstream text(words.at(key));
    for (std::string extent; std::getline(text, extent, ',');) extents.push_back(std::stoll(extent));
    return extents;
  }
};

ChoiceCase ParseCase(const std::string& line) {
  ChoiceCase one{.text = line, .words = {}};
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (const size_t at = word.find('='); at != std::string::npos)
      one.words[word.substr(0, at)] = word.substr(at + 1);
  }
  return one;
}

std::vector<ChoiceCase> ReadCases() {
  std::vector<ChoiceCase> cases;
  std::ifstream file(kFile);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') cases.push_back(ParseCase(line));
  }
  return cases;
}

// Returns the column of the file for this processor and the instructions that it may use.
std::string Processor() {
  if (simd::SimdWidth() == simd::kSimdWidth256) return HasVnni() ? "" : "avx2";
  if (simd::SimdWidth() != simd::kSimdWidth512 || HasAmx()) return "";
  return HasVnni() ? "vnni" : "avx512";
}

TensorValue Zeros(const Shape& shape) {
  return TensorValue::Make<float>(ElementType::kF32, shape, [](std::span<float>) {});
}

ir::AttributeMap WindowAttributes(const ChoiceCase& of, size_t axes) {
  const auto all = [&](const char* key, int64_t missing) {
    return ir::Attribute::Integers(axes, of.Int(key, missing));
  };
  ir::AttributeMap attributes;
  attributes.Set("strides", all("stride", 1));
  attributes.Set("dilations", all("dilation", 1));
  attributes.Set("pads_begin", all("pad", 0));
  attributes.Set("pads_end", all("pad", 0));
  attributes.Set("auto_pad", "explicit");
  return attributes;
}

// The request of a case, and its storage.
class ChoiceRequest {
 public:
  explicit ChoiceRequest(const ChoiceCase& of) {
    const std::string type = of.words.at("op");
    const Shape x = of.Extents("x"), w = of.Extents("w");
    const bool is_constant = of.Int("constant", 1) != 0;
    constant_ = Zeros(w);
    ir::AttributeMap attributes;
    if (type == "MatMul") {
      attributes.Set("transpose_a", of.Int("transposed_a", 0) != 0);
      attributes.Set("transpose_b", of.Int("transposed", 0) != 0);
    } else {
      attributes = WindowAttributes(of, x.size() - 2);
    }
    const ir::OutputPort filter = is_constant ? g_.Const(constant_) : g_.Parameter("w", w);
    const ir::OutputPort result = g_.Op(type, {g_.Parameter("x", x), filter}, std::move(attributes));
    const ElementType element_type = of.has("f64") ? ElementType::kF64 : ElementType::kF32;
    inputs_ = {{.type = element_type, .shape = x},
               {.type = element_type, .shape = w, .constant = is_constant ? &constant_ : nullptr}};
    const ir::Node& node = g_.graph->node(result.node);
    outputs_ = {{.type = element_type, .shape = node.output().shape.known_extents()}};
    request_ = {.node = &node,
                .inputs = inputs_,
                .outputs = outputs_,
                .precision = of.has("exact")  ? kernels::Precision::kExact
                             : of.has("bf16") ? kernels::Precision::kBf16
                                              : kernels::Precision::kF32,
                .has_f32_images = of.has("f32_images")};
    if (of.has("int8")) Quantize(of, result);
  }

  const kernels::KernelRequest& request() const { return request_; }

 private:
  // Quantizes the input, the filter and, with `int8=folded`, the result.
  void Quantize(const ChoiceCase& of, ir::OutputPort result) {
    const memory::ValueQuantization codes{.scale = 0.5F, .zero = 3};
    const Shape& x = inputs_[0].shape;
    const bool is_image = request_.node->type() != "MatMul";
    inputs_[0].layout = memory::QuantizedLayout(
        is_image ? memory::ChannelsLastFormat(x, memory::StorageType::kF32) : memory::RowMajorFormat(x),
        codes);
    const Shape& out = outputs_[0].shape;
    scales_.assign(static_cast<size_t>(is_image ? out[1] : out.back()), 0.25F);
    request_.filter_scales = scales_;
    request_.filter_magnitude = static_cast<float>(of.Int("magnitude", 1000));
    if (of.words.at("int8") == "folded") {
      for (float limit : {0.0F, 255.0F, 0.0F, 255.0F})
        limits_.push_back(TensorValue::Make<float>(ElementType::kF32, {1},
                                                   [&](std::span<float> values) { values[0] = limit; }));
      std::vector<ir::OutputPort> ports = {result};
      for (const TensorValue& limit : limits_) {
        ports.push_back(g_.Const(limit));
        inputs_.push_back({.type = ElementType::kF32, .shape = {1}, .constant = &limit});
      }
      const ir::OutputPort quantized =
          g_.Op("FakeQuantize", ports, With("levels", ir::Attribute(int64_t{256})));
      request_.node = &g_.graph->node(result.node);
      posts_ = {{.node = &g_.graph->node(quantized.node), .chained_input = 0, .first_operand = 2}};
      request_.posts = posts_;
      request_.as_codes = true;
    }
    request_.inputs = inputs_;
  }

  TestGraph g_;
  TensorValue constant_;
  std::vector<TensorValue> limits_;
  std::vector<float> scales_;
  std::vector<kernels::PostOperation> posts_;
  llvm::SmallVector<kernels::ValueInfo, 8> inputs_;
  llvm::SmallVector<kernels::ValueInfo, 1> outputs_;
  kernels::KernelRequest request_;
};

TEST(ImplementationChoiceTest, ThresholdsAreThoseOfTheTable) {
  const std::string processor = Processor();
  if (processor.empty()) GTEST_SKIP() << "the expected ids are those of other processors";
  kernels::KernelRegistry kernels;
  RegisterFastKernels(kernels, onednn::OneDnnExtension());
  const std::vector<ChoiceCase> cases = ReadCases();
  ASSERT_GT(cases.size(), 300U);
  for (const ChoiceCase& one : cases) {
    if (one.has("bf16") && !HasBf16()) continue;
    const ChoiceRequest made(one);
    const tensor::ThreadScope scope(static_cast<int>(one.Int("threads", 1)));
    const kernels::KernelFactory* factory =
        kernels.Find(kernels::Backend::kFast, "opset1", one.words.at("op"));
    std::vector<kernels::RejectedImplementation> rejected;
    kernels::KernelRequest request = made.request();
    request.rejected = &rejected;
    const std::optional<kernels::PreparedKernel> kernel = (*factory)(request);
    std::string why;
    for (const kernels::RejectedImplementation& other : rejected)
      why += fmt::format("{}: {}\n", other.id, other.reason.ToString());
    // `onednn`: any of its kernels.
    const std::string_view chosen = kernel ? kernel->implementation : "none";
    const std::string& expected = one.words.at(processor);
    EXPECT_TRUE(expected == "onednn" ? chosen.starts_with("onednn") : chosen == expected)
        << one.text << ": " << chosen << "\n"
        << why;
  }
}

// The reasons that a profile shows for implementations that were not chosen.
TEST(ImplementationChoiceTest, ReasonsAreThoseOfTheRequest) {
  struct RejectedCase {
    const char *request, *id, *reason;  // no reason: the implementation is applicable
  };
  constexpr char kBlocked[] = "onednn_blocked";
  constexpr char kNotAtBlocks[] = "groups that do not start at blocks of channels";
  constexpr char kNoF32[] = "an operand is not f32, empty, or has strides";
  kernels::KernelRegistry kernels;
  RegisterFastKernels(kernels, onednn::OneDnnExtension());
  for (const auto& [text, id, reason] : {
           RejectedCase{"op=MatMul x=3,5 w=5,4 constant=0", "gemm", "the right matrix is not constant"},
           {"op=MatMul x=3,5 w=5,4 constant=0", "onednn_inner_product", "the right matrix is not constant"},
           {"op=MatMul x=5 w=5,4", "gemm", "the left operand is a vector"},
           {"op=MatMul x=5 w=5,4", "onednn_general", "an operand is a vector"},
           {"op=MatMul x=3,5 w=5", "gemm", "the right operand has 1 axes"},
           {"op=MatMul x=3,5 w=5", "onednn_general", "an operand is a vector"},
           {"op=MatMul x=2,3,5 w=2,5,4", "gemm", "the right operand has 3 axes"},
           {"op=MatMul x=5,3 w=5,4 transposed_a=1", "gemm", "the left operand is transposed"},
           {"op=MatMul x=3,5 w=5,4 f64=1", "i32", "the first operand is not i32"},
           {"op=MatMul x=3,5 w=5,4 f64=1", "int8", kNoF32},
           {"op=MatMul x=3,5 w=5,4 f64=1", "f32", kNoF32},
           {"op=MatMul x=3,5 w=5,4 f64=1", "bf16", kNoF32},
           {"op=MatMul x=5 w=5,4", "int8", "the left operand is a vector"},
           {"op=MatMul x=5 w=5,4", "bf16", "precision f32"},
           {"op=GroupConvolution x=1,64,9,9 w=2,32,32,3,3", kBlocked, ""},
           {"op=GroupConvolution x=1,32,9,9 w=2,32,16,3,3", kBlocked, ""},
           {"op=GroupConvolution x=1,64,9,9 w=2,16,32,3,3", kBlocked, ""},
           {"op=GroupConvolution x=1,34,9,9 w=2,16,17,3,3", kBlocked, kNotAtBlocks},
           {"op=GroupConvolution x=1,32,9,9 w=2,17,16,3,3", kBlocked, kNotAtBlocks},
           {"op=GroupConvolution x=1,30,9,9 w=2,16,15,3,3", kBlocked, kNotAtBlocks},
           {"op=GroupConvolution x=1,32,9,9 w=2,15,16,3,3", kBlocked, kNotAtBlocks},
           {"op=GroupConvolution x=1,17,9,9 w=1,15,17,3,3", kBlocked, ""},
           {"op=GroupConvolution x=1,31,9,9 w=31,1,1,3,3", kBlocked, kNotAtBlocks},
           {"op=GroupConvolution x=1,32,9,9 w=32,1,1,3,3", kBlocked, ""},
           {"op=GroupConvolution x=1,33,9,9 w=33,1,1,3,3", kBlocked, kNotAtBlocks},
           {"op=GroupConvolution x=1,16,9,9 w=16,2,1,3,3", kBlocked, kNotAtBlocks},
       }) {
    if (id == std::string_view(kBlocked) && !HasAvx512()) continue;
    const ChoiceRequest made(ParseCase(text));
    std::vector<kernels::RejectedImplementation> rejected;
    kernels::KernelRequest request = made.request();
    request.rejected = &rejected;
    (*kernels.Find(kernels::Backend::kFast, "opset1", request.node->type()))(request);
    const auto found = std::find_if(rejected.begin(), rejected.end(),
                                    [id = id](const auto& other) { return other.id == id; });
    const std::string found_reason = found == rejected.end() ? "" : found->reason.ToString();
    EXPECT_EQ(found_reason == "another implementation is faster" ? "" : found_reason, reason)
        << text << ": " << id;
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast
