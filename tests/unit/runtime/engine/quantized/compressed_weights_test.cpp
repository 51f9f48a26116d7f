// Constants of f32 that are stored in f16, bf16 or blocks of four bits: products of few rows and of more,
// lookups of rows, and other readers, against loops in f64 over the numbers that they represent.

#include <cstring>

#include "fmt/core.h"
#include "runtime/fast/gemm/compressed_gemm.h"
#include "runtime/fast/gemm/compressed_rows.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

using Form = CompressedFloats::Form;
constexpr Form kForms[] = {Form::kHalf, Form::kBfloat, Form::kBlocksOfHalves, Form::kBlocksOfPairs};

bool IsBlocks(Form form) {
  return form == Form::kBlocksOfHalves || form == Form::kBlocksOfPairs;
}

struct Compressed {
  TensorValue value;
  std::vector<double> numbers;
};

Compressed MakeCompressed(Form form, const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  const auto count = SizeOf(shape);
  std::vector<uint8_t> bytes(
      static_cast<size_t>(CompressedFloats::ByteSize(form, static_cast<int64_t>(count))));
  std::vector<double> numbers(count);
  const auto store = [&](size_t at, uint16_t bits) {
    bytes[at] = static_cast<uint8_t>(bits);
    bytes[at + 1] = static_cast<uint8_t>(bits >> 8);
  };
  for (size_t i = 0; i < count; ++i) {
    const float drawn = static_cast<float>(random() % 2001) / 1000 - 1;
    if (form == Form::kHalf) {
      const uint16_t bits = FloatToHalf(drawn);
      store(2 * i, bits);
      numbers[i] = HalfToFloat(bits);
    } else if (form == Form::kBfloat) {
      uint32_t bits = 0;
      std::memcpy(&bits, &drawn, sizeof(bits));
      store(2 * i, static_cast<uint16_t>(bits >> 16));
      numbers[i] = BFloatToFloat(static_cast<uint16_t>(bits >> 16));
    } else {
      // A scale, then 16 bytes of two codes; the low one is item i, or item 2 * i.
      const size_t block = i / 32 * 18, item = i % 32;
      if (item == 0) store(block, FloatToHalf(0.25F * (1 + std::abs(drawn))));
      const float scale = HalfToFloat(static_cast<uint16_t>(bytes[block] | bytes[block + 1] << 8));
      const auto code = static_cast<int>(random() % 16);
      const bool is_pairs = form == Form::kBlocksOfPairs;
      const size_t at = block + 2 + (is_pairs ? item / 2 : item % 16);
      const bool is_high = is_pairs ? item % 2 != 0 : item >= 16;
      bytes[at] = static_cast<uint8_t>(bytes[at] | (is_high ? code << 4 : code));
      numbers[i] = double{scale} * (code - 8);
    }
  }
  auto buffer = Buffer::Allocate(bytes.size());
  std::memcpy(buffer->mutable_data(), bytes.data(), bytes.size());
  return {TensorValue(ElementType::kF32, shape,
                      Buffer::Unpacked({form, std::move(buffer), static_cast<int64_t>(count)})),
          numbers};
}

void CheckCompressedProduct(Form form, int64_t rows, int64_t terms, int64_t outputs, bool transposed,
                            bool has_relu) {
  SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(terms) + " terms, " +
               std::to_string(outputs) + " outputs, form " + std::to_string(static_cast<int>(form)) +
               (transposed ? ", transposed" : ""));
  const Compressed weights =
      MakeCompressed(form, transposed ? Shape{outputs, terms} : Shape{terms, outputs}, 1);
  const TensorValue x = RandomTensor({rows, terms}, 2);
  TestGraph g;
  ir::OutputPort y = g.Op("MatMul", {g.Parameter("x", {rows, terms}), g.Const(weights.value)},
                          With("transpose_b", transposed));
  if (has_relu) y = g.Op("ReLU", {g.Op("Add", {y, Scalar(g, 0.25F)})});
  g.Result(y);
  const bool is_own =
      rows <= fast::gemm::kMaxLeftRows && (!IsBlocks(form) || (transposed ? terms : outputs) % 32 == 0);
  std::vector<double> expected;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = has_relu ? 0.25 : 0;
      for (int64_t i = 0; i < terms; ++i)
        sum += x.ElementAsDouble(row * terms + i) *
               weights.numbers[static_cast<size_t>(transposed ? o * terms + i : i * outputs + o)];
      expected.push_back(has_relu ? std::max(sum, 0.0) : sum);
    }
  }
  for (const kernels::Backend backend : kBackends) {
    const auto executable = Compile(g.graph, {.backend = backend, .threads = NextThreads()});
    ASSERT_NE(executable, nullptr);
    if (is_own && backend != kernels::Backend::kReference) {
      EXPECT_NE(executable->DescribePlan().find("packed:"), std::string::npos) << executable->DescribePlan();
    }
    const auto made = Session::Create(executable)->Run({x});
    ASSERT_TRUE(made.ok());
    const double tolerance = 1e-6 * static_cast<double>(terms + 10);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(made->front().ElementAsDouble(static_cast<int64_t>(i)), expected[i], tolerance) << i;
  }
}

