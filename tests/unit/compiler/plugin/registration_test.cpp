// Parts of plug-ins: transformations, libraries, operations and their rows, and each mistake of a
// registration.

#include <optional>

#include "compiler/explain/operation_pages.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/plugin/rules.h"
#include "compiler/transform/pipeline/standard.h"
#include "tests/unit/compiler/plugin/plugins_support.h"

namespace nnefc::plugin {
namespace {

void LikeInput(ir::InferContext& context) {
  context.SetOutput(0, context.input(0).type, context.input(0).shape);
}
void LowerToNothing(lower::NodeLowering&) {}

void AddBroken(Registrar& registrar, const std::string& declaration = kPrimitive) {
  registrar.AddLibrary("acme", kHead + declaration);
  registrar.AddOperation({.set = "nnef", .name = "broken", .infer = LikeInput});
}

// Expects that nothing of the plug-in with `broken` counts.
void ExpectNothing(const Plugins& plugins) {
  EXPECT_EQ(plugins.FindLowering("broken"), nullptr);
  EXPECT_EQ(&plugins.library(), &semantics::StandardLibrary::Shared());
  ir::OpRegistry registry;
  plugins.AddOperations(registry);
  EXPECT_FALSE(registry.Find("nnef", "broken").valid());
}

// ---- registration ----

TEST_F(PluginsTest, RegistrationThatThrows) {
  ExpectMistake([](Registrar&) { throw std::runtime_error("no licence"); }, "plugin.registration",
                "no licence");
  ExpectMistake([](Registrar&) { throw 7; }, "plugin.registration", "other than a std::exception");
  ExpectNothing(*Load([](Registrar& registrar) {
    AddBroken(registrar);
    registrar.AddLowering("broken", LowerToNothing);
    throw 7;
  }));
}

TEST_F(PluginsTest, Transformations) {
  ExpectMistake([](Registrar& r) { r.AddTransformation(TransformationFactory([] { return nullptr; })); },
                "plugin.entry", "is null");
  ExpectMistake(
      [](Registrar& r) {
        r.AddTransformation(TransformationFactory(
            []() -> std::unique_ptr<transform::Transformation> { throw std::runtime_error("no parts"); }));
      },
      "plugin.registration", "no parts");
  ExpectMistake(
      [](Registrar& r) {
        r.AddTransformation(
            TransformationFactory([]() -> std::unique_ptr<transform::Transformation> { throw 7; }));
      },
      "plugin.registration", "cannot be made");
  ExpectMistake(
      [](Registrar& r) {
        r.AddTransformation<Named>("Twice");
        r.AddTransformation<Named>("Twice");
      },
      "plugin.duplicate", "registered twice");
  ExpectMistake([](Registrar& r) { r.AddTransformation<Named>("nnefc::transform::front::MishFusion"); },
                "plugin.duplicate", "an id belongs to one");
  for (const char* function : {"phase", "kind", "RunBefore", "RunAfter", "Description", "Example",
                               "ExampleOperations", "is_anchor", "replacement_id", "kind-int"}) {
    SCOPED_TRACE(function);
    ExpectMistake([=](Registrar& r) { r.AddTransformation<Named>("Throws", function); },
                  "plugin.registration", std::string(function).substr(0, std::string(function).find('-')));
  }
  // Nothing of the plug-in counts then.
  const auto plugins = Load([](Registrar& r) {
    r.AddTransformation<Named>("First");
    r.AddTransformation<Named>("Throws", "kind");
  });
  transform::TransformationList list;
  Emitter emitter;
  EXPECT_TRUE(plugins->AddTransformations(list, emitter));
  EXPECT_EQ(list.Find("First"), nullptr);
  EXPECT_EQ(list.Find("Throws"), nullptr);
}

TEST_F(PluginsTest, TransformationsOfARun) {
  const auto plugins = Load([](Registrar& r) {
    r.AddTransformation<Named>("First");
    r.AddTransformation<Named>("Second");
  });
  ASSERT_TRUE(plugins->ok());
  transform::TransformationList list;
  Emitter emitter;
  EXPECT_TRUE(plugins->AddTransformations(list, emitter));
  EXPECT_TRUE(emitter.diagnostics().empty());
  for (const char* name : {"First", "Second"}) {
    ASSERT_NE(list.Find(name), nullptr) << name;
    EXPECT_EQ(list.Find(name)->plugin, Module("whole"));
  }
}

// A factory that fails when a run wants another one: an exception, something else, nothing.
TEST_F(PluginsTest, TransformationsThatCannotBeMadeAgain) {
  for (const int how : {0, 1, 2}) {
    const auto plugins = Load([how](Registrar& r) {
      r.AddTransformation(
          TransformationFactory([how, count = 0]() mutable -> std::unique_ptr<transform::Transformation> {
            if (count++ == 0) return std::make_unique<Named>("First");
            if (how == 0) throw std::runtime_error("no second one");
            if (how == 1) throw 7;
            return nullptr;
          }));
    });
    ASSERT_TRUE(plugins->ok());
    transform::TransformationList list;
    Emitter emitter;
    EXPECT_FALSE(plugins->AddTransformations(list, emitter));
    ASSERT_EQ(emitter.diagnostics().size(), 1U);
    const std::string part = how == 0   ? "no second one"
                             : how == 1 ? "other than a std::exception"
                                        : "it is null";
    EXPECT_NE(emitter.diagnostics()[0].message.find(part), std::string::npos)
        << emitter.diagnostics()[0].message;
    EXPECT_EQ(list.Find("First"), nullptr);
  }
}

TEST_F(PluginsTest, Libraries) {
  ExpectMistake(
      [](Registrar& r) {
        r.AddLibrary("acme",
                     std::string(kHead) + "fragment broken( x: tensor<scalar> -> ( y: tensor<scalar> );");
      },
      "plugin.library-text", "`acme`");
  ExpectMistake(
      [](Registrar& r) {
        r.AddLibrary("acme",
                     std::string(kHead) + "fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );");
      },
      "plugin.library-text", "relu");
  ExpectMistake([](Registrar& r) { r.AddLibrary("acme", std::string(kHead) + kPrimitive); }, "plugin.entry",
                "has no body");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLibrary("acme", std::string(kHead) +
                                 "fragment other( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n"
                                 "{\n    y = relu(x);\n}");
      },
      "plugin.duplicate", "library `acme` is registered twice");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLibrary("other", std::string(kHead) + kPrimitive);
      },
      "plugin.duplicate", "fragment `broken` is registered twice");
  // A fragment with a body needs no operation.
  EXPECT_TRUE(Load([](Registrar& r) {
                r.AddLibrary("acme", std::string(kHead) +
                                         "fragment whole( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n"
                                         "{\n    y = relu(x);\n}");
              })->ok());
  // Of two plug-ins.
  Registration() = [](Registrar& r) { AddBroken(r); };
  const std::string copy = Write("copy.so", Read(Module("whole")));
  ExpectMistake(*Plugins::Load({Module("whole"), copy}), "plugin.duplicate", "registered by `");
}

