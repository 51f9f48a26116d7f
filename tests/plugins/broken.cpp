// A plug-in with one fault, which the environment variable NNEFC_BREAK selects.

#include <nnefc/extension.h>

#include <algorithm>
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

// Throws in one of its functions.
class ThrowsIn : public nnefc::transform::FrontReplacementPattern {
 public:
  explicit ThrowsIn(std::string function) : function_(std::move(function)) {
    if (function_ == "graph_condition")
      graph_condition.push_back(
          [](const nnefc::ir::Graph&) -> bool { throw std::runtime_error("no answer"); });
    if (function_ == "graph_condition-int")
      graph_condition.push_back([](const nnefc::ir::Graph&) -> bool { throw 7; });
  }
  nnefc::transform::Phase phase() const override { return Or("phase", nnefc::transform::Phase::kFront); }
  std::string_view kind() const override { return Or("kind", std::string_view("a kind")); }
  nnefc::transform::Names RunBefore() const override {
    return Or("RunBefore", nnefc::transform::Names{"FrontFinish"});
  }
  nnefc::transform::Names RunAfter() const override {
    return Or("RunAfter", nnefc::transform::Names{"FrontStart"});
  }
  std::string_view Description() const override { return Or("Description", std::string_view()); }
  std::string_view Example() const override { return Or("Example", std::string_view()); }
  std::vector<nnefc::ir::OpInfo> ExampleOperations() const override {
    return Or("ExampleOperations", std::vector<nnefc::ir::OpInfo>());
  }
  bool is_anchor() const override { return Or("is_anchor", false); }
  std::string_view replacement_id() const override { return Or("replacement_id", std::string_view()); }
  void Configure(const std::shared_ptr<const nnefc::transform::Configuration>&) override {
    Or("Configure", 0);
  }
  bool MayChange(const nnefc::ir::Graph&) const override { return Or("MayChange", true); }

 protected:
  nnefc::transform::Pattern GetPattern() const override {
    nnefc::transform::PatternNode node = nnefc::transform::Op("any", "relu");
    node.test = [this](const nnefc::transform::Node&) { return Or("test", true); };
    return Or("GetPattern", nnefc::transform::Pattern{.nodes = {node}, .edges = {}});
  }
  void ReplacePattern(nnefc::transform::Graph&, const nnefc::transform::Match&) override {
    Or("ReplacePattern", 0);
  }

 private:
  template <typename T>
  T Or(const char* function, T value) const {
    if (function_ == function) throw std::runtime_error("no answer");
    return value;
  }
  std::string function_;
};

// The same for the functions that ReplacePattern calls.
class ThrowsInSubgraph : public nnefc::transform::FrontReplacementOp {
 public:
  explicit ThrowsInSubgraph(std::string function)
      : FrontReplacementOp("relu"), function_(std::move(function)) {}

 protected:
  std::vector<nnefc::transform::Node> ReplaceOp(nnefc::transform::Graph&,
                                                const nnefc::transform::Node& node) override {
    if (function_ == "ReplaceOp") throw std::runtime_error("no answer");
    return {node};
  }
  void ReplaceSubGraph(nnefc::transform::Graph& graph, const nnefc::transform::Match& match) override {
    if (function_ == "ReplaceOp") return FrontReplacementOp::ReplaceSubGraph(graph, match);
    if (function_ == "ReplaceSubGraph") throw std::runtime_error("no answer");
    FrontReplacementSubgraph::ReplaceSubGraph(graph, match);
  }
  nnefc::transform::SubGraph GenerateSubGraph(nnefc::transform::Graph&,
                                              const nnefc::transform::Match& match) override {
    if (function_ == "GenerateSubGraph") throw std::runtime_error("no answer");
    return {{"op", match["op"]}};
  }
  std::map<nnefc::transform::PortName, nnefc::transform::PortName> InputEdgesMatch(
      nnefc::transform::Graph&, const nnefc::transform::Match&, const nnefc::transform::SubGraph&) override {
    if (function_ == "InputEdgesMatch") throw std::runtime_error("no answer");
    return {};
  }
  std::map<nnefc::transform::PortName, nnefc::transform::PortName> OutputEdgesMatch(
      nnefc::transform::Graph&, const nnefc::transform::Match&, const nnefc::transform::SubGraph&) override {
    if (function_ == "OutputEdgesMatch") throw std::runtime_error("no answer");
    return {};
  }
  std::vector<std::string> NodesToRemove(nnefc::transform::Graph&, const nnefc::transform::Match&) override {
    throw std::runtime_error("no answer");
  }