// Numbers of rows that are multiplied together, and one more; terms and outputs around those of vectors and
// of blocks that threads share.
TEST(CompressedWeightsTest, Products) {
  for (const Form form : kForms) {
    for (int64_t rows = 1; rows <= fast::gemm::kMaxLeftRows + 1; ++rows) {
      for (const bool transposed : {true, false}) {
        CheckCompressedProduct(form, rows, 32, 32, transposed, rows % 2 == 0);
        CheckCompressedProduct(form, rows, 64 * rows, 96, transposed, rows % 2 == 1);
      }
      CheckCompressedProduct(form, rows, 160, 7, true, false);
      CheckCompressedProduct(form, rows, 7, 160, false, false);
    }
    for (const int64_t terms : {511, 512, 513, 1025}) {
      CheckCompressedProduct(form, 2, terms, 32, false, false);
      if (!IsBlocks(form)) CheckCompressedProduct(form, 3, terms, 5, true, true);
    }
    CheckCompressedProduct(form, 2, 1056, 3, true, false);
    CheckCompressedProduct(form, 2, 3, 1056, false, true);
  }
}

TEST(CompressedWeightsTest, ProductsOfOddExtents) {
  for (const Form form : {Form::kHalf, Form::kBfloat}) {
    for (const int64_t terms : {1, 15, 16, 17, 31, 33, 65, 129}) {
      for (const int64_t outputs : {1, 15, 17, 33, 70}) {
        CheckCompressedProduct(form, 1 + terms % 4, terms, outputs, true, false);
        CheckCompressedProduct(form, 1 + outputs % 4, terms, outputs, false, false);
      }
    }
  }
}

TEST(CompressedWeightsTest, Lookups) {
  for (const Form form : kForms) {
    for (const Shape& shape : {Shape{50, 32}, Shape{9, 2, 64}, Shape{4, 96}, Shape{6, 24}, Shape{64}}) {
      for (const int64_t axis :
           {int64_t{0}, static_cast<int64_t>(shape.size()) - 1, -static_cast<int64_t>(shape.size())}) {
        SCOPED_TRACE(ToString(shape) + " along " + std::to_string(axis));
        if (IsBlocks(form) && *Volume(shape) % 32 != 0) continue;
        const Compressed table = MakeCompressed(form, shape, 3);
        const int64_t normal = axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis;
        const int64_t extent = shape[static_cast<size_t>(normal)];
        TestGraph g;
        g.Result(g.Op("opset8", "Gather",
                      {g.Const(table.value), g.Parameter("i", {5}, ElementType::kI64),
                       g.Const(TensorValue::FromInts({}, {axis}))}));
        const std::vector<int64_t> places = {0, extent - 1, 1, -1, -extent};
        int64_t outer = 1, inner = 1;
        for (int64_t i = 0; i < normal; ++i) outer *= shape[static_cast<size_t>(i)];
        for (size_t i = static_cast<size_t>(normal) + 1; i < shape.size(); ++i) inner *= shape[i];
        std::vector<double> expected;
        for (int64_t o = 0; o < outer; ++o) {
          for (const int64_t place : places) {
            const int64_t row = place < 0 ? place + extent : place;
            for (int64_t i = 0; i < inner; ++i)
              expected.push_back(table.numbers[static_cast<size_t>((o * extent + row) * inner + i)]);
          }
        }
        ExpectNumbers(g, {TensorValue::FromInts({5}, places)}, expected);
      }
    }
  }
}