TEST_F(PluginsTest, PagesOfFragments) {
  const auto plugins = Load([](Registrar& r) {
    r.AddLibrary("acme",
                 std::string(kHead) +
                     "\n# Twice the input.\nfragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n"
                     "{\n    y = add(x, x);\n}\n\n# ---- others ----\n\n"
                     "fragment same( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = copy(x);\n}\n");
  });
  ASSERT_TRUE(plugins->ok()) << Report(*plugins).messages[0];
  const std::optional<explain::OperationPage> twice = explain::FindPluginPage("twice", *plugins);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->name, "twice");
  EXPECT_EQ(twice->extension, "library acme of a plug-in");
  EXPECT_EQ(twice->section, "");
  EXPECT_EQ(twice->comment, "Twice the input.\n");
  EXPECT_EQ(twice->signature,
            "fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = add(x, x);\n}");
  EXPECT_EQ(explain::FindPluginPage("same", *plugins)->comment, "");
  for (const char* name : {"twic", "relu", "", "tract_core_erf"})
    EXPECT_FALSE(explain::FindPluginPage(name, *plugins)) << name;
}

// The comment of a fragment is what stands directly above it, up to an empty line or the beginning of the
// text.
TEST_F(PluginsTest, CommentsOfFragments) {
  const std::string fragment =
      "fragment same( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = copy(x);\n}\n";
  for (const auto& [above, comment] : {std::pair("# One.\n# Two.\n", "One.\nTwo.\n"),
                                       {"# One.\n\n", "One.\n"},
                                       {"# One.\n\n# Two.\n", "Two.\n"},
                                       {"# One.\n\n# Two.\n\n", "Two.\n"},
                                       {"# ---- all ----\n# Two.\n", "Two.\n"},
                                       {"", ""}}) {
    const auto plugins =
        Load([&](Registrar& r) { r.AddLibrary("acme", std::string(kHead) + "\n" + above + fragment); });
    ASSERT_TRUE(plugins->ok()) << Report(*plugins).messages[0];
    EXPECT_EQ(explain::FindPluginPage("same", *plugins)->comment, comment) << above;
  }
}

