// The interface of libnnefc_onednn.so, which is the only part of nnefc that calls oneDNN. All types are ours,
// and exceptions do not cross it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/gemm/function_kind.h"
#include "runtime/fast/memory/blocked_format.h"

namespace nnefc::runtime::onednn::library {

enum class PrimitiveKind : uint8_t {
  kConvolution,
  kDeconvolution,
  kMatmul,
  kInnerProduct,
  kPooling,
  kFunction,  // of each element
  kBinary,
  kLrn,  // across channels
  kBatchNorm,
  kReorder,
};

enum class PrimitiveAlgorithm : uint8_t {
  kDirect,  // of convolutions
  kAuto,    // any algorithm, such as Winograd
  kMaximum,
  kAverageIncludingPadding,
  kAverageExcludingPadding,
};

// An operation on each element of the result of a primitive.
struct PrimitivePostOp {
  enum class Kind : uint8_t {
    kFunction,
    kBinary,  // with an operand: argument `kPostOperand`
    kSum,     // adds scale * (r - zero), for the previous content r of the result
  };

  Kind kind;
  fast::gemm::FunctionKind function = fast::gemm::FunctionKind::kAdd;
  float alpha = 0, beta = 0;  // of kFunction
  fast::memory::BlockedFormat operand = {};
  float scale = 1;
  int zero = 0;
};

// The roles of the memories of a primitive.
struct PrimitiveArgument {
  enum class Role : uint8_t {
    kSource,  // by index if there are several
    kWeights,
    kBias,
    kResult,
    kScale,  // of a batch normalization, like the next ones
    kShift,
    kMean,
    kVariance,
    kPostOperand,  // operand of the post-op with this index
    kScratch,
  };

  Role role;
  int index = 0;
};

// A description of a primitive. Members that the kind does not use keep their defaults; a format of rank 0
// means that there is no such argument.
struct PrimitiveRequest {
  PrimitiveKind kind;
  PrimitiveAlgorithm algorithm = PrimitiveAlgorithm::kAuto;
  std::vector<fast::memory::BlockedFormat> sources = {};
  fast::memory::BlockedFormat weights = {}, bias = {}, result = {};
  // Per spatial axis. Dilations count the skipped elements: 0 for none.
  std::vector<int64_t> strides = {}, dilations = {}, before = {}, after = {}, window = {};
  fast::gemm::FunctionKind function = fast::gemm::FunctionKind::kAdd;  // kFunction and kBinary
  float alpha = 0, beta = 0;                                           // kFunction, kLrn
  float offset = 0;   // kLrn: added to the scaled sum of squares
  float epsilon = 0;  // kBatchNorm
  int64_t size = 0;   // kLrn: channels
  std::vector<PrimitivePostOp> posts = {};
  // Scales of the accumulators, with the axes that they belong to as bits.
  std::vector<float> scales = {};
  int scale_axes = 0;
  int32_t source_zero = 0;  // zero point of the first source
};

// The memories of a primitive in one session.
class PrimitiveCall {
 public:
  virtual ~PrimitiveCall() = default;
  // Runs the primitive with one address per argument, in the order of Primitive::NewCall. Returns an error
  // message, or an empty text.
  virtual std::string Run(llvm::ArrayRef<void*> addresses) = 0;
};

// A computation of oneDNN. Immutable and shared by sessions.
class Primitive {
 public:
  virtual ~Primitive() = default;
  // Returns oneDNN's name of the implementation.
  virtual std::string implementation() const = 0;
  // Returns the format that oneDNN has chosen for an argument.
  virtual fast::memory::BlockedFormat format(const PrimitiveArgument& argument) const = 0;
  virtual size_t scratch_bytes() const = 0;

  struct BoundArgument {
    PrimitiveArgument argument;
    fast::memory::BlockedFormat format;
  };
  virtual std::unique_ptr<PrimitiveCall> NewCall(llvm::ArrayRef<BoundArgument> arguments) const = 0;
};

class OneDnnLibrary {
 public:
  // Returns null if oneDNN has no such primitive.
  virtual std::shared_ptr<const Primitive> Create(const PrimitiveRequest& request) const = 0;

  // The operands of out += left * right^T. Rows of `left` and `out` are contiguous.
  struct Product {
    int64_t rows, columns, terms;
    const float* left;
    const float* right;
    int64_t right_stride;
    float* out;
  };
  // Returns an error message, or an empty text.
  virtual std::string MultiplyAdd(const Product& product) const = 0;

  // Returns the version and the instructions in use.
  virtual std::string Describe() const = 0;

 protected:
  ~OneDnnLibrary() = default;
};

// The threads of the caller, on which oneDNN's parallel loops run (runtime/tensor/thread_team.h).
struct TeamFunctions {
  bool (*is_in_scope)();
  int (*threads)();  // of the scope
  int (*members)();  // of the running team
  int (*member)();   // index of the calling thread in the team
  bool (*is_in_team)();
  // Calls work(data) once per member, and returns when all calls have returned.
  void (*run)(int members, void (*work)(void*), void* data);
  void (*wait)();  // for all members
};

// The only function that the library exports for nnefc, as `nnefc_onednn_open`.
using OpenOneDnn = const OneDnnLibrary* (*)(const TeamFunctions& team);

}  // namespace nnefc::runtime::onednn::library
