// The lint checks of variables: their labels, and the tensor files of the model.

#include <map>
#include <set>

#include "compiler/driver/data/variable_data.h"
#include "compiler/driver/rules.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

struct Variable {
  std::string label;
  SourceRange label_range;  // of a literal label, otherwise that of the statement
  SourceRange site;
  std::shared_ptr<const ir::Frame> frame;
  ElementType type;
  Shape shape;
};

std::string LowerCase(std::string_view text) {
  return llvm::StringRef(text.data(), text.size()).lower();
}

// Returns whether items of the file can be converted to the type of a variable (R 5.2.1).
bool FitsType(const package::DatHeader& dat, ElementType type) {
  const bool is_plain = dat.coding == package::DatCoding::kPlain;
  const bool is_integer =
      is_plain && (dat.items == package::DatItems::kUnsigned || dat.items == package::DatItems::kSigned);
  // Integers stand for logicals in provisional files, and where they have one bit.
  const bool may_be_logical =
      is_integer && (dat.format == package::DatHeader::Format::kProvisional || dat.bits == 1);
  switch (type) {
    case ElementType::kF32:
      return !is_plain || dat.items == package::DatItems::kFloat;
    case ElementType::kI64:
      return is_integer;
    case ElementType::kBoolean:
      return (is_plain && dat.items == package::DatItems::kBool) || may_be_logical;
    default:
      return true;
  }
}

// A comparison of a document's variables with each other and with the tensor files.
class Data {
 public:
  explicit Data(Subject& subject) : subject_(subject), model_(subject.model) {}

  void Find() {
    Collect();
    FindCharacters();
    FindCase();
    if (model_ != nullptr && model_->has_weights()) {
      FindMissing();
      // An invalid variable may have that label.
      if (subject_.is_right) FindStray();
      FindConflicts();
    } else if (model_ != nullptr) {
      driver::ReportNoTensorFiles(subject_.graph, *model_, subject_.context);
    }
  }

 private:
  void Collect() {
    for (const auto& [site, nodes] : subject_.sites()) {
      if (subject_.HasMistake({subject_.document.file, site.first, site.second})) continue;
      for (ir::NodeId id : nodes) {
        const ir::Node& node = subject_.graph.node(id);
        if (!node.Is(ir::OpRole::kVariable)) continue;
        const SourceRange range{subject_.document.file, site.first, site.second};
        const ir::Output& output = node.output();
        if (!output.shape.known()) continue;  // after a mistake
        variables_.push_back({.label = node.attribute("label").AsString(),
                              .label_range = range,
                              .site = range,
                              .frame = node.origin().frame,
                              .type = output.type,
                              .shape = output.shape.known_extents()});
      }
    }
    // Diagnostics point to literal labels.
    std::map<std::pair<uint32_t, uint32_t>, SourceRange> literals;
    const ast::Document& document = subject_.document;
    for (size_t i = 0; i < document.exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      if (subject_.StandardCallee(id) != "variable") continue;
      const ast::ExprId label = subject_.ArgumentOf(id, "label");
      if (!label.valid() || !std::holds_alternative<ast::StringLiteral>(document.exprs[label].node)) continue;
      const SourceRange whole = document.exprs[id].range;
      literals[{whole.begin, whole.end}] = document.exprs[label].range;
    }
    for (Variable& variable : variables_) {
      auto found = literals.find({variable.site.begin, variable.site.end});
      if (found != literals.end()) variable.label_range = found->second;
    }
  }

  bool any_label() const { return subject_.checked.dialect().any_label; }

  // Reports characters of labels: P 4.1.3 allows any, R 4.1.3 letters, digits and `_-./\`.
  void FindCharacters() {
    if (!subject_.checked.dialect().translated) return;
    std::set<std::string> reported;
    for (const Variable& variable : variables_) {
      const auto wrong = llvm::find_if_not(variable.label, ir::ops::IsLabelCharacter);
      if (wrong == variable.label.end() || !reported.insert(variable.label).second) continue;
      subject_.Report(kLabelCharacters, variable.label_range,
                      "label `{}` contains `{}`, which the ratified dialect does not take", variable.label,
                      *wrong);
    }
  }

