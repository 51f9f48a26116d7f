// The lint check of window lists (size, stride, padding) that affect the batch or the channels by mistake.

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"

namespace nnefc::lint {
namespace {

using Integers = llvm::ArrayRef<int64_t>;

std::string Listed(Integers items) {
  return ToString(Shape(items.begin(), items.end()));
}

// A search for windows over all axes that affect the batch, or the channels instead of the last axis: lists
// for only the spatial axes, or in the order [batch, extents.., channels].
class Windows {
 public:
  explicit Windows(Subject& subject) : subject_(subject), graph_(subject.graph) {}

  void Find() {
    for (const auto& [range, nodes] : subject_.sites()) {
      for (ir::NodeId id : nodes) {
        const ir::Node& node = graph_.node(id);
        const bool has_window =
            node.set() == ir::kNnefSet && node.info().provisional == ir::ProvisionalForm::kBox;
        if (has_window && Look(node)) break;  // once for all instantiations
      }
    }
  }

 private:
  // Reports a node if suspicious; returns whether it did.
  bool Look(const ir::Node& node) {
    // With two axes, both may be spatial.
    constexpr size_t kMinRank = 3;
    const ir::Attribute::Integers size = node.attribute("size").AsInts();
    if (size.size() < kMinRank) return false;
    for (std::string_view list : {"size", "stride", "padding"}) {
      if (const std::optional<std::vector<int64_t>> reach = ReachOf(node, list, size.size());
          reach && Look(node, list, *reach, size))
        return true;
    }
    return false;
  }

  // Returns for each axis the item of a list that acts on it, 1 for no effect. Returns nothing if the list is
  // omitted or the operation has none.
  static std::optional<std::vector<int64_t>> ReachOf(const ir::Node& node, std::string_view list,
                                                     size_t rank) {
    const ir::Attribute* attribute = node.attributes().Find(list);
    if (attribute == nullptr) return std::nullopt;
    std::vector<int64_t> reach;
    if (list == "padding") {
      for (const auto& [before, after] : attribute->AsPairs())
        reach.push_back(before != 0 || after != 0 ? 2 : 1);
    } else {
      const ir::Attribute::Integers items = attribute->AsInts();
      reach.assign(items.begin(), items.end());
    }
    return reach.size() == rank ? std::optional(std::move(reach)) : std::nullopt;
  }

  bool Look(const ir::Node& node, std::string_view list, Integers reach, Integers size) {
    if (reach[0] > 1) return Report(node, list, reach, "batch", RightOfPartial(list, reach));
    // A window over only the channels is a normalization across them.
    const bool is_last_left = reach.back() == 1;
    const bool in_nhwc = reach.size() > 3 && reach[1] > 1 && reach[2] > 1 && is_last_left;
    const bool without_window = reach[1] > 1 && size[1] == 1 && list != "size";
    if (in_nhwc || without_window) return Report(node, list, reach, "channels", RightOfNhwc(list, reach));
    return false;
  }

  // Converts [2,2,1,1] to [1,1,2,2]: moves the leading items to the spatial axes.
  static std::string RightOfPartial(std::string_view list, Integers reach) {
    const size_t spatial = reach.size() - 2;
    for (size_t i = spatial; i < reach.size(); ++i) {
      if (reach[i] != 1) return "";
    }
    std::vector<int64_t> right(2, 1);
    right.insert(right.end(), reach.begin(), reach.begin() + static_cast<ptrdiff_t>(spatial));
    return list == "padding" ? "" : Listed(right);
  }

  // Converts [1,2,2,1] to [1,1,2,2]: moves the last item, for the channels, to the second axis.
  static std::string RightOfNhwc(std::string_view list, Integers reach) {
    if (reach.back() != 1 || list == "padding") return "";
    std::vector<int64_t> right = {reach[0], reach.back()};
    right.insert(right.end(), reach.begin() + 1, reach.end() - 1);
    return Listed(right);
  }

  bool Report(const ir::Node& node, std::string_view list, Integers reach, std::string_view axes,
              const std::string& right) {
    const std::string found = list == "padding" ? "" : fmt::format(" is {} and", Listed(reach));
    subject_.Report(kWindowAxes, subject_.SiteOf(node),
                    "`{}` of `{}`{} acts on the {}; its items are for [batch, channels, extents..]{}", list,
                    node.type(), found, axes,
                    right.empty() ? ", of which the first two are mostly 1, or (0, 0) for padding"
                                  : fmt::format("; for the extents alone write {}", right));
    return true;
  }

  Subject& subject_;
  const ir::Graph& graph_;
};

}  // namespace

void LintWindows(Subject& subject) {
  if (!subject.is_right) return;  // shapes may be missing
  Windows(subject).Find();
}

}  // namespace nnefc::lint
