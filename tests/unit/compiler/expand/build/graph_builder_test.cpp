#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::build {
namespace {

TEST(InstantiateTest, AttributesAreComplete) {
  Expansion expansion(Ratified("", "    f = variable(shape = [4,2,3,3], label = 'f');\n    y = conv(x, f);"));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  const ir::Node* conv = expansion.Named("y");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->type(), "conv");
  EXPECT_EQ(conv->num_inputs(), 3);
  EXPECT_EQ(conv->attribute("groups").AsInt(), 1);
  EXPECT_EQ(conv->attribute("border").AsString(), "constant");
  EXPECT_EQ(conv->attribute("padding").ListSize(), 0u);
  const ir::Node& bias = expansion.graph->node(conv->input(2).node);
  EXPECT_TRUE(bias.Is("nnef", "constant"));
  EXPECT_EQ(bias.attribute("value").AsDoubles(), std::vector<double>{0.0});
  EXPECT_EQ(expansion.Named("f")->attribute("dtype").AsString(), "scalar");
  EXPECT_EQ(ir::ToString(conv->output().shape), "[1,4,8,8]");
  EXPECT_EQ(expansion.graph->parameters().size(), 1u);
  EXPECT_EQ(expansion.graph->results().size(), 1u);
}

TEST(InstantiateTest, NamesFollowScopes) {
  Expansion expansion(Ratified(R"(
fragment inner( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    a = exp(x);
    y = a + log(a);
}
fragment outer( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    first = inner(x);
    second = inner(first);
    y = relu(second);
})",
                               "    block = outer(x);\n    y = outer(block);"));
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    block_first_a = exp(x);\n"
            "    block_first_log = log(block_first_a);\n"
            "    block_first = add(block_first_a, block_first_log);\n"
            "    block_second_a = exp(block_first);\n"
            "    block_second_log = log(block_second_a);\n"
            "    block_second = add(block_second_a, block_second_log);\n"
            "    block = relu(block_second);\n"
            "    y_first_a = exp(block);\n"
            "    y_first_log = log(y_first_a);\n"
            "    y_first = add(y_first_a, y_first_log);\n"
            "    y_second_a = exp(y_first);\n"
            "    y_second_log = log(y_second_a);\n"
            "    y_second = add(y_second_a, y_second_log);\n"
            "    y = relu(y_second);\n");
  const ir::Node* node = expansion.Named("block_first_a");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(ir::ScopeName(node->origin()), "block/first");
}

TEST(InstantiateTest, CollisionsAreNumbered) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { a = exp(x); y = log(a); })",
                               "    y_a = f(x);\n    y = f(y_a);"));
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    y_a_a = exp(x);\n"
            "    y_a = log(y_a_a);\n"
            "    y_a_2 = exp(y_a);\n"
            "    y = log(y_a_2);\n");
}

// Only the identifiers of the graph's body are reserved, not those of fragments.
TEST(InstantiateTest, NamesOfOtherFragmentsAreFree) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { a = exp(x); y = log(a); }
fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y_a = exp(x); y_log = log(y_a); y = f(y_log); })",
                               "    y = f(x);"));
  EXPECT_EQ(StatementsOf(expansion), "y_a = exp(x);\ny = log(y_a);\n");
}

TEST(InstantiateTest, AliasesAreCopied) {
  Expansion expansion(Ratified(R"(
fragment same( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x; })",
                               "    a = relu(x);\n    b = a;\n    y = same(b);"));
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    a = relu(x);\n"
            "    b = copy(a);\n"
            "    y = copy(b);\n");
}

TEST(InstantiateTest, LiteralsThatAreTensors) {
  Expansion expansion(Ratified(R"(
fragment scaled( x: tensor<scalar>, s: tensor<scalar> = 1.0 ) -> ( y: tensor<scalar> ) { y = x * (s / 0.0); })",
                               "    y = scaled(x, 2.0);"));
  // `s` is a tensor though its value is known: `/` is an operation.
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    y_div = div(2.0, 0.0);\n"
            "    y = mul(x, y_div);\n");
}

TEST(InstantiateTest, CompoundsStayWholeUnlessLowered) {
  std::string text = Ratified("", "    a = sigmoid(x);\n    y = avg_pool(a, size = [1,1,2,2]);");
  EXPECT_NE(Expansion(text).Body().find("a = sigmoid(x)"), std::string::npos);
  ExpandOptions options;
  options.lower = {"sigmoid"};
  std::string lowered = Expansion(text, options).Body();
  EXPECT_EQ(lowered.find("sigmoid"), std::string::npos) << lowered;
  EXPECT_NE(lowered.find("avg_pool"), std::string::npos) << lowered;
  options.lower = {"all"};
  lowered = Expansion(text, options).Body();
  EXPECT_NE(lowered.find("y = box(a"), std::string::npos) << lowered;
  options.lower = {"sigmoyd"};
  EXPECT_TRUE(Expansion(text, options).Has("lower.unknown-operation"));
}

