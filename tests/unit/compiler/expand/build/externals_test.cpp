// Extents of externals that a document leaves open or sets to 0, by dialect and purpose.

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::build {
namespace {

enum class Form : uint8_t { kProvisional, kRatified, kLenient, kTract };

// Returns the shape of the external `x`, or the labels of the diagnostics.
std::string ShapeOf(Form form, const std::string& declared, Purpose purpose, const Shape& extents = {}) {
  std::string text = "version 1.0;\n";
  if (form == Form::kTract) text += "extension tract_registry tract_core;\n";
  text += "graph g( x ) -> ( y ) { x = external(shape = " + declared + "); y = relu(x); }\n";
  if (form == Form::kProvisional)
    text = "version 1.0\ngraph g( x ) -> ( y ) { x = external(shape = " + declared + ") y = relu(x) }\n";
  ExpandOptions options{.purpose = purpose};
  if (!extents.empty()) options.input_shapes["x"] = extents;
  Expansion expansion(text, options, {},
                      form == Form::kLenient ? semantics::Leniency::kLenient : semantics::Leniency::kAuto);
  if (expansion.graph != nullptr) return ir::ToString(expansion.Named("x")->output().shape);
  std::string labels;
  for (const Diagnostic& diagnostic : expansion.context.emitter.diagnostics())
    labels += fmt::format("{}{}", labels.empty() ? "" : " ", diagnostic.rule->label);
  return labels;
}

// P 4.1.1: an extent of 0 is open in the provisional dialect. In tract's, the tensor has no elements.
TEST(Externals, ExtentsOfZero) {
  for (const Purpose purpose : {Purpose::kValidate, Purpose::kExecute}) {
    EXPECT_EQ(ShapeOf(Form::kProvisional, "[0,2]", purpose), "[?,2]");
    EXPECT_EQ(ShapeOf(Form::kLenient, "[2,0]", purpose), "[2,?]");
    EXPECT_EQ(ShapeOf(Form::kTract, "[0,2]", purpose), "[0,2]");
    EXPECT_EQ(ShapeOf(Form::kRatified, "[0,2]", purpose), "external.shape");
  }
  EXPECT_EQ(ShapeOf(Form::kProvisional, "[0,2]", Purpose::kPrint), "external.unspecified-extent");
  EXPECT_EQ(ShapeOf(Form::kLenient, "[2,0]", Purpose::kPrint), "external.unspecified-extent");
  EXPECT_EQ(ShapeOf(Form::kRatified, "[0,2]", Purpose::kPrint), "external.shape");
  EXPECT_EQ(ShapeOf(Form::kTract, "[0,2]", Purpose::kPrint), "external.shape");
  for (const Form form : {Form::kProvisional, Form::kRatified, Form::kLenient, Form::kTract}) {
    EXPECT_EQ(ShapeOf(form, "[3,2]", Purpose::kPrint), "[3,2]");
    EXPECT_EQ(ShapeOf(form, "[3,-1]", Purpose::kExecute), "external.shape");
  }
}

// `--input-shape` states an extent for each axis of the document.
TEST(Externals, RanksThatOptionsSet) {
  for (const Form form : {Form::kProvisional, Form::kRatified, Form::kLenient, Form::kTract}) {
    for (const Purpose purpose : {Purpose::kPrint, Purpose::kValidate, Purpose::kExecute}) {
      EXPECT_EQ(ShapeOf(form, "[3,2]", purpose, {7}), "input-shape.rank");
      EXPECT_EQ(ShapeOf(form, "[3,2]", purpose, {7, 1}), "[7,1]");
      EXPECT_EQ(ShapeOf(form, "[3,2]", purpose, {7, 1, 1}), "input-shape.rank");
      EXPECT_EQ(ShapeOf(form, "[]", purpose, {1}), "input-shape.rank");
    }
  }
}

// `--input-shape` replaces the extents of the document.
TEST(Externals, ExtentsThatOptionsSet) {
  for (const Form form : {Form::kProvisional, Form::kRatified, Form::kLenient, Form::kTract}) {
    EXPECT_EQ(ShapeOf(form, "[3,2]", Purpose::kPrint, {4, 5}), "[4,5]");
    EXPECT_EQ(ShapeOf(form, "[3,2]", Purpose::kExecute, {-1, 2}), "external.shape");
  }
  EXPECT_EQ(ShapeOf(Form::kProvisional, "[0,2]", Purpose::kPrint, {4, 2}), "[4,2]");
  EXPECT_EQ(ShapeOf(Form::kRatified, "[3,2]", Purpose::kExecute, {0, 2}), "external.shape");
  EXPECT_EQ(ShapeOf(Form::kLenient, "[3,2]", Purpose::kExecute, {0, 2}), "[0,2]");
  EXPECT_EQ(ShapeOf(Form::kTract, "[3,2]", Purpose::kExecute, {0, 2}), "[0,2]");
}

}  // namespace
}  // namespace nnefc::expand::build
