// The record of instantiations: values as they are written, and its limit.

#include "compiler/expand/instances.h"

#include <gtest/gtest.h>

#include <limits>

namespace nnefc::expand {
namespace {

using Kind = InstanceValue::Kind;

// The number of instantiations and values of a record.
constexpr int64_t kMaxRecorded = 1'000'000;

// Returns a record with room for `room` more values.
InstanceRecord RecordWithRoom(int64_t room) {
  InstanceRecord record;
  for (int64_t i = room; i < kMaxRecorded; ++i) record.Record(Value::Integer(0));
  return record;
}

TEST(InstanceRecordTest, Literals) {
  Heap heap(1000);
  InstanceRecord record;
  for (const auto& [value, literal] : std::initializer_list<std::pair<Value, std::string_view>>{
           {Value::Integer(-3), "-3"},
           {Value::Scalar(0.5), "0.5"},
           {Value::Scalar(2), "2.0"},
           {Value::Logical(true), "true"},
           {Value::Logical(false), "false"},
           {Value::String(heap, "text"), "'text'"},
           {Value::String(heap, ""), "''"},
       }) {
    const InstanceValue recorded = record.Record(value);
    EXPECT_EQ(recorded.kind, Kind::kLiteral) << literal;
    EXPECT_EQ(recorded.literal, literal);
  }
  EXPECT_EQ(record.Record(Value::Scalar(std::numeric_limits<double>::infinity())).kind, Kind::kUnknown);
  EXPECT_EQ(record.Record(Value::UnknownExtent(1)).kind, Kind::kUnknown);
  const InstanceValue pair =
      record.Record(Value::Tuple(heap, {Value::Integer(1), Value::Array(heap, {Value::Logical(true)})}));
  ASSERT_EQ(pair.kind, Kind::kTuple);
  EXPECT_EQ(pair.items[0].literal, "1");
  ASSERT_EQ(pair.items[1].kind, Kind::kArray);
  EXPECT_EQ(pair.items[1].items[0].literal, "true");
}

TEST(InstanceRecordTest, LimitOfValues) {
  InstanceRecord record = RecordWithRoom(1);
  EXPECT_EQ(record.Record(Value::Integer(7)).literal, "7");
  EXPECT_EQ(record.Record(Value::Integer(7)).kind, Kind::kUnknown);
  EXPECT_EQ(record.Add(), nullptr);
}

TEST(InstanceRecordTest, LimitOfInstances) {
  InstanceRecord record = RecordWithRoom(2);
  EXPECT_NE(record.Add(), nullptr);
  EXPECT_NE(record.Add(), nullptr);
  EXPECT_EQ(record.Add(), nullptr);
  EXPECT_EQ(record.instances().size(), 2u);
  EXPECT_EQ(record.Record(Value::Integer(7)).kind, Kind::kUnknown);
}

// A text counts its bytes, an array its items.
TEST(InstanceRecordTest, LimitWithinValues) {
  Heap heap(1000);
  EXPECT_EQ(RecordWithRoom(6).Record(Value::String(heap, "text")).literal, "'text'");
  EXPECT_EQ(RecordWithRoom(5).Record(Value::String(heap, "text")).kind, Kind::kUnknown);
  const Value pair = Value::Array(heap, {Value::Integer(1), Value::Integer(2)});
  EXPECT_EQ(RecordWithRoom(3).Record(pair).kind, Kind::kArray);
  EXPECT_EQ(RecordWithRoom(2).Record(pair).kind, Kind::kUnknown);
}

}  // namespace
}  // namespace nnefc::expand
