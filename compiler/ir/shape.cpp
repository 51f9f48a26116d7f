// Extents and partial shapes: parsing, text form and volume.

#include "compiler/ir/shape.h"

#include <charconv>

#include "fmt/core.h"

namespace nnefc::ir {

PartialShape::PartialShape(llvm::ArrayRef<int64_t> extents) : rank_known_(true) {
  dims_.assign(extents.begin(), extents.end());
}

PartialShape PartialShape::OfRank(int64_t rank) {
  NNEFC_CHECK(rank >= 0);
  PartialShape shape;
  shape.rank_known_ = true;
  shape.dims_.assign(static_cast<size_t>(rank), Dim());
  return shape;
}

bool PartialShape::known() const {
  if (!rank_known_) return false;
  for (Dim dim : dims_) {
    if (!dim.known()) return false;
  }
  return true;
}

std::optional<Shape> PartialShape::extents() const {
  if (!known()) return std::nullopt;
  Shape extents;
  extents.reserve(dims_.size());
  for (Dim dim : dims_) extents.push_back(dim.min);
  return extents;
}

Shape PartialShape::known_extents() const {
  std::optional<Shape> result = extents();
  NNEFC_CHECK(result.has_value());
  return *result;
}

std::optional<int64_t> PartialShape::volume() const {
  std::optional<Shape> known = extents();
  if (!known) return std::nullopt;
  return Volume(*known);
}

namespace {

std::string DimText(Dim dim) {
  if (dim.known()) return fmt::format("{}", dim.min);
  const bool bounded = dim.max != Dim::kUnbounded;
  if (dim.min == 0 && !bounded) return "?";
  if (!bounded) return fmt::format("{}..", dim.min);
  if (dim.min == 0) return fmt::format("..{}", dim.max);
  return fmt::format("{}..{}", dim.min, dim.max);
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> ParseExtent(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<Dim> ParseDim(std::string_view text) {
  if (text == "?" || text == "-1") return Dim();
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    std::optional<int64_t> value = ParseExtent(text);
    if (!value) return std::nullopt;
    return Dim(*value);
  }
  Dim dim;
  const std::string_view lowest = text.substr(0, dots);
  const std::string_view highest = text.substr(dots + 2);
  if (lowest.empty() && highest.empty()) return std::nullopt;
  if (!lowest.empty()) {
    std::optional<int64_t> value = ParseExtent(lowest);
    if (!value) return std::nullopt;
    dim.min = *value;
  }
  if (!highest.empty()) {
    std::optional<int64_t> value = ParseExtent(highest);
    if (!value || *value < dim.min) return std::nullopt;
    dim.max = *value;
  }
  return dim;
}

}  // namespace

std::string ToString(const PartialShape& shape) {
  if (!shape.rank_known()) return "[...]";
  std::string text = "[";
  for (size_t i = 0; i < shape.dims().size(); ++i) {
    if (i > 0) text += ',';
    text += DimText(shape.dims()[i]);
  }
  text += ']';
  return text;
}

std::optional<PartialShape> ParsePartialShape(std::string_view text) {
  text = Trimmed(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = Trimmed(text.substr(1, text.size() - 2));
  }
  if (text == "...") return PartialShape();
  llvm::SmallVector<Dim, 4> dims;
  if (text.empty()) return PartialShape(llvm::ArrayRef<Dim>(dims));
  while (true) {
    const size_t comma = text.find(',');
    std::optional<Dim> dim = ParseDim(Trimmed(text.substr(0, comma)));
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return PartialShape(llvm::ArrayRef<Dim>(dims));
}

}  // namespace nnefc::ir