TEST_F(PluginsTest, Operations) {
  const auto add = [](ir::OpInfo row) {
    return [row = std::move(row)](Registrar& r) { r.AddOperation(row); };
  };
  ExpectMistake(add({.set = "", .name = "Broken", .infer = LikeInput}), "plugin.entry", "no set or no name");
  ExpectMistake(add({.set = "acme", .name = "", .infer = LikeInput}), "plugin.entry", "no set or no name");
  ExpectMistake(add({.set = "acme", .name = "Broken"}), "plugin.entry", "no shape function");
  ExpectMistake(add({.set = "opset1", .name = "Add", .infer = LikeInput}), "plugin.duplicate",
                "nnefc has an operation `opset1.Add`");
  ExpectMistake(add({.set = "opset1", .name = "Broken", .infer = LikeInput}), "plugin.entry",
                "a set of the plug-in's own");
  ExpectMistake(add({.set = "nnef", .name = "undeclared", .infer = LikeInput}), "plugin.entry",
                "no library of it declares");
  ExpectMistake(
      [](Registrar& r) {
        r.AddOperation({.set = "acme", .name = "Broken", .infer = LikeInput});
        r.AddOperation({.set = "acme", .name = "Broken", .infer = LikeInput});
      },
      "plugin.duplicate", "operation `acme.Broken` is registered twice");
  ExpectMistake([](Registrar& r) { r.AddLowering("relu", LowerToNothing); }, "plugin.entry",
                "of no NNEF operation that it adds");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLowering("broken", nullptr);
      },
      "plugin.entry", "of no NNEF operation that it adds");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLowering("broken", LowerToNothing);
        r.AddLowering("broken", LowerToNothing);
      },
      "plugin.duplicate", "lowering of `broken`");
  const KernelAdder nothing = [](runtime::kernels::KernelRegistry&) {};
  ExpectMistake([&](Registrar& r) { r.AddKernel("opset1", "ReLU", nothing); }, "plugin.entry",
                "of no operation that it adds");
  ExpectMistake(
      [&](Registrar& r) {
        AddBroken(r);
        r.AddKernel("acme", "broken", nothing);
      },
      "plugin.entry", "of no operation that it adds");
  ExpectMistake(
      [&](Registrar& r) {
        AddBroken(r);
        r.AddKernel("nnef", "other", nothing);
      },
      "plugin.entry", "of no operation that it adds");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddKernel("nnef", "broken", nullptr);
      },
      "plugin.entry", "of no operation that it adds");
  ExpectMistake(
      [&](Registrar& r) {
        AddBroken(r);
        r.AddKernel("nnef", "broken", nothing);
        r.AddKernel("nnef", "broken", nothing);
      },
      "plugin.duplicate", "kernel of `nnef.broken`");
}

