// The bound of live items: what a value counts for, when that comes back, and the bound itself.

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "compiler/expand/rules.h"
#include "compiler/expand/value.h"
#include "compiler/expand/values/sequences.h"

namespace nnefc::expand {
namespace {

Value Integers(Heap& heap, int64_t count) {
  return Value::Array(heap, std::vector<Value>(static_cast<size_t>(count), Value::Integer(1)));
}

TEST(HeapTest, BoundItself) {
  for (const int64_t limit : {0, 1, 7, 1000}) {
    for (const int64_t live : {int64_t{0}, limit / 2, limit}) {
      Heap heap(limit);
      EXPECT_EQ(heap.limit(), limit);
      heap.Charge(live);
      EXPECT_EQ(heap.live(), live);
      for (const int64_t more : {int64_t{0}, limit - live - 1, limit - live, limit - live + 1, limit + 1}) {
        if (more < 0) continue;
        Fault fault;
        EXPECT_EQ(heap.Reserve(more, fault), live + more <= limit) << limit << ", " << live << ", " << more;
        EXPECT_EQ(fault.rule != nullptr && fault.rule->label == std::string_view("limit.items"),
                  live + more > limit);
        if (live + more > limit) {
          EXPECT_TRUE(fault.fatal);
        }
      }
      heap.Charge(-live);
      EXPECT_EQ(heap.live(), 0);
    }
  }
}

// Lengths are 32 bits, whatever the limit.
TEST(HeapTest, LargestLength) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max(),
                    kLength = std::numeric_limits<uint32_t>::max();
  Heap heap(kLargest);
  for (const int64_t count : {kLength - 1, kLength}) {
    Fault fault;
    EXPECT_TRUE(heap.Reserve(count, fault));
  }
  for (const int64_t count : {kLength + 1, kLargest}) {
    Fault fault;
    EXPECT_FALSE(heap.Reserve(count, fault));
  }
}

// Each item of an array and each byte of a string is one, in addition to the cost of all storages.
TEST(HeapTest, ItemsOfValues) {
  Heap heap(1000);
  const auto live_of = [&](const std::function<Value()>& make) {
    const Value value = make();
    return heap.live();
  };
  const int64_t of_storage = live_of([&] { return Integers(heap, 1); }) - 1;
  EXPECT_GE(of_storage, 0);
  for (const int64_t count : {1, 2, 3, 100}) {
    EXPECT_EQ(live_of([&] { return Integers(heap, count); }), of_storage + count);
    EXPECT_EQ(live_of([&] { return Value::String(heap, std::string(static_cast<size_t>(count), 'a')); }),
              of_storage + count);
    EXPECT_EQ(live_of([&] {
                return Value::Tuple(heap, std::vector<Value>(static_cast<size_t>(count), Value::Integer(1)));
              }),
              of_storage + count);
    EXPECT_EQ(heap.live(), 0);
  }
  EXPECT_EQ(live_of([&] { return Integers(heap, 0); }), 0);
  EXPECT_EQ(live_of([&] { return Value::String(heap, ""); }), 0);
  EXPECT_EQ(live_of([&] { return Value::String(heap, "of the document", false); }), 0);
  EXPECT_EQ(live_of([&] { return Value::Array(heap, {Value::Integer(1)}, false); }), 0);
  EXPECT_EQ(live_of([&] { return Value::Tuple(heap, {Value::Integer(1)}, false); }), 0);
  // An array of arrays has the items of each.
  EXPECT_EQ(live_of([&] {
              return Value::Array(heap, {Integers(heap, 3), Integers(heap, 4)});
            }),
            3 * of_storage + 2 + 3 + 4);
  EXPECT_EQ(heap.live(), 0);
}

// Copies share; what is held by two is alive until both are gone.
TEST(HeapTest, SharedStorage) {
  Heap heap(1000);
  Value first = Integers(heap, 10);
  const int64_t live = heap.live();
  {
    const Value second = first;
    EXPECT_EQ(heap.live(), live);
    first = Value();
    EXPECT_EQ(heap.live(), live);
    EXPECT_EQ(second.length(), 10);
  }
  EXPECT_EQ(heap.live(), 0);
}

// A sequence and nothing share the storage of the sequence.
TEST(HeapTest, ConcatenationWithNothing) {
  Heap heap(1000);
  const Value items = Integers(heap, 10), text = Value::String(heap, "text");
  const Value no_items = Integers(heap, 0), no_text = Value::String(heap, "");
  const int64_t live = heap.live();
  for (const auto& [left, right] :
       {std::pair(&items, &no_items), {&no_items, &items}, {&text, &no_text}, {&no_text, &text}}) {
    Fault fault;
    const std::optional<Value> result = values::Concatenate(*left, *right, heap, fault);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->length(), left->length() + right->length());
    EXPECT_EQ(heap.live(), live);
  }
}

// A sequence that is repeated once needs no room of its own.
TEST(HeapTest, RepetitionOnce) {
  Heap heap(20);
  for (const Value& value : {Integers(heap, 3), Value::String(heap, "abc")}) {
    heap.Charge(heap.limit() - heap.live());
    Fault fault;
    const std::optional<Value> once = values::Repeat(value, 1, heap, fault);
    ASSERT_TRUE(once) << fault.message;
    EXPECT_EQ(once->length(), 3);
    EXPECT_EQ(heap.live(), heap.limit());
    EXPECT_FALSE(values::Repeat(value, 2, heap, fault));
    heap.Charge(-10);
  }
}

// Without recursion, however deeply arrays nest.
TEST(HeapTest, DeepArrays) {
  Heap heap(10'000'000);
  Value value = Integers(heap, 1);
  for (int i = 0; i < 200'000; ++i) value = Value::Array(heap, {value});
  EXPECT_GE(heap.live(), 200'000);
  value = Value();
  EXPECT_EQ(heap.live(), 0);
}

}  // namespace
}  // namespace nnefc::expand