  // Reports labels that differ only in case. R 4.1.3: they are equal, but files are found by their exact
  // spelling. P 4.1.3: they are different.
  void FindCase() {
    std::map<std::string, const Variable*> first;
    for (const Variable& variable : variables_) {
      auto [entry, is_new] = first.try_emplace(LowerCase(variable.label), &variable);
      if (is_new || entry->second->label == variable.label) continue;
      DiagnosticBuilder builder = subject_.Report(
          kLabelCase, variable.label_range, "label `{}` differs from `{}` by case alone, {}", variable.label,
          entry->second->label,
          any_label() ? "which makes both one variable in the ratified dialect; write other labels"
                      : "so that both are one variable; use the same spelling");
      if (variable.label_range != variable.site && !any_label())
        builder.Fix(variable.label_range, fmt::format("'{}'", entry->second->label));
      builder.Note(entry->second->label_range, "the other one");
    }
  }

  void FindMissing() {
    std::map<std::string, std::string> by_case;
    for (const std::string& label : model_->Labels()) by_case.emplace(LowerCase(label), label);
    for (const Variable& variable : variables_) {
      if (model_->HasVariable(variable.label)) continue;
      const auto near = by_case.find(LowerCase(package::WithoutSlashes(variable.label)));
      if (near != by_case.end()) {
        subject_.Report(
            kVariableWithoutData, variable.label_range,
            "the model has no `{}.dat`, but a `{}.dat`; use the same spelling for the label and the "
            "file",
            variable.label, near->second);
        continue;
      }
      subject_
          .Report(kVariableWithoutData, variable.label_range,
                  "the model has no data for variable `{0}`; add `{0}.dat`", variable.label)
          .Notes(ir::StackNotes(variable.frame));
    }
  }

  void FindStray() {
    std::set<std::string> labels;
    for (const Variable& variable : variables_) {
      labels.emplace(package::WithoutSlashes(variable.label));
      labels.insert(LowerCase(package::WithoutSlashes(variable.label)));
    }
    for (const std::string& label : model_->Labels()) {
      if (labels.contains(label) || labels.contains(LowerCase(label))) continue;
      subject_.Report(kDataWithoutVariable, {}, "{}: no variable has the label of `{}.dat`; remove the file",
                      model_->name(), label);
    }
  }

  void FindConflicts() {
    if (!subject_.enabled(kDataShape) && !subject_.enabled(kDataType)) return;
    std::set<std::string> reported;
    for (const Variable& variable : variables_) {
      if (!model_->HasVariable(variable.label) || !reported.insert(variable.label).second) continue;
      const std::optional<package::DatHeader> dat =
          model_->ReadVariableHeader(variable.label, subject_.context.emitter);
      if (!dat) continue;  // already reported
      if (!subject_.has_trial_extents && dat->shape != variable.shape) {
        subject_
            .Report(kDataShape, variable.label_range,
                    "`{}.dat` holds a tensor of shape {}; the document says {}, change one of them",
                    variable.label, ToString(dat->shape), ToString(variable.shape))
            .Notes(ir::StackNotes(variable.frame));
      }
      if (!FitsType(*dat, variable.type)) {
        subject_
            .Report(kDataType, variable.label_range,
                    "`{}.dat` holds {}; a variable of `{}` cannot be read from them, change one of them",
                    variable.label, package::DescribeItems(*dat), ir::ops::DataTypeName(variable.type))
            .Notes(ir::StackNotes(variable.frame));
      }
    }
  }

  Subject& subject_;
  const package::ModelContainer* model_;
  std::vector<Variable> variables_;
};

}  // namespace

void LintData(Subject& subject) {
  Data(subject).Find();
}

}  // namespace nnefc::lint
