#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::expand {

// An evaluation error; the machine adds the source range and the stack. A fatal one (a limit) ends the
// expansion.
struct Fault {
  const Rule* rule = nullptr;
  std::string message;
  bool fatal = false;
  // For an operation's argument: its ratified name, and the item in error. For a subscript: 0 for its index
  // or begin, 1 for its end.
  std::string_view argument = {};
  int64_t item = -1;

  template <typename... Args>
  static Fault Of(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    return {.rule = &rule, .message = fmt::format(format, std::forward<Args>(args)...)};
  }
  Fault&& At(std::string_view name, int64_t index = -1) && {
    argument = name;
    item = index;
    return std::move(*this);
  }
};

// Kinds of values. The order matters for comparisons: poison and unknown extents come first.
enum class ValueKind : uint8_t {
  kPoison,         // result of a reported error
  kUnknownExtent,  // an extent that an external leaves open, from `shape_of`
  kInteger,
  kScalar,
  kLogical,
  kString,
  kTensor,  // an output of a node
  kArray,
  kTuple,
};

struct Storage;

// Counts the live array items and string bytes, and frees storage without recursion, however deeply arrays
// nest.
class Heap {
 public:
  explicit Heap(int64_t limit) : limit_(limit) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Returns true if `count` more items fit in the limit; otherwise fills `fault`.
  bool Reserve(int64_t count, Fault& fault);
  // Adds `count` items to the live ones; negative to remove them.
  void Charge(int64_t count) { live_ += count; }
  int64_t live() const { return live_; }
  int64_t limit() const { return limit_; }
  // Work done by copying and comparing, in items; the machine charges it as steps.
  int64_t work = 0;

 private:
  friend void Release(Storage* storage);
  int64_t limit_;
  int64_t live_ = 0;
  bool collecting_ = false;
  std::vector<Storage*> garbage_;
};

// A compile-time value: an integer, scalar, logical or string, a tensor of the graph, or an array or tuple of
// values. Arrays and strings are slices of shared immutable storage, so `v[1:]` copies nothing. A primitive
// value passed for a tensor (`bias = 0.0`) keeps its value and is tensor_typed().
class Value {
 public:
  Value() = default;
  static Value Integer(int64_t value);
  static Value Scalar(double value);
  static Value Logical(bool value);
  // Short texts of the document itself are not charged (`charged` is false).
  static Value String(Heap& heap, std::string text, bool charged = true);
  static Value Tensor(ir::OutputPort port);
  // An extent without a known value, and a symbolic extent with one. Symbols are numbered from 1; 0: the
  // extent is not symbolic.
  static Value UnknownExtent(uint32_t symbol = 0);
  static Value KnownExtent(uint32_t symbol, int64_t extent);
  static Value Array(Heap& heap, std::vector<Value> items, bool charged = true);
  static Value Tuple(Heap& heap, std::vector<Value> items, bool charged = true);

  Value(const Value& other) : Value(other, 0) {
    if (kind_ >= ValueKind::kString && HasStorage()) Retain();
  }
  Value(Value&& other) noexcept : Value(other, 0) { other.kind_ = ValueKind::kPoison; }
  Value& operator=(Value other) noexcept {
    Swap(other);
    return *this;
  }
  ~Value() {
    if (kind_ >= ValueKind::kString && HasStorage()) Drop();
  }

  ValueKind kind() const { return kind_; }
  bool poison() const { return kind_ == ValueKind::kPoison; }
  bool primitive() const { return kind_ >= ValueKind::kInteger && kind_ <= ValueKind::kString; }
  bool sequence() const { return kind_ == ValueKind::kArray || kind_ == ValueKind::kTuple; }
  // Returns true for a tensor of the graph, or a literal used as one.
  bool tensor() const { return kind_ == ValueKind::kTensor || tensor_typed_; }
  bool tensor_typed() const { return tensor_typed_; }
  // Returns a primitive value marked as tensor_typed(); others unchanged.
  Value AsTensor() const;
  // Returns true for an array whose items are the elements of a tensor that is known during compilation:
  // operators on it are those of tensors, where those on arrays of the language would append and repeat.
  bool folded_tensor() const { return folded_tensor_; }
  // Returns an array with or without that property; other values unchanged.
  Value WithFoldedTensor(bool is_tensor) const {
    Value result(*this);
    result.folded_tensor_ = is_tensor && kind_ == ValueKind::kArray;
    return result;
  }

  int64_t integer() const { return integer_; }
  // Returns the symbol of an integer or an unknown extent, or 0.
  uint32_t symbol() const { return begin_; }
  double scalar() const { return scalar_; }
  bool logical() const { return logical_; }
  std::string_view text() const;
  ir::OutputPort port() const { return {ir::NodeId(port_.node), port_.index}; }
  // Returns the number of items, or of bytes of a string.
  int64_t length() const { return length_; }
  llvm::ArrayRef<Value> items() const;
  const Value& item(int64_t index) const { return items()[static_cast<size_t>(index)]; }
  // Returns the items or bytes [begin, end) without a copy.
  Value Slice(int64_t begin, int64_t end) const;
  // Returns true if every item is a tensor() (computed when the array was created).
  bool all_tensors() const;

 private:
  Value(const Value& other, int)
      : kind_(other.kind_),
        tensor_typed_(other.tensor_typed_),
        folded_tensor_(other.folded_tensor_),
        begin_(other.begin_),
        length_(other.length_),
        integer_(other.integer_) {}
  static Value Sequence(ValueKind kind, Heap& heap, std::vector<Value> items, bool charged);
  bool HasStorage() const {
    return (kind_ == ValueKind::kString || kind_ == ValueKind::kArray || kind_ == ValueKind::kTuple) &&
           storage_ != nullptr;
  }
  void Retain();
  void Drop();
  void Swap(Value& other) {
    std::swap(kind_, other.kind_);
    std::swap(tensor_typed_, other.tensor_typed_);
    std::swap(folded_tensor_, other.folded_tensor_);
    std::swap(begin_, other.begin_);
    std::swap(length_, other.length_);
    std::swap(integer_, other.integer_);
  }

  struct Port {
    int32_t node;
    int32_t index;
  };
  ValueKind kind_ = ValueKind::kPoison;
  bool tensor_typed_ = false;
  bool folded_tensor_ = false;
  uint32_t begin_ = 0;
  uint32_t length_ = 0;
  union {
    int64_t integer_ = 0;
    double scalar_;
    bool logical_;
    Port port_;
    Storage* storage_;
  };
};
static_assert(sizeof(Value) == 24);

// Returns the kind in terms of both dialects: "a whole number", "an array".
std::string_view KindText(const Value& value);

// Returns true for an extent that a symbol stands for, of a known value or not.
inline bool IsSymbolic(const Value& value) {
  return (value.kind() == ValueKind::kInteger || value.kind() == ValueKind::kUnknownExtent) &&
         value.symbol() != 0;
}

// Compares deeply, as `==` and `in` do. Tensors are equal if they are the same output. Returns nothing if the
// result depends on an unknown extent.
std::optional<bool> Equal(const Value& a, const Value& b, Heap& heap);
// Returns true if a and b may be compared; an integer and a scalar, for example, may not. An unknown extent
// is an integer.
bool Comparable(const Value& a, const Value& b);

// OpenExtent returns the fault for an unknown extent. WrongValue returns that fault if `value` is one,
// otherwise a fault with `message`.
Fault OpenExtent();
Fault WrongValue(const Value& value, std::string_view message);

// Returns the shortest literal that reads back as the same double: `0.5`, `1.0`.
std::string ScalarText(double value);

}  // namespace nnefc::expand