 private:
  std::string function_;
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
nnefc::runtime::kernels::FaultOr<nnefc::Success> ThrowInKernel(const nnefc::runtime::kernels::ReferenceRun&) {
  throw std::runtime_error("no numbers");
}
nnefc::runtime::kernels::FaultOr<nnefc::Success> Copy(const nnefc::runtime::kernels::ReferenceRun& run) {
  std::copy_n(run.input(0).data<float>(), run.output().volume(), run.output().mutable_data<float>());
  return nnefc::Success();
}
nnefc::runtime::kernels::FaultOr<nnefc::runtime::tensor::ElementsView> ThrowInView(
    const nnefc::runtime::kernels::ViewRequest&) {
  throw std::runtime_error("no view");
}
double ThrowInProducts(const nnefc::ir::Node&, llvm::ArrayRef<nnefc::Shape>, llvm::ArrayRef<nnefc::Shape>) {
  throw std::runtime_error("no count");
}

// A kernel that throws in one of its functions.
class BrokenKernel : public nnefc::runtime::kernels::Kernel {
 public:
  explicit BrokenKernel(std::string function) : function_(std::move(function)) {}
  std::string implementation() const override {
    if (function_ == "implementation") throw std::runtime_error("no name");
    return "broken";
  }
  std::unique_ptr<nnefc::runtime::kernels::KernelState> NewState() const override {
    if (function_ == "NewState") throw std::runtime_error("no state");
    return nullptr;
  }
  nnefc::runtime::kernels::FaultOr<nnefc::Success> Run(
      const nnefc::runtime::kernels::KernelRun& run) const override {
    if (function_ == "Run") throw std::runtime_error("no numbers");
    std::copy_n(run.input(0).data<float>(), run.output().volume(), run.output().mutable_data<float>());
    return nnefc::Success();
  }

 private:
  std::string function_;
};

// Adds the kernel of `broken` by a factory.
void AddBrokenKernel(nnefc::Registrar& registrar, const std::string& function) {
  registrar.AddKernel("nnef", "broken", [function](nnefc::runtime::kernels::KernelRegistry& kernels) {
    if (function == "add") throw std::runtime_error("no registry");
    if (function == "add-int") throw 7;
    kernels.Add(nnefc::runtime::kernels::Backend::kReference, {"nnef"}, "broken",
                [function](const nnefc::runtime::kernels::KernelRequest& request)
                    -> std::optional<nnefc::runtime::kernels::PreparedKernel> {
                  if (function == "factory") throw std::runtime_error("no kernel");
                  if (function == "factory-int") throw 7;
                  nnefc::runtime::kernels::PreparedKernel prepared;
                  prepared.kernel = std::make_shared<BrokenKernel>(function);
                  prepared.inputs.resize(request.inputs.size());
                  prepared.outputs.resize(request.outputs.size());
                  return prepared;
                });
  });
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
  if (what.starts_with("in-")) registrar.AddTransformation<ThrowsIn>(what.substr(3));
  if (what.starts_with("op-")) registrar.AddTransformation<ThrowsInSubgraph>(what.substr(3));
  if (what == "second") {
    registrar.AddTransformation(
        nnefc::plugin::TransformationFactory([count = 0]() mutable -> std::unique_ptr<Nothing> {
          if (count++ > 0) throw std::runtime_error("no second one");
          return std::make_unique<Nothing>("First");
        }));
  }
  if (what == "folders")
    registrar.SetFolderLoader([](std::vector<nnefc::plugin::ExtensionFolder>&) { throw 7; });
  if (what.starts_with("kernel-in-")) {
    AddBroken(registrar, LikeInput, nullptr);
    AddBrokenKernel(registrar, what.substr(10));
  }
  if (what == "view" || what == "products") {
    registrar.AddLibrary("broken", kPrimitive);
    nnefc::ir::OpInfo row{.set = "nnef", .name = "broken", .infer = LikeInput};
    if (what == "products") row.products = ThrowInProducts;
    registrar.AddOperation(std::move(row));
    registrar.AddKernel("nnef", "broken", [what](nnefc::runtime::kernels::KernelRegistry& kernels) {
      kernels.AddReference({"nnef"}, "broken", Copy);
      if (what == "view") kernels.AddView({"nnef"}, "broken", ThrowInView);
    });
  }
  if (what == "shape-int")
    AddBroken(
        registrar, [](nnefc::ir::InferContext&) { throw 7; }, nullptr);
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
