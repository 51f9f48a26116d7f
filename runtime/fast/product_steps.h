// What follows a product of matrices in its step, done on tiles of the result while a cache holds them.
#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/functions.h"
#include "runtime/fast/lanes/tile_functions.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Operations on the results of a product, in their order: sums and products with a number for each
// column or with as many numbers as there are results, functions of one element.
class ProductSteps {
 public:
  // Those of `posts`, of which columns are axis `channel_axis` of the result; nothing where one of them has
  // no translation.
  static std::optional<ProductSteps> Make(const KernelRequest& request, llvm::ArrayRef<PostOperation> posts,
                                          int64_t channel_axis);

  // What tiles begin and end with, which costs nothing: input kernel.inputs[*], -1 for none.
  int bias() const { return bias_; }
  int start() const { return start_; }
  const Limits& limits() const { return limits_; }

  // The operands in a run: of columns, with zeros behind the last one up to a whole tile; of elements, as the
  // result lies.
  struct Operands {
    std::vector<const float*> columns;  // by input; null for others
    std::vector<const float*> elements;

    // Of an input from a column or an element on; null for none, -1.
    const float* ColumnsOf(int input, int64_t column) const {
      return input < 0 ? nullptr : columns[static_cast<size_t>(input)] + column;
    }
    const float* ElementsOf(int input, int64_t offset) const {
      return input < 0 ? nullptr : elements[static_cast<size_t>(input)] + offset;
    }
  };
  // Those of a run with `columns` columns in whole tiles; numbers for each column are laid out in `scratch`,
  // of column_floats.
  Operands OperandsOf(const KernelRun& run, int64_t columns, float* scratch) const;
  int64_t column_floats(int64_t columns) const;
  // Whether what is left to be done takes more than numbers.
  bool takes_operands() const;
  // Inputs of the kernel that lie as the result does.
  llvm::ArrayRef<int> element_inputs() const { return element_inputs_; }

  // Where a tile lies: `out` is its place in the result, `offset` how far that is from the beginning,
  // `column` the number of its first column.
  struct Tile {
    BlockedMatrix<float> out;
    int64_t offset, column, rows, blocks;
  };
  // What is left to be done on a tile that bias, start and limits have been done on; zeros behind the last of
  // `columns` columns, which blocks are filled with, stay so.
  void Finish(const Tile& tile, int64_t columns, const Operands& operands) const;

 private:
  struct Step {
    TileFunction function;
    int operand = -1;         // of kAdd, kMultiply and kPRelu
    bool of_columns = false;  // a number for each column, otherwise as many as there are results
    float alpha = 0, beta = 0;
  };
  // Nothing for a function that tiles have not.
  static std::optional<Step> StepOf(const DnnFunction& function);
  bool Add(const KernelRequest& request, const PostOperation& post, int64_t channel_axis);
  void TakeFirstSteps();
  static void Apply(const Step& step, const Tile& tile, const Operands& operands);
  bool KeepsZero() const;

  int bias_ = -1, start_ = -1;
  Limits limits_;
  std::vector<Step> rest_;
  std::vector<int> column_inputs_, element_inputs_;
};

// A step of images (input 0), a filter (input 1) and what follows, in a run.
struct FilterCall {
  const float* in;
  const float* weights;
  float* out;
  ProductSteps::Operands operands;

  static FilterCall Of(const KernelRun& run, const ProductSteps& steps, int64_t channels);
};

// What such a step wants but for its kernel: images and result with their channels in blocks, so many of the
// latter, and the filter as it says.
PreparedKernel PrepareFilterStep(const KernelRequest& request, const ProductSteps& steps, int64_t channels,
                                 const Layout& filter);

}  // namespace nnefc::runtime