TEST(InstantiateTest, ArraysOfTensors) {
  Expansion expansion(Ratified("", R"(
    [a, b] = split(x, axis = 1, ratios = [1,1]);
    c = add_n([a, b, a]);
    y = concat([for t in [a, b, c] yield relu(t)], axis = 1);)"));
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    [a, b] = split(x, axis = 1, ratios = [1, 1]);\n"
            "    c = add_n([a, b, a]);\n"
            "    y_relu = relu(a);\n"
            "    y_relu_2 = relu(b);\n"
            "    y_relu_3 = relu(c);\n"
            "    y = concat([y_relu, y_relu_2, y_relu_3], axis = 1);\n");
}

// Items of an array have one type: a literal among tensors is a tensor.
TEST(InstantiateTest, LiteralsAmongTensors) {
  const auto body = [](std::string_view statement) {
    Expansion expansion(Ratified(
        "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    " + std::string(statement) + "\n}",
        "    y = f(x);"));
    return StatementsOf(expansion);
  };
  EXPECT_EQ(body("t = [x, 2.0]; y = t[0] * (t[1] + 1.0);"), "y_add = add(2.0, 1.0);\ny = mul(x, y_add);\n");
  EXPECT_EQ(body("t = [1.0, 2.0]; y = x * (t[1] + 1.0);"), "y = mul(x, 3.0);\n");
}

// The rank of a custom operation's result is unknown: the left side determines the number of results.
TEST(InstantiateTest, UnstackedTensorsOfUnknownRank) {
  constexpr std::string_view kTwist = "fragment twist( x: tensor<scalar> ) -> ( y: tensor<scalar> );";
  const auto body = [&](std::string_view statements) {
    Expansion expansion(Ratified(kTwist, statements));
    return StatementsOf(expansion);
  };
  EXPECT_EQ(body("    t = twist(x);\n    [a, y] = unstack(t, axis = 1);"),
            "t = twist(x);\n[a, y] = unstack(t, axis = 1);\n");
  EXPECT_EQ(body("    t = twist(x);\n    [a, b, y] = unstack(t, axis = 0);"),
            "t = twist(x);\n[a, b, y] = unstack(t, axis = 0);\n");
  EXPECT_EQ(body("    [a, y] = unstack(x, axis = 1);"), "[a, y] = unstack(x, axis = 1);\n");
  EXPECT_EQ(body("    [a, y] = unstack(x, axis = 4);"),
            "`axis` of `unstack` is 4; expected at least 0 and less than 4 [axis.range]\n");
}

TEST(InstantiateTest, AddNIsRecursiveWhenLowered) {
  ExpandOptions options;
  options.lower = {"add_n"};
  Expansion expansion(Ratified("", "    y = add_n([x, x]);"), options);
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    y_y = add(x, 0.0);\n"
            "    y = add(x, y_y);\n");
}

TEST(InstantiateTest, Generics) {
  Expansion expansion(Ratified(R"(
fragment tap<?>( x: tensor<?> ) -> ( y: tensor<?> ) { y = copy<?>(x); }
fragment fill<? = scalar>( value: ? ) -> ( y: tensor<?> ) { y = constant<?>(shape = [1], value = [value]); })",
                               R"(
    i = argmax_reduce(x, axes = [1]);
    t = tap<integer>(i);
    m = fill<logical>(value = true);
    y = select(m, x, cast<scalar>(t));)"));
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    i = argmax_reduce(x, axes = [1]);\n"
            "    t = copy(i);\n"
            "    m = constant<logical>(shape = [1], value = [true]);\n"
            "    y_cast = cast<scalar>(t);\n"
            "    y = select(m, x, y_cast);\n");
}