// The first mistake of a plug-in is reported alone, and each of the later ones would be one by itself. With
// either one, nothing of the plug-in counts.
TEST_F(PluginsTest, OneOfTwoMistakes) {
  const auto no_kernel = [](Registrar& r) { r.AddKernel("opset1", "ReLU", nullptr); };
  const KernelAdder nothing = [](runtime::kernels::KernelRegistry&) {};
  const auto both = [&](const std::function<void(Registrar&)>& first, const char* rule, const char* part) {
    ExpectMistake(
        [&](Registrar& r) {
          first(r);
          no_kernel(r);
        },
        rule, part);
    ExpectNothing(*Load(first));
  };
  ExpectMistake(no_kernel, "plugin.entry", "of no operation that it adds");
  both([](Registrar& r) { r.AddOperation({.set = "", .name = "Broken", .infer = LikeInput}); },
       "plugin.entry", "no set or no name");
  both([](Registrar& r) { r.AddOperation({.set = "acme", .name = "Broken"}); }, "plugin.entry",
       "no shape function");
  both([](Registrar& r) { r.AddOperation({.set = "opset1", .name = "Add", .infer = LikeInput}); },
       "plugin.duplicate", "nnefc has an operation `opset1.Add`");
  both([](Registrar& r) { r.AddOperation({.set = "nnef", .name = "undeclared", .infer = LikeInput}); },
       "plugin.entry", "no library of it declares");
  both(
      [](Registrar& r) {
        for (int i = 0; i < 2; ++i) r.AddOperation({.set = "acme", .name = "Broken", .infer = LikeInput});
      },
      "plugin.duplicate", "operation `acme.Broken` is registered twice");
  both(
      [](Registrar& r) {
        AddBroken(r);
        for (int i = 0; i < 2; ++i) r.AddLowering("broken", LowerToNothing);
      },
      "plugin.duplicate", "lowering of `broken`");
  both([](Registrar& r) { r.AddLowering("relu", LowerToNothing); }, "plugin.entry",
       "of no NNEF operation that it adds");
  both(
      [&](Registrar& r) {
        AddBroken(r);
        for (int i = 0; i < 2; ++i) r.AddKernel("nnef", "broken", nothing);
      },
      "plugin.duplicate", "kernel of `nnef.broken`");
  both([](Registrar& r) { r.AddTransformation<Named>("nnefc::transform::front::MishFusion"); },
       "plugin.duplicate", "an id belongs to one");
  both(
      [](Registrar& r) {
        for (int i = 0; i < 2; ++i) r.AddTransformation<Named>("Twice");
      },
      "plugin.duplicate", "transformation `Twice` is registered twice");
  for (const char* second : {"acme", "other"}) {
    both(
        [=](Registrar& r) {
          AddBroken(r);
          r.AddLibrary(second, kHead + std::string(kPrimitive));
        },
        "plugin.duplicate",
        std::string_view(second) == "acme" ? "library `acme` is registered twice"
                                           : "fragment `broken` is registered twice");
  }
}

// An operation of NNEF belongs to the plug-in whose library declares it.
TEST_F(PluginsTest, OperationsOfAnotherPlugin) {
  const auto declare = [](Registrar& r) {
    r.AddLibrary("acme", kHead + std::string("fragment whole( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n"
                                             "{\n    y = relu(x);\n}"));
  };
  const auto implement = [](Registrar& r) {
    r.AddOperation({.set = "nnef", .name = "whole", .infer = LikeInput});
  };
  Registration() = [&, count = 0](Registrar& r) mutable {
    if (count++ == 0) {
      declare(r);
    } else {
      implement(r);
    }
  };
  const std::string copy = Write("copy.so", Read(Module("whole")));
  ExpectMistake(*Plugins::Load({Module("whole"), copy}), "plugin.entry",
                "no library of it declares the operation `nnef.whole`");
  EXPECT_TRUE(Load([&](Registrar& r) {
                declare(r);
                implement(r);
              })->ok());
}

TEST_F(PluginsTest, LoweringsAndKernelsOfARun) {
  const runtime::kernels::KernelRegistry* added = nullptr;
  const auto plugins = Load([&](Registrar& r) {
    AddBroken(r);
    r.AddLowering("broken", LowerToNothing);
    r.AddKernel("nnef", "broken", [&](runtime::kernels::KernelRegistry& registry) { added = &registry; });
  });
  ASSERT_TRUE(plugins->ok());
  EXPECT_EQ(plugins->FindLowering("broken"), &LowerToNothing);
  EXPECT_EQ(plugins->FindLowering("relu"), nullptr);
  // Only named here: nothing of it is used.
  int registry = 0;
  plugins->AddKernels(reinterpret_cast<runtime::kernels::KernelRegistry&>(registry));
  EXPECT_EQ(static_cast<const void*>(added), &registry);
  for (const bool is_exception : {true, false}) {
    const auto broken = Load([=](Registrar& r) {
      AddBroken(r);
      r.AddKernel("nnef", "broken", [=](runtime::kernels::KernelRegistry&) {
        if (is_exception) throw std::runtime_error("no registry");
        throw 7;
      });
    });
    try {
      broken->AddKernels(reinterpret_cast<runtime::kernels::KernelRegistry&>(registry));
      FAIL();
    } catch (const std::runtime_error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("nnef.broken"), std::string::npos) << message;
      EXPECT_NE(message.find(is_exception ? "no registry" : "other than a std::exception"), std::string::npos)
          << message;
      EXPECT_NE(message.find(Module("whole")), std::string::npos) << message;
    }
  }
}

