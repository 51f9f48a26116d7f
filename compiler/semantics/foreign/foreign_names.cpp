// Lookup of operations and arguments by their names in other frameworks.

#include "compiler/semantics/foreign/foreign_names.h"

#include <functional>
#include <map>
#include <span>
#include <string>

#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::semantics::foreign {
namespace {

// The first row whose `ours` is a parameter of the operation counts.
constexpr ForeignName kParameters[] = {
    {"activation", "", "an activation is an operation of its own, such as `relu(y)`"},
    {"adjx", "transposeA", ""},
    {"adjy", "transposeB", ""},
    {"aligncorners", "method", "write `method = 'aligned'`"},
    {"axis", "axes", ""},
    {"begins", "begin", ""},
    {"start", "begin", ""},
    {"starts", "begin", ""},
    {"ends", "end", ""},
    {"stop", "end", ""},
    {"step", "stride", ""},
    {"steps", "stride", ""},
    {"beta", "offset", ""},
    {"gamma", "scale", ""},
    {"shift", "offset", ""},
    {"weight", "scale", ""},
    {"weight", "filter", ""},
    {"weights", "filter", ""},
    {"kernel", "filter", "a filter is [outputs, inputs, extents..]"},
    {"w", "filter", ""},
    {"biases", "bias", ""},
    {"b", "bias", ""},
    {"ceilmode", "", "windows at the end are cut off unless `padding` has room for them",
     ForeignRepair::kDropFalse},
    {"countincludepad", "border", "`border = 'ignore'` leaves the padding out of the average"},
    {"channels", "", "the extents of the tensors say it"},
    {"inchannels", "", "the extents of `filter` say it"},
    {"outchannels", "", "the extents of `filter` say it"},
    {"filters", "", "the extents of `filter` say it"},
    {"units", "", "the extents of `filter` say it"},
    {"numoutput", "", "the extents of `filter` say it"},
    {"dataformat", "", "tensors are [batch, channels, ..]; `transpose` brings others into that order",
     ForeignRepair::kDropChannelsFirst},
    {"layout", "", "tensors are [batch, channels, ..]; `transpose` brings others into that order",
     ForeignRepair::kDropChannelsFirst},
    {"dilationrate", "dilation", ""},
    {"dilations", "dilation", ""},
    {"rate", "dilation", ""},
    {"dim", "axis", ""},
    {"dim", "axes", ""},
    {"dims", "axes", ""},
    {"dims", "shape", ""},
    {"dtype", "", "the type stands behind the name of the operation, `external<integer>(..)`",
     ForeignRepair::kType},
    {"type", "", "the type stands behind the name of the operation, `external<integer>(..)`",
     ForeignRepair::kType},
    {"to", "", "the type stands behind the name of the operation, `cast<integer>(x)`", ForeignRepair::kType},
    {"eps", "epsilon", ""},
    {"group", "groups", ""},
    {"inplace", "", "every operation makes a new tensor", ForeignRepair::kDrop},
    {"training", "", "a document describes a network that is run", ForeignRepair::kDropFalse},
    {"momentum", "", "a document describes a network that is run", ForeignRepair::kDrop},
    {"initializer", "", "the data of a variable stand in a file that its `label` names"},
    {"keepdim", "", "a reduction keeps its dimensions with extent 1; `squeeze` removes them",
     ForeignRepair::kDropTrue},
    {"keepdims", "", "a reduction keeps its dimensions with extent 1; `squeeze` removes them",
     ForeignRepair::kDropTrue},
    {"kernelsize", "size", "it has an extent for each dimension, batch and channels too: `size = [1,1,3,3]`",
     ForeignRepair::kRename},
    {"kernelshape", "size", "it has an extent for each dimension, batch and channels too: `size = [1,1,3,3]`",
     ForeignRepair::kRename},
    {"ksize", "size", ""},
    {"poolsize", "size", "it has an extent for each dimension, batch and channels too: `size = [1,1,3,3]`",
     ForeignRepair::kRename},
    {"window", "size", ""},
    {"kernelsize", "", "the extents of `filter` say it"},
    {"kernelshape", "", "the extents of `filter` say it"},
    {"ksize", "", "the extents of `filter` say it"},
    {"size", "factor", "`factor` says by how much"},
    {"mode", "border", ""},
    {"mode", "method", ""},
    {"paddingmode", "border", ""},
    {"multiples", "repeats", ""},
    {"reps", "repeats", ""},
    {"name", "label", ""},
    {"name", "", "the name stands on the left of `=`", ForeignRepair::kDrop},
    {"negativeslope", "alpha", ""},
    {"slope", "alpha", ""},
    {"newshape", "shape", ""},
    {"targetshape", "shape", ""},
    {"outputshape", "shape", ""},
    {"numorsizesplits", "ratios", "it is an array of relative sizes, `ratios = [1,1]`"},
    {"numsplits", "ratios", "it is an array of relative sizes, `ratios = [1,1]`"},
    {"sections", "ratios", "it is an array of relative sizes, `ratios = [1,1]`"},
    {"sizes", "ratios", ""},
    {"splits", "ratios", ""},
    {"pad", "padding", ""},
    {"pads", "padding", ""},
    {"autopad", "padding", "`padding = []` pads so that the output has ceil(input / stride) extents"},
    {"padding", "", "it takes no padding; `pad(x, padding = ..)` pads"},
    {"perm", "axes", ""},
    {"permutation", "axes", ""},
    {"order", "axes", ""},
    {"runningmean", "mean", ""},
    {"movingmean", "mean", ""},
    {"runningvar", "variance", ""},
    {"movingvariance", "variance", ""},
    {"var", "variance", ""},
    {"scalefactor", "factor", ""},
    {"scales", "factor", ""},
    {"scale", "factor", ""},
    {"strides", "stride", ""},
    {"transa", "transposeA", ""},
    {"transb", "transposeB", ""},
    {"usebias", "bias", "without a `bias` none is added"},
    {"val", "value", ""},
    {"values", "value", ""},
    {"constantvalue", "value", ""},
    {"value", "values", ""},
    {"index", "indices", ""},
    {"indexes", "indices", ""},
    {"min", "a", ""},
    {"max", "b", ""},
    {"low", "a", ""},
    {"high", "b", ""},
    {"cond", "condition", ""},
    {"lhs", "x", ""},
    {"rhs", "y", ""},
    {"a", "x", ""},
    {"b", "y", ""},
    {"a", "A", ""},
    {"x", "input", ""},
    {"input", "x", ""},
    {"data", "input", ""},
    {"data", "x", ""},
    {"inputs", "values", ""},
    {"tensors", "values", ""},
    {"inputs", "input", ""},
    {"input", "value", ""},
    {"input", "values", ""},
    {"tensor", "input", ""},
    {"tensor", "x", ""},
};

constexpr ForeignName kValues[] = {
    {"true", "true", ""},
    {"false", "false", ""},
    {"yes", "true", ""},
    {"no", "false", ""},
    {"none", "", "there is no such value; an argument that has a default is left out", ForeignRepair::kDrop},
    {"null", "", "there is no such value; an argument that has a default is left out", ForeignRepair::kDrop},
    {"nil", "", "there is no such value; an argument that has a default is left out", ForeignRepair::kDrop},
    {"nullptr", "", "there is no such value; an argument that has a default is left out",
     ForeignRepair::kDrop},
    {"inf", "", "there is no literal for infinity"},
    {"infinity", "", "there is no literal for infinity"},
    {"nan", "", "there is no literal for a NaN"},
    {"pi", "", "write `3.14159265`"},
};

std::string Spelling(std::string_view name) {
  std::string spelling;
  for (char c : name) {
    if (c == '_') continue;
    spelling += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return spelling;
}

std::string_view WithoutDimensions(std::string_view spelling) {
  const size_t size = spelling.size();
  const bool has =
      size > 2 && spelling[size - 1] == 'd' && spelling[size - 2] >= '1' && spelling[size - 2] <= '3';
  return has ? spelling.substr(0, size - 2) : spelling;
}

using Index = std::map<std::string_view, llvm::SmallVector<const ForeignOperation*, 2>, std::less<>>;

// Returns an index of all tables by name; built once.
const Index& OperationIndex() {
  static const Index kIndex = [] {
    Index index;
    for (const std::span<const ForeignOperation> table :
         {ForeignArithmetic(), ForeignActivations(), ForeignWindows(), ForeignReductions(), ForeignShapes(),
          ForeignMatrices(), ForeignOthers()}) {
      for (const ForeignOperation& row : table) {
        for (const llvm::StringRef name :
             llvm::split(llvm::StringRef(row.names.data(), row.names.size()), ' '))
          index[std::string_view(name.data(), name.size())].push_back(&row);
      }
    }
    return index;
  }();
  return kIndex;
}

}  // namespace

bool IsSpelledSo(std::string_view theirs, std::string_view ours) {
  const std::string spelling = Spelling(theirs);
  const std::string wanted = Spelling(ours);
  return spelling == wanted || WithoutDimensions(spelling) == wanted;
}

llvm::SmallVector<const ForeignOperation*, 2> FindForeignOperations(std::string_view name) {
  const std::string spelling = Spelling(name);
  for (const std::string_view tried : {std::string_view(spelling), WithoutDimensions(spelling)}) {
    const auto found = OperationIndex().find(tried);
    if (found != OperationIndex().end()) return found->second;
  }
  return {};
}

std::string DescribeForeignOperations(std::string_view name, llvm::ArrayRef<const ForeignOperation*> rows) {
  std::string ways, missing, notes;
  for (const ForeignOperation* row : rows) {
    std::string suffix =
        rows.size() > 1 && !row->frameworks.empty() ? fmt::format(" ({})", row->frameworks) : "";
    const bool is_clause = row->note.starts_with("which ");
    if (is_clause) suffix += fmt::format(", {}", row->note);
    if (!is_clause && !row->note.empty() && notes.find(row->note) == std::string::npos)
      notes += fmt::format("; {}", row->note);
    if (row->is_known()) {
      const std::string_view code = row->formula.empty() ? row->ours : row->formula;
      ways += fmt::format("{}`{}`{}", ways.empty() ? "write " : " or ", code, suffix);
    } else {
      missing += fmt::format("{}NNEF has no `{}`{}", ways.empty() ? "" : "; ", name, suffix);
    }
  }
  return ways + missing + notes;
}

std::vector<std::string> OperationsIn(std::string_view formula) {
  std::vector<std::string> names;
  std::string word;
  for (const char c : formula) {
    const bool is_part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if ((c == '(' || c == '<') && !word.empty()) names.push_back(word);
    if (is_part) {
      word += c;
    } else {
      word.clear();
    }
  }
  return names;
}

const ForeignName* FindForeignParameter(std::string_view name,
                                        llvm::function_ref<bool(std::string_view)> has) {
  const std::string spelling = Spelling(name);
  for (const ForeignName& foreign : kParameters) {
    if (foreign.theirs == spelling && (foreign.ours.empty() || has(foreign.ours))) return &foreign;
  }
  return nullptr;
}

bool IsForeignParameter(std::string_view name) {
  const std::string spelling = Spelling(name);
  return llvm::any_of(kParameters, [&](const ForeignName& foreign) { return foreign.theirs == spelling; });
}

const ForeignName* FindForeignValue(std::string_view name) {
  const std::string spelling = Spelling(name);
  for (const ForeignName& foreign : kValues) {
    if (foreign.theirs == spelling) return &foreign;
  }
  return nullptr;
}

}  // namespace nnefc::semantics::foreign
