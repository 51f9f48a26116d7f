#include "compiler/support/tensor/compressed_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {
namespace {

using Form = CompressedFloats::Form;

std::shared_ptr<const Buffer> BytesOf(const std::vector<uint8_t>& bytes) {
  auto buffer = Buffer::Allocate(bytes.size());
  std::memcpy(buffer->mutable_data(), bytes.data(), bytes.size());
  return buffer;
}

// Every 16-bit number, at every index of a vector.
TEST(CompressedFloatsTest, NumbersOf16Bits) {
  std::vector<uint8_t> bytes;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    bytes.push_back(static_cast<uint8_t>(bits));
    bytes.push_back(static_cast<uint8_t>(bits >> 8));
  }
  const auto data = BytesOf(bytes);
  for (const auto& [form, convert] :
       {std::pair(Form::kHalf, &HalfToFloat), std::pair(Form::kBfloat, &BFloatToFloat)}) {
    const CompressedFloats floats(form, data, 0x10000);
    EXPECT_EQ(floats.step(), 1);
    for (int64_t first : {0, 1, 7, 16, 31}) {
      std::vector<float> out(static_cast<size_t>(floats.count() - first));
      floats.Unpack(first, floats.count() - first, out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        const float expected = convert(static_cast<uint16_t>(first + static_cast<int64_t>(i)));
        ASSERT_TRUE(out[i] == expected || (std::isnan(out[i]) && std::isnan(expected))) << first + i;
        ASSERT_EQ(std::signbit(out[i]), std::signbit(expected));
      }
    }
  }
}

// tract.md, section 3: a scale in f16, then 16 bytes of two 4-bit codes each.
TEST(CompressedFloatsTest, BlocksOfFourBits) {
  std::vector<uint8_t> bytes;
  for (int block = 0; block < 3; ++block) {
    const uint16_t scale = FloatToHalf(0.5f * static_cast<float>(block + 1));
    bytes.push_back(static_cast<uint8_t>(scale));
    bytes.push_back(static_cast<uint8_t>(scale >> 8));
    for (int i = 0; i < 16; ++i) bytes.push_back(static_cast<uint8_t>(i | (15 - (i + block) % 16) << 4));
  }
  for (Form form : {Form::kBlocksOfHalves, Form::kBlocksOfPairs}) {
    const CompressedFloats floats(form, BytesOf(bytes), 96);
    EXPECT_EQ(floats.step(), 32);
    std::vector<float> out(64);
    floats.Unpack(32, 64, out.data());
    for (int item = 0; item < 64; ++item) {
      const int block = 1 + item / 32, place = item % 32;
      const bool is_pairs = form == Form::kBlocksOfPairs;
      const int byte = is_pairs ? place / 2 : place % 16;
      const bool is_high = is_pairs ? place % 2 != 0 : place >= 16;
      const int code = is_high ? 15 - (byte + block) % 16 : byte;
      EXPECT_EQ(out[static_cast<size_t>(item)],
                static_cast<float>(code - 8) * 0.5f * static_cast<float>(block + 1));
    }
  }
}

TEST(CompressedFloatsTest, BytesAreUnpackedOnceForAllThreads) {
  const auto data = BytesOf(std::vector<uint8_t>(20000, 0x3c));
  const TensorValue value(ElementType::kF32, {100, 100}, Buffer::Unpacked({Form::kHalf, data, 10000}));
  ASSERT_NE(value.compressed(), nullptr);
  EXPECT_EQ(value.Reshaped({10000}).compressed(), value.compressed());
  std::vector<const std::byte*> seen(4);
  std::vector<std::thread> threads;
  threads.reserve(seen.size());
  for (auto& each : seen) threads.emplace_back([&] { each = value.bytes(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::byte* each : seen) EXPECT_EQ(each, seen[0]);
  for (float element : value.elements<float>()) ASSERT_EQ(element, HalfToFloat(0x3c3c));
  EXPECT_EQ(value, value.ConvertedTo(ElementType::kF64).ConvertedTo(ElementType::kF32));
}

// Nothing is written beyond the count of floats.
TEST(CompressedFloatsTest, CountsOfFloats) {
  const std::vector<uint8_t> bytes(2 * 80, 0x3c);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  for (const Form form : {Form::kHalf, Form::kBfloat}) {
    for (int64_t count = 0; count <= 70; ++count) {
      std::vector<float> out(80, -1);
      CompressedFloats::Unpack(form, data, 0, count, out.data());
      for (int64_t i = 0; i < 80; ++i)
        ASSERT_EQ(out[static_cast<size_t>(i)] == -1, i >= count) << count << " " << i;
    }
  }
}

}  // namespace
}  // namespace nnefc