// ---- rows ----

// The row of `broken` as a declaration has it.
ir::OpInfo RowOf(const std::string& declaration) {
  Registration() = [=](Registrar& r) { AddBroken(r, declaration); };
  const auto plugins = Plugins::Load({Module("whole")});
  Emitter emitter;
  bool failed = false;
  plugins->Report(emitter, failed);
  EXPECT_TRUE(plugins->ok()) << (emitter.diagnostics().empty() ? "" : emitter.diagnostics()[0].message);
  ir::OpRegistry registry;
  plugins->AddOperations(registry);
  const ir::OpId id = registry.Find("nnef", "broken");
  EXPECT_TRUE(id.valid());
  return id.valid() ? registry.Info(id) : ir::OpInfo();
}

TEST_F(PluginsTest, InputsAndResultsOfDeclarations) {
  const ir::OpInfo row = RowOf(
      "fragment broken( x: tensor<scalar>, n: tensor<integer>, c: tensor<logical>, more: tensor<scalar>[], "
      "last: tensor<scalar> = 1.5 ) -> ( y: tensor<scalar>, parts: tensor<scalar>[] );");
  ASSERT_EQ(row.inputs.size(), 5U);
  const char* names[] = {"x", "n", "c", "more", "last"};
  const ir::TypeClass types[] = {ir::TypeClass::kFloat, ir::TypeClass::kInteger, ir::TypeClass::kBoolean,
                                 ir::TypeClass::kFloat, ir::TypeClass::kFloat};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(row.inputs[i].name, names[i]);
    EXPECT_EQ(row.inputs[i].types, types[i]) << names[i];
    EXPECT_EQ(row.inputs[i].variadic, i == 3) << names[i];
    EXPECT_EQ(row.inputs[i].optional, i == 4) << names[i];
    EXPECT_FALSE(row.inputs[i].generic) << names[i];
  }
  EXPECT_EQ(row.outputs, (std::vector<std::string>{"y", "parts[]"}));
  EXPECT_TRUE(row.attributes.empty());
  EXPECT_FALSE(row.is_generic);
}

TEST_F(PluginsTest, GenericDeclarations) {
  const ir::OpInfo row = RowOf("fragment broken<?>( x: tensor<?>, value: ?[] ) -> ( y: tensor<?> );");
  ASSERT_EQ(row.inputs.size(), 1U);
  EXPECT_TRUE(row.inputs[0].generic);
  EXPECT_TRUE(row.is_generic);
  ASSERT_EQ(row.attributes.size(), 1U);
  EXPECT_EQ(row.attributes[0].kind, ir::AttributeKind::kGeneric);
}

TEST_F(PluginsTest, AttributesOfDeclarations) {
  const ir::OpInfo row = RowOf(
      "fragment broken( x: tensor<scalar>, i: integer = -3, s: scalar = 0.25, l: logical = true, t: string = "
      "'same', "
      "is: integer[] = [1, 2], ss: scalar[] = [0.5], ps: (integer,integer)[] = [(0, 1)], no: integer ) -> ( "
      "y: "
      "tensor<scalar> );");
  const std::pair<const char*, ir::AttributeKind> expected[] = {
      {"i", ir::AttributeKind::kInt},    {"s", ir::AttributeKind::kDouble},
      {"l", ir::AttributeKind::kBool},   {"t", ir::AttributeKind::kString},
      {"is", ir::AttributeKind::kInts},  {"ss", ir::AttributeKind::kDoubles},
      {"ps", ir::AttributeKind::kPairs}, {"no", ir::AttributeKind::kInt}};
  ASSERT_EQ(row.attributes.size(), 8U);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(row.attributes[i].name, expected[i].first);
    EXPECT_EQ(row.attributes[i].kind, expected[i].second) << expected[i].first;
    EXPECT_EQ(row.attributes[i].fallback.has_value(), i != 7) << expected[i].first;
  }
  EXPECT_EQ(row.attributes[0].fallback->AsInt(), -3);
  EXPECT_EQ(row.attributes[1].fallback->AsDouble(), 0.25);
  EXPECT_TRUE(row.attributes[2].fallback->AsBool());
  EXPECT_EQ(row.attributes[3].fallback->AsString(), "same");
}