TEST(InstantiateTest, CustomPrimitives) {
  std::string text = Ratified(R"(
fragment twist( x: tensor<scalar>, others: tensor<scalar>[], angle: scalar = 0.5, at: (integer,integer)[] = [] )
-> ( y: tensor<scalar>, z: tensor<logical> );)",
                              "    t, u = twist(x, [x, x], at = [(1,2)]);\n    y = select(u, t, 0.0);");
  Expansion expansion(text);
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  std::string flat = expansion.Flat();
  EXPECT_EQ(flat,
            "version 1.0;\n"
            "extension KHR_enable_fragment_definitions;\n\n"
            "fragment twist( x: tensor<scalar>, others: tensor<scalar>[], angle: scalar, at: "
            "(integer,integer)[] ) -> "
            "( y: tensor<scalar>, z: tensor<logical> );\n\n"
            "graph g( x ) -> ( y )\n{\n"
            "    x = external(shape = [1, 2, 8, 8]);\n"
            "    t, u = twist(x, [x, x], angle = 0.5, at = [(1, 2)]);\n"
            "    y = select(u, t, 0.0);\n}\n");
  EXPECT_EQ(Expansion(flat).Flat(), flat);
}

TEST(InstantiateTest, InputShapes) {
  ExpandOptions options;
  options.input_shapes["x"] = {1, 2, 4, 4};
  Expansion expansion(Ratified("", "    y = relu(x);"), options);
  EXPECT_EQ(expansion.Body(), "    x = external(shape = [1, 2, 4, 4]);\n    y = relu(x);\n");
  options.input_shapes["z"] = {1};
  Expansion unknown(Ratified("", "    y = relu(x);"), options);
  ASSERT_TRUE(unknown.Has("input-shape.unknown-external")) << unknown.Diagnostics();
  EXPECT_NE(unknown.Diagnostics().find("`x`"), std::string::npos);
}

TEST(InstantiateTest, UpdatesAreSinks) {
  Expansion expansion(Ratified("", R"(
    s = variable(shape = [1,2,8,8], label = 's');
    y = x + s;
    z = update(s, y);)"));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  EXPECT_EQ(expansion.graph->sinks().size(), 1u);
  EXPECT_NE(expansion.Body().find("z = update(s, y);"), std::string::npos);
}

// Nodes have the counts of inputs of each parameter only if one of them is an array.
TEST(InstantiateTest, Segments) {
  Expansion expansion(
      Ratified("fragment join( x: tensor<scalar>, others: tensor<scalar>[] ) -> ( y: tensor<scalar> );",
               "    a = relu(x);\n    b = add(x, 1.0);\n    c = concat([x, a, b], axis = 0);\n    y = "
               "join(c, [x, a]);"));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  for (const auto& [name, segments] :
       std::initializer_list<std::pair<std::string_view, std::vector<int32_t>>>{
           {"x", {}}, {"a", {}}, {"b", {}}, {"c", {3}}, {"y", {1, 2}}})
    EXPECT_EQ(expansion.Named(name)->segments().vec(), segments) << name;
}

// The type of a variable's file counts in tract's documents, unless graph.quant states the type.
TEST(InstantiateTest, TypesOfFiles) {
  const auto type_of = [](std::string_view extension, ExpandOptions options,
                          ElementType of_file = ElementType::kBoolean) {
    options.variable_data = [=](const std::string&, ElementType type) {
      return type == of_file ? std::optional(TensorValue::Filled(of_file, {2}, 1)) : std::nullopt;
    };
    Expansion expansion("version 1.0;\n" + std::string(extension) +
                            "graph g( x ) -> ( y )\n{\n    x = external<scalar>(shape = [2]);\n"
                            "    v = variable<scalar>(shape = [2], label = 'v');\n    y = copy(v);\n}\n",
                        std::move(options));
    return expansion.graph == nullptr ? expansion.Diagnostics()
                                      : expansion.Named("v")->attribute("dtype").AsString();
  };
  EXPECT_EQ(type_of("", {}), "scalar");
  EXPECT_EQ(type_of("extension tract_registry tract_core;\n", {}), "logical");
  EXPECT_EQ(type_of("extension tract_registry tract_core;\n", {.quantized = {"v"}}), "scalar");
  EXPECT_EQ(type_of("", {}, ElementType::kI64), "scalar");
  EXPECT_EQ(type_of("extension tract_registry tract_core;\n", {}, ElementType::kI64), "integer");
  EXPECT_EQ(type_of("extension tract_registry tract_core;\n", {.quantized = {"v"}}, ElementType::kI64),
            "scalar");
  EXPECT_EQ(type_of("extension tract_registry tract_core;\n", {}, ElementType::kF32), "scalar");
}

TEST(InstantiateTest, VariablesShareLabels) {
  Expansion expansion(Ratified("", R"(
    a = variable(shape = [1,2], label = 'W');
    b = variable(shape = [1], label = 'w');
    y = x + a + b;)"));
  EXPECT_TRUE(expansion.Has("variable.shared-label")) << expansion.Diagnostics();
}

}  // namespace
}  // namespace nnefc::expand::build
