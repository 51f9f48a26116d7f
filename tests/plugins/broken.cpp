// A plug-in that does one thing wrong: what the environment variable NNEFC_BREAK says.

#include <nnefc/extension.h>

#include <cstdlib>
#include <stdexcept>

namespace {

constexpr char kPrimitive[] =
    "version 1.0; extension KHR_enable_fragment_definitions; fragment broken( x: tensor<scalar> ) -> ( y: "
    "tensor<scalar> );";
constexpr char kWithoutEnd[] =
    "version 1.0; extension KHR_enable_fragment_definitions;\nfragment broken( x: tensor<scalar> -> ( y: "
    "tensor<scalar> );";
constexpr char kStandard[] =
    "version 1.0; extension KHR_enable_fragment_definitions; fragment relu( x: tensor<scalar> ) -> ( y: "
    "tensor<scalar> );";
constexpr char kStrings[] =
    "version 1.0; extension KHR_enable_fragment_definitions; fragment broken( x: tensor<scalar>, names: "
    "string[] ) -> ( y: tensor<scalar> );";

class Nothing : public nnefc::transform::FrontReplacementPattern {
 public:
  explicit Nothing(const char* name) { id = name; }
  void FindAndReplacePattern(nnefc::transform::Graph&) override {}
};

class Throws : public nnefc::transform::FrontReplacementPattern {
 public:
  void FindAndReplacePattern(nnefc::transform::Graph&) override { throw std::runtime_error("it threw"); }
};

class CannotBeMade : public nnefc::transform::FrontReplacementPattern {
 public:
  CannotBeMade() { throw std::runtime_error("no parts"); }
  void FindAndReplacePattern(nnefc::transform::Graph&) override {}
};

void LikeInput(nnefc::ir::InferContext& context) {
  context.SetOutput(0, context.input(0).type, context.input(0).shape);
}
void ThrowInShape(nnefc::ir::InferContext&) {
  throw std::out_of_range("no such axis");
}
void ThrowInLowering(nnefc::lower::NodeLowering&) {
  throw std::logic_error("no form");
}
void LowerToNothing(nnefc::lower::NodeLowering&) {}
void LowerToUnknown(nnefc::lower::NodeLowering& n) {
  n.SetOutput(n.Add("acme", "Nonesuch", {n.input(0)}));
}
nnefc::runtime::FaultOr<nnefc::Success> ThrowInKernel(const nnefc::runtime::ReferenceRun&) {
  throw std::runtime_error("no numbers");
}

// The NNEF operation `broken`.
void AddBroken(nnefc::Registrar& registrar, nnefc::ir::InferFunction infer,
               nnefc::lower::LowerFunction lowering) {
  registrar.AddLibrary("broken", kPrimitive);
  registrar.AddOperation({.set = "nnef", .name = "broken", .infer = infer});
  if (lowering != nullptr) registrar.AddLowering("broken", lowering);
}

}  // namespace

NNEFC_EXTENSION(registrar) {
  const char* variable = std::getenv("NNEFC_BREAK");
  const std::string what = variable == nullptr ? "" : variable;
  if (what == "registration") throw std::runtime_error("no licence");
  if (what == "registration-int") throw 7;
  if (what == "null")
    registrar.AddTransformation(nnefc::plugin::TransformationFactory([] { return nullptr; }));
  if (what == "unmade") registrar.AddTransformation<CannotBeMade>();
  if (what == "duplicate") {
    registrar.AddTransformation<Nothing>("Twice");
    registrar.AddTransformation<Nothing>("Twice");
  }
  if (what == "taken") registrar.AddTransformation<Nothing>("nnefc::transform::front::MishFusion");
  if (what == "example-id") registrar.AddTransformation<Nothing>("AcmeSwish");
  if (what == "transformation") registrar.AddTransformation<Throws>();
  if (what == "library-syntax") registrar.AddLibrary("broken", kWithoutEnd);
  if (what == "library-standard") registrar.AddLibrary("broken", kStandard);
  if (what == "library-primitive") registrar.AddLibrary("broken", kPrimitive);
  if (what == "library-strings") {
    registrar.AddLibrary("broken", kStrings);
    registrar.AddOperation({.set = "nnef", .name = "broken", .infer = LikeInput});
  }
  if (what == "operation-shapeless") registrar.AddOperation({.set = "acme", .name = "Broken"});
  if (what == "operation-undeclared")
    registrar.AddOperation({.set = "nnef", .name = "undeclared", .infer = LikeInput});
  if (what == "operation-standard")
    registrar.AddOperation({.set = "opset1", .name = "Add", .infer = LikeInput});
  if (what == "operation-opset")
    registrar.AddOperation({.set = "opset1", .name = "Broken", .infer = LikeInput});
  if (what == "kernel-alone") nnefc::AddKernel(registrar, "opset1", "ReLU", ThrowInKernel);
  if (what == "lowering-alone") registrar.AddLowering("relu", LowerToNothing);
  if (what == "shape") AddBroken(registrar, ThrowInShape, nullptr);
  if (what == "lowering") AddBroken(registrar, LikeInput, ThrowInLowering);
  if (what == "lowering-nothing") AddBroken(registrar, LikeInput, LowerToNothing);
  if (what == "lowering-unknown") AddBroken(registrar, LikeInput, LowerToUnknown);
  if (what == "kernel") {
    AddBroken(registrar, LikeInput, nullptr);
    nnefc::AddKernel(registrar, "nnef", "broken", ThrowInKernel);
  }
}
