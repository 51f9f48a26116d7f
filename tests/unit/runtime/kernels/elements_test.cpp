// Powers and scattered elements against formulas that are computed here.

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string_view>

#include "tests/unit/runtime/kernels/run_reference.h"

namespace nnefc::runtime::kernels {
namespace {

// Small exponents have formulas of their own. Results differ from those in f64 by one rounding.
TEST(ElementsTest, Powers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> numbers = {0.0F,   -0.0F, 1,      -1,        2,          -3.1F,
                                      1e-13F, 1e13F, -1e13F, kInfinity, -kInfinity, std::nanf("")};
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  for (const float exponent : {-2.0F, -1.0F, 0.0F, 0.5F, 1.0F, 2.0F, 2.5F, 3.0F, 4.0F, 5.0F}) {
    const auto made = RunReference(
        "opset1", "Power", {TensorValue::FromFloats(shape, numbers), TensorValue::FromFloats({}, {exponent})},
        With("auto_broadcast", "numpy"));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double expected = std::pow(double{numbers[i]}, double{exponent});
      const double found = made[0].ElementAsDouble(static_cast<int64_t>(i));
      const auto rounded = static_cast<float>(expected);
      if (std::isnan(rounded)) {
        EXPECT_TRUE(std::isnan(found)) << numbers[i] << " ^ " << exponent;
      } else if (std::isinf(rounded) || rounded == 0) {
        EXPECT_EQ(found, double{rounded}) << numbers[i] << " ^ " << exponent;
        EXPECT_EQ(std::signbit(found), std::signbit(rounded)) << numbers[i] << " ^ " << exponent;
      } else {
        EXPECT_NEAR(found, expected, 0x1p-23 * std::abs(expected) + 0x1p-149)
            << numbers[i] << " ^ " << exponent;
      }
    }
  }
}

// Elements of each size, gathered along each axis by as many, fewer and more indices than it is long.
TEST(ElementsTest, GatheredElements) {
  const Shape shape = {3, 4, 5};
  std::vector<int64_t> numbers(60);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i) * 3 - 90;
  std::mt19937 random(3);
  for (const ElementType type : {ElementType::kI8, ElementType::kI16, ElementType::kI32, ElementType::kI64}) {
    const TensorValue data = TensorValue::FromInts(shape, numbers).ConvertedTo(type);
    for (const ElementType of_index : {ElementType::kI32, ElementType::kI64}) {
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        for (const int64_t count : {int64_t{1}, shape[axis], shape[axis] + 2}) {
          Shape gathered = shape;
          gathered[axis] = count;
          std::uniform_int_distribution<int64_t> position(-shape[axis], shape[axis] - 1);
          std::vector<int64_t> indices(static_cast<size_t>(*Volume(gathered)));
          for (int64_t& index : indices) index = position(random);
          std::vector<int64_t> expected;
          expected.reserve(indices.size());
          for (const int64_t index : indices) {
            const auto at = static_cast<int64_t>(expected.size());
            std::array<int64_t, 3> place = {at / (gathered[1] * gathered[2]), at / gathered[2] % gathered[1],
                                            at % gathered[2]};
            place[axis] = index < 0 ? index + shape[axis] : index;
            expected.push_back(numbers[static_cast<size_t>((place[0] * 4 + place[1]) * 5 + place[2])]);
          }
          for (const int64_t given : {static_cast<int64_t>(axis), static_cast<int64_t>(axis) - 3}) {
            const auto made = RunReference(
                "opset6", "GatherElements",
                {data, TensorValue::FromInts(gathered, indices).ConvertedTo(of_index)}, With("axis", given));
            EXPECT_EQ(made[0], TensorValue::FromInts(gathered, expected).ConvertedTo(type))
                << Name(type) << " by " << Name(of_index) << " along axis " << given << ", " << count;
          }
        }
      }
    }
  }
}

// Updates along each axis: whole lines after it, and lines that are shorter than those of the data.
TEST(ElementsTest, ScatteredElements) {
  const Shape data_shape = {4, 3, 5, 2};
  for (size_t axis = 0; axis < 4; ++axis) {
    for (size_t shorter = 0; shorter <= 4; ++shorter) {
      Shape shape = data_shape;
      shape[axis] += 2;  // some indices are repeated
      if (shorter < 4) shape[shorter] = shorter == axis ? 1 : data_shape[shorter] - 1;
      const int64_t extent = data_shape[axis], count = *Volume(shape);
      std::mt19937 random{static_cast<unsigned>(10 * axis + shorter)};
      std::uniform_int_distribution<int64_t> uniform(-extent, extent - 1);
      std::vector<int64_t> indices(static_cast<size_t>(count));
      for (int64_t& index : indices) index = uniform(random);
      const TensorValue data = RandomTensor(data_shape, 1), updates = RandomTensor(shape, 2);
      for (const char* reduction : {"none", "sum", "max"}) {
        ir::AttributeMap attributes;
        attributes.Set("reduction", reduction);
        attributes.Set("use_init_val", true);
        const auto made = RunReference("opset12", "ScatterElementsUpdate",
                                       {data, TensorValue::FromInts(shape, indices), updates,
                                        TensorValue::FromInts({}, {static_cast<int64_t>(axis)})},
                                       attributes);
        std::vector<double> expected;
        for (int64_t i = 0; i < data.volume(); ++i) expected.push_back(data.ElementAsDouble(i));
        for (int64_t i = 0; i < count; ++i) {
          int64_t rest = i, at = 0, stride = 1;
          for (size_t each = 4; each-- > 0; stride *= data_shape[each]) {
            const int64_t index = indices[static_cast<size_t>(i)];
            const int64_t position = each == axis ? index + (index < 0 ? extent : 0) : rest % shape[each];
            rest /= shape[each];
            at += position * stride;
          }
          double& element = expected[static_cast<size_t>(at)];
          const double update = updates.ElementAsDouble(i);
          element = reduction == std::string_view("none")  ? update
                    : reduction == std::string_view("sum") ? element + update
                                                           : std::max(element, update);
        }
        for (int64_t i = 0; i < data.volume(); ++i)
          ASSERT_NEAR(made[0].ElementAsDouble(i), expected[static_cast<size_t>(i)], 1e-5)
              << reduction << " along axis " << axis << ", shorter axis " << shorter << ": " << i;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::kernels
