#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/support/ids.h"
#include "compiler/syntax/ast.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

namespace nnefc::semantics {

struct SemTypeTag;
// An interned type; equal types have equal ids.
using TypeId = TypedId<SemTypeTag>;

// Kinds of types. The provisional dialect's `extent` is kInteger; its `tensor` is a tensor of kAny. Its data
// types `scalar`, `logical` and `coordinate` are checked where an operation's declaration implies them.
enum class TypeKind : uint8_t {
  kError,  // type of a reported error; compatible with everything
  kInteger,
  kScalar,
  kLogical,
  kString,
  kGeneric,  // the `?` of a generic fragment
  kTensor,   // element(): kInteger.., kGeneric, or kAny for `tensor<>`
  kAny,      // element of `tensor<>`, item of the empty array `[]`
  kArray,
  kTuple,
};

// Interns types. A document's table begins with that of its library, so ids of the library's types are valid
// in it.
class TypeTable {
 public:
  // Limits for the types of a document, such as `[[[..]]]` or `b = (a, a); c = (b, b); ..`. The checker
  // reports larger ones, so that every walk over a type is short.
  static constexpr uint32_t kMaxDepth = 1024;
  static constexpr uint32_t kMaxSize = 4096;

  TypeTable();
  // Creates a table that begins with the types of `base`. `base` must outlive it.
  static std::unique_ptr<TypeTable> Over(const TypeTable& base);
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  TypeId Primitive(TypeKind kind) const;  // kError .. kGeneric, kAny
  // Return the type with that element, item or items. A type that contains an error type is an error type.
  TypeId Tensor(TypeId element);
  TypeId Array(TypeId item);
  TypeId Tuple(llvm::ArrayRef<TypeId> items);

  TypeKind Kind(TypeId type) const { return types_[type].kind; }
  TypeId Element(TypeId type) const;                // type must be a tensor
  TypeId Item(TypeId type) const;                   // type must be an array
  llvm::ArrayRef<TypeId> Items(TypeId type) const;  // type must be a tuple
  // Return true if a tensor, or `?`, is anywhere in the type.
  bool ContainsTensor(TypeId type) const { return types_[type].contains_tensor; }
  bool ContainsGeneric(TypeId type) const { return types_[type].contains_generic; }
  // Returns true if all values in it are tensors: `tensor<scalar>`, `tensor<scalar>[]`,
  // `(tensor<scalar>,tensor<integer>)`.
  bool OnlyTensors(TypeId type) const { return types_[type].only_tensors; }
  // Returns true if `tensor<>` is in it.
  bool ContainsUnbound(TypeId type) const { return types_[type].contains_unbound; }
  // Returns true if the type respects kMaxDepth and kMaxSize.
  bool WithinBounds(TypeId type) const {
    return types_[type].depth <= kMaxDepth && types_[type].size <= kMaxSize;
  }
  // Returns the type in the spelling of `dialect`: "tensor<scalar>", "extent[]", "(integer,integer)[]".
  std::string Text(TypeId type, const ast::Dialect& dialect) const;
  // Returns the type with `?` replaced by `generic`.
  TypeId Substitute(TypeId type, TypeId generic);

 private:
  struct Entry {
    TypeKind kind;
    bool contains_tensor = false;
    bool contains_generic = false;
    bool only_tensors = false;
    bool contains_unbound = false;
    uint32_t depth = 1;
    uint32_t size = 1;
    llvm::ArrayRef<TypeId> parts = {};
  };
  TypeId Intern(TypeKind kind, llvm::ArrayRef<TypeId> parts);
  void AppendText(TypeId type, const ast::Dialect& dialect, std::string& text) const;

  ValueStore<TypeId, Entry> types_;
  llvm::DenseMap<uint64_t, llvm::SmallVector<TypeId, 1>> by_hash_;
  llvm::BumpPtrAllocator allocator_;
};

}  // namespace nnefc::semantics