// Rows outside a table: the first that is too large, and the first that is too small.
TEST(CompressedWeightsTest, RowsOutsideATable) {
  for (const int64_t place : {-7, -6, 5, 6}) {
    TestGraph g;
    g.Result(g.Op("opset8", "Gather",
                  {g.Const(MakeCompressed(Form::kHalf, {6, 32}, 4).value),
                   g.Parameter("i", {1}, ElementType::kI64), g.Const(TensorValue::FromInts({}, {0}))}));
    const auto executable = Compile(g.graph, {.threads = 1});
    ASSERT_NE(executable, nullptr);
    EXPECT_EQ(Session::Create(executable)->Run({TensorValue::FromInts({1}, {place})}).ok(),
              place >= -6 && place < 6)
        << place;
  }
}

// A kernel of compressed weights multiplies at least one row, and at most as many as are faster than with
// decompressed ones.
TEST(CompressedWeightsTest, RowsOfAKernel) {
  constexpr int64_t kMost = fast::gemm::kMaxLeftRows;
  for (const Form form : kForms) {
    const Compressed weights = MakeCompressed(form, {32, 64}, 6);
    const kernels::ValueInfo right{.type = ElementType::kF32, .shape = {32, 64}, .constant = &weights.value};
    const kernels::ValueInfo inputs[] = {{}, right};
    const auto reason = [&](int64_t rows, int64_t terms, int64_t outputs, bool inputs_first) {
      return fast::gemm::CompressedGemmApplies(
                 {.inputs = inputs},
                 {.rows = rows, .inputs = terms, .outputs = outputs, .inputs_first = inputs_first})
          .ToString();
    };
    const std::string odd = IsBlocks(form) ? "rows of 33 elements, not a multiple of 32" : "";
    for (const bool inputs_first : {false, true}) {
      EXPECT_EQ(reason(0, 32, 64, inputs_first), "an empty matrix");
      EXPECT_EQ(reason(1, 0, 64, inputs_first), "an empty matrix");
      EXPECT_EQ(reason(1, 32, 64, inputs_first), "");
      EXPECT_EQ(reason(kMost, 32, 64, inputs_first), "");
      EXPECT_EQ(reason(kMost + 1, 32, 64, inputs_first),
                fmt::format("{} rows, more than {}", kMost + 1, kMost));
      EXPECT_EQ(reason(1, 33, 64, inputs_first), inputs_first ? "" : odd);
      EXPECT_EQ(reason(1, 32, 33, inputs_first), inputs_first ? odd : "");
    }
  }
}

// Batches of lookups, and a function of the weights and the weights themselves.
TEST(CompressedWeightsTest, OtherReaders) {
  for (const Form form : kForms) {
    const Compressed table = MakeCompressed(form, {4, 32}, 5);
    TestGraph g;
    const ir::OutputPort weights = g.Const(table.value);
    g.Result(
        g.Op("opset8", "Gather",
             {weights, g.Parameter("i", {4, 1}, ElementType::kI64), g.Const(TensorValue::FromInts({}, {1}))},
             With("batch_dims", int64_t{1})));
    g.Result(g.Op("Add", {weights, Scalar(g, 1.5F)}), "sum");
    g.Result(g.Op("Transpose", {weights, g.Ints({1, 0})}), "columns");
    const std::vector<int64_t> places = {0, 31, 7, -1};
    for (const kernels::Backend backend : kBackends) {
      const auto made =
          RunGraph(g.graph, {.backend = backend, .threads = 2}, {TensorValue::FromInts({4, 1}, places)});
      ASSERT_EQ(made.size(), 3U);
      for (int64_t i = 0; i < 4; ++i) {
        const int64_t place = places[static_cast<size_t>(i)];
        EXPECT_EQ(made[0].ElementAsDouble(i), table.numbers[static_cast<size_t>(i * 32 + (place + 32) % 32)]);
      }
      for (int64_t i = 0; i < 128; ++i) {
        EXPECT_NEAR(made[1].ElementAsDouble(i), table.numbers[static_cast<size_t>(i)] + 1.5, 1e-6);
        EXPECT_EQ(made[2].ElementAsDouble(i % 32 * 4 + i / 32), table.numbers[static_cast<size_t>(i)]);
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
