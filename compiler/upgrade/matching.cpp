// A comparison of two graphs that ignores the names of tensors.

#include "compiler/upgrade/matching.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::upgrade {
namespace {

std::string NameOf(const ir::Graph& graph, ir::OutputPort port) {
  const std::vector<std::string>& names = graph.output(port).names;
  return names.empty() ? std::string() : names.front();
}

}  // namespace

bool Matching::IsSame(ir::OutputPort before, ir::OutputPort after) const {
  const std::string old_name = NameOf(before_, before);
  const std::string new_name = NameOf(after_, after);
  if (old_name.empty() || new_name.empty()) {
    // Literals used as tensors.
    const ir::Node& left = before_.node(before.node);
    const ir::Node& right = after_.node(after.node);
    return old_name.empty() && new_name.empty() && left.Is(ir::OpRole::kConstant) &&
           right.Is(ir::OpRole::kConstant) && left.attributes() == right.attributes();
  }
  auto found = names_.find(old_name);
  return (found == names_.end() ? old_name : found->second) == new_name;
}

bool Matching::HasSameAttributes(const ir::Node& before, const ir::Node& after) const {
  if (!before.Is(ir::OpRole::kVariable)) return before.attributes() == after.attributes();
  ir::AttributeMap ratified = before.attributes();
  ratified.Erase(ir::ops::kExactLabel);
  ratified.Set("label", labels_.Of(before));
  return ratified == after.attributes();
}

bool Matching::Match(ir::NodeId before, ir::NodeId after) {
  const ir::Node& left = before_.node(before);
  const ir::Node& right = after_.node(after);
  const bool same = left.op() == right.op() && left.num_inputs() == right.num_inputs() &&
                    left.num_outputs() == right.num_outputs() && left.segments() == right.segments() &&
                    HasSameAttributes(left, right) && left.bodies().empty() &&
                    llvm::all_of(llvm::zip_first(left.inputs(), right.inputs()), [&](const auto& pair) {
                      return IsSame(std::get<0>(pair), std::get<1>(pair));
                    });
  if (!same) return false;
  for (int32_t i = 0; i < left.num_outputs(); ++i)
    names_[NameOf(before_, {before, i})] = NameOf(after_, {after, i});
  return true;
}

bool Matching::MatchEnds() const {
  auto same_parameter = [&](const auto& pair) {
    const auto [before, after] = pair;
    return printed_.Of(before_.node(before).name()) == after_.node(after).name();
  };
  auto same_result = [&](const auto& pair) {
    const ir::Node& before = before_.node(std::get<0>(pair));
    const ir::Node& after = after_.node(std::get<1>(pair));
    return printed_.Of(before.name()) == after.name() && IsSame(before.input(0), after.input(0)) &&
           printed_.Of(NameOf(before_, before.input(0))) == NameOf(after_, after.input(0));
  };
  return printed_.Of(before_.name()) == after_.name() &&
         before_.parameters().size() == after_.parameters().size() &&
         before_.results().size() == after_.results().size() &&
         llvm::all_of(llvm::zip_first(before_.parameters(), after_.parameters()), same_parameter) &&
         llvm::all_of(llvm::zip_first(before_.results(), after_.results()), same_result);
}

std::map<std::string, std::string> Matching::Renamed() const {
  std::map<std::string, std::string> renamed;
  for (const auto& entry : names_) {
    if (entry.first() != entry.second) renamed[entry.first().str()] = entry.second;
  }
  return renamed;
}

}  // namespace nnefc::upgrade