TEST_F(PluginsTest, DeclarationsThatNoRowHas) {
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r, "fragment broken( x: tensor<scalar>, names: string[] ) -> ( y: tensor<scalar> );");
      },
      "plugin.entry", "`names` of `broken` is of type string[]");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r, "fragment broken( x: tensor<scalar>, p: (integer,scalar)[] ) -> ( y: tensor<scalar> );");
      },
      "plugin.entry", "`p` of `broken`");
}

// Nodes of operations of other sets are checked against the row before the shape function runs.
TEST_F(PluginsTest, InputsAndAttributesOfNodes) {
  const auto plugins = Load([](Registrar& r) {
    r.AddOperation({.set = "acme",
                    .name = "Scale",
                    .inputs = {{"x", false, false, ir::TypeClass::kFloat}},
                    .outputs = {"y"},
                    .infer = LikeInput,
                    .attributes = {{"factor", ir::AttributeKind::kDouble}}});
  });
  ASSERT_TRUE(plugins->ok());
  ir::OpRegistry registry(&ir::StandardOps());
  plugins->AddOperations(registry);
  const auto infer = [&](size_t num_inputs, ElementType type, ir::AttributeMap attributes) -> std::string {
    ir::Graph graph(&registry, "g");
    const ir::NodeId source = graph.AddNode({.op = registry.Find("opset1", "Parameter")});
    graph.SetOutputType({source, 0}, type, ir::PartialShape{2});
    const std::vector<ir::OutputPort> inputs(num_inputs, ir::OutputPort{source, 0});
    const ir::NodeId node = graph.AddNode(
        {.op = registry.Find("acme", "Scale"), .inputs = inputs, .attributes = std::move(attributes)});
    Emitter emitter;
    const bool is_right = ir::InferNode(graph, node, emitter);
    EXPECT_EQ(is_right, emitter.diagnostics().empty());
    return is_right ? "" : std::string(emitter.diagnostics()[0].rule->label);
  };
  ir::AttributeMap factor, text;
  factor.Set("factor", 2.0);
  text.Set("factor", "large");
  EXPECT_EQ(infer(1, ElementType::kF32, factor), "");
  EXPECT_EQ(infer(0, ElementType::kF32, factor), "opset.number-of-inputs");
  EXPECT_EQ(infer(2, ElementType::kF32, factor), "opset.number-of-inputs");
  EXPECT_EQ(infer(1, ElementType::kI32, factor), "opset.element-type");
  EXPECT_EQ(infer(1, ElementType::kF32, {}), "opset.missing-attribute");
  EXPECT_EQ(infer(1, ElementType::kF32, text), "opset.attribute-kind");
}

// What a shape function throws names the plug-in.
TEST_F(PluginsTest, ShapeFunctionsThatThrow) {
  for (const bool is_exception : {true, false}) {
    const auto plugins = Load([=](Registrar& r) {
      r.AddOperation({.set = "acme", .name = "Broken", .infer = [=](ir::InferContext&) {
                        if (is_exception) throw std::out_of_range("no such axis");
                        throw 7;
                      }});
    });
    ASSERT_TRUE(plugins->ok());
    ir::OpRegistry registry;
    plugins->AddOperations(registry);
    const ir::OpInfo& row = registry.Info(registry.Find("acme", "Broken"));
    EXPECT_NE(row.check, nullptr);
    int nothing = 0;
    try {
      row.infer(reinterpret_cast<ir::InferContext&>(nothing));
      FAIL();
    } catch (const std::runtime_error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(is_exception ? "no such axis" : "other than a std::exception"),
                std::string::npos)
          << message;
      EXPECT_NE(message.find(Module("whole")), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace nnefc::plugin
