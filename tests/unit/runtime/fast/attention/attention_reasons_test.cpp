// The reasons for implementations that cannot run an attention.

#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::attention {
namespace {

using kernels::Precision;

TEST(AttentionReasonsTest, Operands) {
  constexpr char kId[] = "tiled";
  const auto attention = [](int64_t keys, int64_t width, int64_t values,
                            Precision precision = Precision::kF32) {
    return Step{.set = "opset13",
                .type = "ScaledDotProductAttention",
                .inputs = {{{2, 3, width}}, {{2, keys, width}}, {{2, keys, values}}},
                .attributes = With("causal", false),
                .precision = precision};
  };
  // Without elements, a mask adds batch axes without elements; a causal attention ignores it.
  const auto masked = [](const Shape& mask, ElementType type, bool is_causal = false) {
    return Step{.set = "opset13",
                .type = "ScaledDotProductAttention",
                .inputs = {{{1, 3, 7}}, {{1, 5, 7}}, {{1, 5, 16}}, {mask, Memory::kRows, std::nullopt, type}},
                .attributes = With("causal", is_causal)};
  };
  const auto with_strides = [&](size_t operand) {
    Step step = attention(5, 7, 16);
    step.inputs[operand].memory = Memory::kRowsApart;
    return step;
  };
  const std::string not_f32 = kNotF32.ToString(), strides = "an operand has strides";
  constexpr int64_t kMaxKeys = int64_t{1} << 32;
  ExpectReasons({
      {with_strides(0), kId, ""},
      {with_strides(1), kId, ""},
      {with_strides(2), kId, ""},
      {with_strides(0), "onednn", strides},
      {with_strides(1), "onednn", strides},
      {with_strides(2), "onednn", strides},
      {masked({3, 5}, ElementType::kF32), kId, ""},
      {masked({3, 5}, ElementType::kBoolean), kId, ""},
      {masked({0, 3, 5}, ElementType::kF32), kId, not_f32},
      {masked({0, 3, 5}, ElementType::kBoolean), kId, not_f32},
      {masked({0}, ElementType::kF32, true), kId, not_f32},
      {masked({0}, ElementType::kBoolean, true), kId, ""},
      {attention(5, 7, 16), kId, ""},
      {attention(5, 7, 15), kId, ""},
      {attention(5, 7, 17), kId, ""},
      {attention(64, 7, 16), kId, "", true},
      {attention(65, 7, 16), kId, "3 queries are too few for 65 keys", true},
      {attention(3072, 32, 32), kId, ""},
      {attention(3073, 32, 32), kId, "3073 keys and values of 64 floats exceed a core's cache"},
      {attention(3073, 16, 48), kId, "3073 keys and values of 64 floats exceed a core's cache"},
      {attention(kMaxKeys, 16, 16), kId, "4294967296 keys and values of 32 floats exceed a core's cache"},
      {attention(kMaxKeys + 1, 16, 16), kId, "4294967297 keys, more than 4294967296"},
      {Fused(attention(5, 7, 16)), kId, "a fused operation"},
      {attention(5, 7, 16, Precision::kBf16), kId, HasAmx() ? "AMX multiplies bf16" : ""},
  });
}

// Functions and normalizations by oneDNN. Only operations that are fused may overrun images whose channels
// do not fill their blocks.
}  // namespace
}  // namespace nnefc::runtime::fast::attention
