// Links to sections of the NNEF specification on the web.

#include <algorithm>
#include <iterator>

#include "compiler/language/queries.h"
#include "fmt/format.h"

namespace nnefc::language {
namespace {

constexpr std::string_view kSpecification = "https://registry.khronos.org/NNEF/specs/1.0/nnef-1.0.5.html";

// A section of the ratified specification and its anchor.
struct Anchor {
  std::string_view section;
  std::string_view id;
};
constexpr Anchor kAnchors[] = {
    {"3", "formal-description"},
    {"3.1", "lexical-elements"},
    {"3.2", "syntax"},
    {"3.2.1", "graph"},
    {"3.2.2", "op-declaration"},
    {"3.2.3", "operator-expressions"},
    {"3.2.4", "document"},
    {"3.3", "semantics"},
    {"3.3.1", "type-system"},
    {"3.3.2", "fragment-definition-invocation"},
    {"3.3.3", "expression-building"},
    {"3.3.4", "exported-ids"},
    {"4", "primitives"},
    {"4.1", "introduction-ops"},
    {"4.1.1", "external-op"},
    {"4.1.2", "constant-op"},
    {"4.1.3", "variable-op"},
    {"4.2", "elementwise-ops"},
    {"4.2.1", "unary-ops"},
    {"4.2.2", "binary-ops"},
    {"4.2.3", "select-op"},
    {"4.2.4", "_simplifier_operations"},
    {"4.3", "sliding-ops"},
    {"4.3.1", "convolution-ops"},
    {"4.3.2", "box-ops"},
    {"4.3.3", "_index_based_sampling"},
    {"4.3.4", "up-down-sample"},
    {"4.4", "reduce-ops"},
    {"4.5", "shape-ops"},
    {"4.5.1", "reshape"},
    {"4.5.2", "transpose-op"},
    {"4.5.3", "_splitting_and_concatenation"},
    {"4.5.4", "_slicing"},
    {"4.5.5", "_padding"},
    {"4.5.6", "_tiling"},
    {"4.5.7", "gather-op"},
    {"4.5.8", "cast-op"},
    {"4.6", "roi-ops"},
    {"4.6.1", "roi-pool"},
    {"4.6.2", "roi-resize"},
    {"4.7", "matmul-op"},
    {"4.8", "update-op"},
    {"4.9", "stdlib"},
    {"4.9.1", "activation-functions"},
    {"4.9.2", "linear-operations"},
    {"4.9.3", "pooling-operations"},
    {"4.9.4", "normalization-operations"},
    {"4.9.5", "quantization-operations"},
    {"4.9.6", "misc-operations"},
    {"5", "storing-data"},
    {"5.1", "container-structure"},
    {"5.2", "tensor-data-format"},
    {"5.2.1", "data-type-item-type-mapping"},
    {"5.3", "quantization-format"},
    {"6", "document-validity"},
    {"7", "quantization"},
    {"7.1", "_incorporating_quantization_info"},
    {"7.2", "_dynamic_quantization"},
};

}  // namespace

std::string SectionUrl(std::string_view section) {
  // The first section of the ratified text: "R 3.3.2, R 4.1".
  if (!section.starts_with("R ")) return {};
  const std::string_view number = section.substr(2, section.find(',') - 2);
  const auto* found = std::ranges::find(kAnchors, number, &Anchor::section);
  if (found == std::end(kAnchors)) return std::string(kSpecification);
  return fmt::format("{}#{}", kSpecification, found->id);
}

}  // namespace nnefc::language
