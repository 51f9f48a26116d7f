// Streaming models of tract's pulse pass: a session runs them chunk by chunk to the results of the whole
// signal.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/api/model.h"
#include "tools/api/nnefc.h"

namespace nnefc::api {
namespace {

// The document that tract 0.23.9 writes of a convolution of three elements, with a zero on either side, after
// its pulse pass for chunks of 4. The results are those of the element before.
constexpr char kStream[] = R"(version 1.0;

extension tract_registry tract_core;
extension tract_registry tract_pulse;
extension tract_symbol S;

fragment tract_core_properties(
) -> (properties: (string, tensor<scalar>)[])
{
  properties = [("pulse.delay", tract_core_cast([1], to = "i64")), ("pulse.streaming_symbol", ["S"]), ("tract_nnef_ser_version", "0.23.9")];
}

graph network(x) -> (y) {
  x = external(shape = [1, 1, 4]);
  c_delay = tract_pulse_delay(x, axis = 2, delay = 0, overlap = 2);
  c_pulse_pad = tract_pulse_pulse_pad(c_delay, axis = 2, before = 1, begin_input = 2, overlap = 2, after = 1, end_input = (S + 2), border = "constant", value = 0.0);
  w_0 = [[[1.0, 2.0, 3.0]]];
  c_conv = conv(c_pulse_pad, w_0, 0.0, dilation = [1], stride = [1], border = "constant", groups = 1, padding = [(0, 0)]);
  y = max(c_conv, [[[0.0]]]);
}
)";
constexpr size_t kChunk = 4, kDelay = 1;
constexpr std::array<float, 16> kSignal = {1, -2, 3, 5, -8, 13, -21, 34, 55, -1, 0, 2, 7, -4, 6, 9};

// Returns max(0, x[i - 1] + 2 x[i] + 3 x[i + 1]) of the whole signal.
float Whole(size_t i) {
  const float before = i == 0 ? 0 : kSignal[i - 1], after = i + 1 < kSignal.size() ? kSignal[i + 1] : 0;
  return std::max(0.0F, before + 2 * kSignal[i] + 3 * after);
}

// Compares the results of a stream, after its delay, with those of the whole.
void ExpectWhole(const std::vector<float>& stream) {
  ASSERT_EQ(stream.size(), kSignal.size());
  for (size_t i = 0; i + kDelay < stream.size(); ++i) EXPECT_EQ(stream[i + kDelay], Whole(i)) << i;
}

class StreamTest : public ::testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Backends, StreamTest, ::testing::Values(Backend::kReference, Backend::kFast));

TEST_P(StreamTest, SessionRunsChunkByChunk) {
  const Outcome<Model> model = Model::FromText("net.nnef", kStream);
  ASSERT_TRUE(model) << model.report.ToText();
  const Outcome<Executable> executable = model->Compile({.backend = GetParam(), .threads = 1});
  ASSERT_TRUE(executable) << executable.report.ToText();
  Session session = executable->NewSession();
  for (int round = 0; round < 2; ++round) {
    std::vector<float> stream;
    for (size_t begin = 0; begin < kSignal.size(); begin += kChunk) {
      const std::span<const float> chunk = std::span(kSignal).subspan(begin, kChunk);
      const Outcome<Tensors> results = session.Run({{"x", *Tensor::Copy({1, 1, kChunk}, chunk)}});
      ASSERT_TRUE(results) << results.report.ToText();
      stream.insert(stream.end(), results->at("y").floats().begin(), results->at("y").floats().end());
    }
    ExpectWhole(stream);
    session.ResetState();  // the next round begins another stream
  }
}

TEST_P(StreamTest, SessionOfCRunsChunkByChunk) {
  nnefc_model* model = nullptr;
  const std::string text = kStream;
  ASSERT_EQ(nnefc_load_text("net.nnef", text.data(), text.size(), nullptr, &model, nullptr), NNEFC_OK);
  nnefc_executable_options options = NNEFC_EXECUTABLE_OPTIONS_INIT;
  options.backend = GetParam() == Backend::kFast ? "fast" : "reference";
  nnefc_executable* executable = nullptr;
  ASSERT_EQ(nnefc_compile(model, &options, &executable, nullptr), NNEFC_OK);
  nnefc_session* session = nullptr;
  ASSERT_EQ(nnefc_open_session(executable, &session), NNEFC_OK);
  for (int round = 0; round < 2; ++round) {
    std::vector<float> stream;
    for (size_t begin = 0; begin < kSignal.size(); begin += kChunk) {
      const std::array<int64_t, 3> extents = {1, 1, kChunk};
      const nnefc_tensor input = {"x", "f32", 3, extents.data(), &kSignal[begin], kChunk * sizeof(float)};
      nnefc_tensors* results = nullptr;
      ASSERT_EQ(nnefc_run(session, &input, 1, &results, nullptr), NNEFC_OK);
      ASSERT_EQ(nnefc_tensors_size(results), 1u);
      const auto* items = static_cast<const float*>(nnefc_tensors_at(results, 0).data);
      stream.insert(stream.end(), items, items + kChunk);
      nnefc_tensors_free(results);
    }
    ExpectWhole(stream);
    nnefc_reset_state(session);
  }
  nnefc_session_free(session);
  nnefc_executable_free(executable);
  nnefc_model_free(model);
}

}  // namespace
}  // namespace nnefc::api
