// Documents with fragments for repeated blocks, which expand to the graph that they were made of.

#include "compiler/expand/print/repeated_blocks.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "compiler/expand/print/literals.h"
#include "compiler/ir/text/text.h"
#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::print {
namespace {

std::string WithFragments(Expansion& expansion) {
  std::set<std::string> inner_names;
  return PrintDocumentWithFragments(*expansion.graph, expansion.library, expansion.context.symbols,
                                    PrintedNames(*expansion.graph), DocumentForm::kStandard, inner_names);
}

int64_t LinesOf(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

int64_t FragmentsOf(const std::string& text) {
  int64_t count = 0;
  for (size_t at = text.find("\nfragment "); at != std::string::npos; at = text.find("\nfragment ", at + 1))
    ++count;
  return count;
}

// Returns `count` blocks of statements one after another: statements(i, input, output) for each. The last
// output is `result`.
template <typename Statements>
std::string Chain(int count, std::string_view prefix, std::string_view result, const Statements& statements) {
  std::string body, last = "x";
  for (int i = 0; i < count; ++i) {
    std::string name = i == count - 1 ? std::string(result) : fmt::format("{}{}", prefix, i);
    body += statements(i, last, name);
    last = std::move(name);
  }
  return body;
}

// Returns the computation of each result as a number that depends neither on names nor on the order of
// statements, and the number of nodes. `numbers` are shared by the graphs that are compared.
std::pair<std::vector<int>, size_t> Computations(const ir::Graph& graph,
                                                 std::map<std::string, int>& numbers) {
  std::map<int32_t, int> by_node;
  std::vector<int> results;
  const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph);
  for (ir::NodeId id : *order) {
    const ir::Node& node = graph.node(id);
    std::string text = node.type();
    if (node.Is(ir::OpRole::kExternal)) text += node.name();
    for (const auto& [name, value] : node.attributes())
      text += fmt::format("|{}={}", name, AttributeLiteral(value));
    for (ir::OutputPort port : node.inputs())
      text += fmt::format("<{}.{}", by_node.at(port.node.index), port.index);
    by_node[id.index] = numbers.try_emplace(text, static_cast<int>(numbers.size())).first->second;
    if (node.Is(ir::OpRole::kResult)) results.push_back(by_node[id.index]);
  }
  return {results, graph.num_nodes()};
}

// Prints the document with fragments, and expects that it expands to the same graph. Returns it.
std::string Check(const std::string& document) {
  Expansion expansion(document);
  EXPECT_NE(expansion.graph, nullptr) << document << expansion.Diagnostics();
  if (expansion.graph == nullptr) return {};
  const std::string text = WithFragments(expansion);
  Expansion again(text);
  EXPECT_NE(again.graph, nullptr) << text << again.Diagnostics();
  EXPECT_EQ(again.Diagnostics(), "") << text;
  if (again.graph == nullptr) return text;
  std::map<std::string, int> numbers;
  EXPECT_EQ(Computations(*expansion.graph, numbers), Computations(*again.graph, numbers)) << text;
  EXPECT_LE(LinesOf(text), LinesOf(expansion.Flat()));
  return text;
}

std::string Graph(const std::string& body, const std::string& results = "y") {
  return "version 1.0;\n\ngraph g( x ) -> ( " + results + " )\n{\n    x = external(shape = [1, 4]);\n" +
         body + "}\n";
}

TEST(RepeatedBlocksTest, BlocksBecomeFragments) {
  const std::string text = Check(Graph(R"(    a1 = tanh(x);
    b1 = mul(a1, 0.5);
    c1 = add(b1, x);
    d1 = relu(c1);
    a2 = tanh(d1);
    b2 = mul(a2, 0.5);
    c2 = add(b2, d1);
    d2 = relu(c2);
    a3 = tanh(d2);
    b3 = mul(a3, 0.5);
    c3 = add(b3, d2);
    d3 = relu(c3);
    a4 = tanh(d3);
    b4 = mul(a4, 0.5);
    c4 = add(b4, d3);
    y = relu(c4);
)"));
  EXPECT_EQ(text, R"(version 1.0;
extension KHR_enable_fragment_definitions;

fragment tanh_mul_add_relu_block( x: tensor<scalar> ) -> ( output: tensor<scalar> )
{
    tanh_1 = tanh(x);
    mul_1 = mul(tanh_1, 0.5);
    add_1 = add(mul_1, x);
    output = relu(add_1);
}

graph g( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    d1 = tanh_mul_add_relu_block(x);
    d2 = tanh_mul_add_relu_block(d1);
    d3 = tanh_mul_add_relu_block(d2);
    y = tanh_mul_add_relu_block(d3);
}
)");
}

TEST(RepeatedBlocksTest, OthersRemain) {
  // Other attributes, literals, connections, or results.
  const char* const bodies[] = {
      R"(    a = tanh(x);
    b = mul(a, 0.5);
    c = relu(b);
    d = tanh(c);
    e = mul(d, 0.25);
    y = relu(e);
)",
      R"(    a = tanh(x);
    b = add(a, a);
    c = relu(b);
    d = tanh(c);
    e = add(d, c);
    y = relu(e);
)",
      R"(    a = softmax(x, axes = [1]);
    b = neg(a);
    c = softmax(b, axes = [0]);
    y = neg(c);
)",
  };
  for (const char* body : bodies) EXPECT_EQ(FragmentsOf(Check(Graph(body))), 0) << body;
}

// Blocks that convert integers are others than those that convert logicals, with equal results.
TEST(RepeatedBlocksTest, TypesOfOperandsDiffer) {
  std::string body, last = "x";
  for (const char* function : {"sin", "cos", "tanh", "neg"})
    body += fmt::format(
        "    f{0} = {0}(x);\n    k{0} = argmax_reduce(f{0}, axes = [1]);\n    b{0} = gt(f{0}, 0.0);\n",
        function);
  for (const char* operand : {"k", "b"}) {
    for (const char* function : {"sin", "cos", "tanh", "neg"}) {
      body += fmt::format(
          "    c{0}{1} = cast<scalar>({0}{1});\n    s{0}{1} = add(c{0}{1}, {2});\n"
          "    d{0}{1} = cast<scalar>({0}{1});\n    p{0}{1} = mul(d{0}{1}, s{0}{1});\n"
          "    e{0}{1} = cast<scalar>({0}{1});\n    r{0}{1} = max(e{0}{1}, p{0}{1});\n",
          operand, function, last);
      last = fmt::format("r{}{}", operand, function);
    }
  }
  const std::string text = Check(Graph(body + fmt::format("    y = copy({});\n", last)));
  EXPECT_EQ(FragmentsOf(text), 2) << text;
  EXPECT_NE(text.find("( input: tensor<integer>"), std::string::npos) << text;
  EXPECT_NE(text.find("( input: tensor<logical>"), std::string::npos) << text;
}

TEST(RepeatedBlocksTest, SavesAtLeastTwoLines) {
  // Two blocks of n operations save 2 n - 2 - n - 4 lines.
  for (int length : {7, 8}) {
    std::string body, last = "x";
    for (int block = 0; block < 2; ++block) {
      for (int i = 0; i < length; ++i) {
        const std::string name = block == 1 && i == length - 1 ? "y" : fmt::format("t{}_{}", block, i);
        body += fmt::format("    {} = mul({}, {}.0);\n", name, last, i + 1);
        last = name;
      }
    }
    EXPECT_EQ(FragmentsOf(Check(Graph(body))), length < 8 ? 0 : 1) << length;
  }
}

TEST(RepeatedBlocksTest, VariablesAreArguments) {
  std::string body = Chain(4, "r", "y", [](int i, std::string_view input, std::string_view output) {
    return fmt::format(
        "    w{0} = variable(shape = [4, 4], label = 'w{0}');\n    l{0} = linear({1}, w{0});\n    t{0} = "
        "tanh(l{0});\n    s{0} = add(t{0}, {1});\n    {2} = relu(s{0});\n",
        i, input, output);
  });
  const std::string text = Check(Graph(body));
  EXPECT_NE(text.find("( input: tensor<scalar>, filter: tensor<scalar> )"), std::string::npos) << text;
  EXPECT_NE(text.find("    y = linear_tanh_add_relu_block(r2, w3);"), std::string::npos) << text;
}

// Tensors and fragments of a document do not conflict with those of its blocks.
TEST(RepeatedBlocksTest, NamesAreUnique) {
  std::string body = Chain(5, "tanh_", "output", [](int i, std::string_view input, std::string_view output) {
    return fmt::format(
        "    a{0} = tanh({1});\n    b{0} = tanh(a{0});\n    c{0} = neg(b{0});\n    {2} = sin(c{0});\n", i,
        input, output);
  });
  const std::string text = Check(Graph(body, "output"));
  EXPECT_NE(text.find("    tanh_1 = tanh(x);\n    tanh_2 = tanh(tanh_1);\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nfragment tanh_neg_sin_block( "), std::string::npos) << text;
  const std::string own = Check(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment tanh_neg_sin_block( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
      "graph g( x ) -> ( z )\n{\n    x = external(shape = [1, 4]);\n" +
      body + "    z = tanh_neg_sin_block(output);\n}\n");
  EXPECT_NE(own.find("\nfragment tanh_neg_sin_block_2( "), std::string::npos) << own;
}

TEST(RepeatedBlocksTest, SplitsAndSeveralResults) {
  std::string body = Chain(3, "z", "y", [](int i, std::string_view input, std::string_view output) {
    return fmt::format(
        "    [a{0}, b{0}] = split({1}, axis = 1, ratios = [1, 1]);\n    c{0} = tanh(a{0});\n    d{0} = "
        "sin(b{0});\n    e{0} = concat([d{0}, c{0}], axis = 1);\n    {2} = mul(e{0}, 2.0);\n",
        i, input, output);
  });
  body += "    u = add(d0, d1);\n    v = add(u, d2);\n";
  const std::string text = Check(Graph(body, "y, v"));
  EXPECT_NE(text.find("( output: tensor<scalar>, output_2: tensor<scalar> )"), std::string::npos) << text;
}

// Returns the numbers of operations of the fragments in order.
std::vector<int64_t> LengthsOf(const std::string& text) {
  std::vector<int64_t> lengths;
  for (size_t at = text.find("\nfragment "); at != std::string::npos; at = text.find("\nfragment ", at + 1)) {
    const size_t begin = text.find("{\n", at) + 2;
    lengths.push_back(LinesOf(text.substr(begin, text.find("\n}", begin) + 1 - begin)));
  }
  return lengths;
}

// Two equal chains of `length` operations that differ from each other.
std::string TwoChains(int length, const std::function<std::string(int)>& operation) {
  std::string body, last = "x";
  for (int i = 0; i < 2 * length; ++i) {
    const std::string name = i == 2 * length - 1 ? "y" : fmt::format("t{}", i);
    body += fmt::format("    {} = ", name) + fmt::format(fmt::runtime(operation(i)), last) + ";\n";
    last = name;
  }
  return body;
}

// A block has at most 256 operations.
TEST(RepeatedBlocksTest, LongestBlocks) {
  for (const auto& [length, expected] :
       std::initializer_list<std::pair<int, std::vector<int64_t>>>{{256, {256}}, {257, {256}}}) {
    const std::string text = Check(
        Graph(TwoChains(length, [&](int i) { return fmt::format("mul({{}}, {}.0)", i % length + 1); })));
    EXPECT_EQ(LengthsOf(text), expected) << length;
  }
}

// A fragment has at most 40 arguments and results.
TEST(RepeatedBlocksTest, MostTensors) {
  for (int length : {37, 38, 39, 40}) {
    std::string variables;
    for (int i = 0; i < 2 * length; ++i)
      variables += fmt::format("    w{0} = variable(shape = [1, 4], label = 'w{0}');\n", i);
    const std::string text = Check(Graph(variables + TwoChains(length, [&](int i) {
                                           return fmt::format("clamp({{}}, w{}, {}.0)", i, i % length);
                                         })));
    // The variables, the first operand and the result.
    EXPECT_EQ(LengthsOf(text), std::vector<int64_t>{std::min(length, 38)}) << length;
  }
}

// Operations of more than 1024 outputs are in no block.
TEST(RepeatedBlocksTest, MostOutputs) {
  for (int count : {1023, 1024, 1025}) {
    std::string body = Chain(4, "r", "y", [&](int i, std::string_view input, std::string_view output) {
      std::string names;
      for (int k = 0; k < count; ++k) names += fmt::format("{}c{}_{}", k == 0 ? "" : ", ", i, k);
      return fmt::format(
          "    [{0}] = copy_n({1}, times = {2});\n    a{3} = tanh(c{3}_{4});\n    b{3} = sin(a{3});\n"
          "    {5} = sub(b{3}, c{3}_0);\n",
          names, input, count, i, count - 1, output);
    });
    // Without `copy_n`, a fragment of three operations saves one line.
    EXPECT_EQ(LengthsOf(Check(Graph(body))), count > 1024 ? std::vector<int64_t>{} : std::vector<int64_t>{4})
        << count;
  }
}

// Of blocks that save as many lines, those of fewer arguments and results become fragments.
TEST(RepeatedBlocksTest, FewestTensors) {
  std::string body = Chain(5, "r", "s", [](int i, std::string_view input, std::string_view output) {
    return fmt::format("    p{0} = tanh({1});\n    q{0} = mul(p{0}, 2.0);\n    {2} = add(q{0}, {1});\n", i,
                       input, output);
  });
  // Five times tanh, mul, add, but also mul, add, tanh, and add, tanh, mul.
  body += "    p5 = tanh(s);\n    q5 = mul(p5, 2.0);\n    y = sub(q5, s);\n";
  const std::string text = Check(Graph(body));
  EXPECT_NE(text.find("fragment tanh_mul_add_block( x: tensor<scalar> ) -> ( output: tensor<scalar> )\n"),
            std::string::npos)
      << text;
}

// Blocks do not overlap: of a chain of equal operations, some are alone.
TEST(RepeatedBlocksTest, BlocksOfEqualOperations) {
  // A fragment of n operations that occurs m times saves n m - n - m - 4 lines; the most by n = m = 5.
  const std::string text = Check(Graph(TwoChains(13, [](int) { return "tanh({})"; })));
  EXPECT_EQ(FragmentsOf(text), 1) << text;
  const int64_t length = LengthsOf(text).front();
  EXPECT_TRUE(length == 5 || length == 4 || length == 6) << text;
  EXPECT_EQ(LinesOf(Graph(TwoChains(13, [](int) { return "tanh({})"; }))) - LinesOf(text) + 1,
            length == 5 ? 5 * 5 - 5 - 5 - 4 : 6 * 4 - 6 - 4 - 4)
      << text;
}

// Arguments have the names of the parameters that read them, the fragment those of its operations.
TEST(RepeatedBlocksTest, Names) {
  std::string body = Chain(4, "r", "y", [](int i, std::string_view input, std::string_view output) {
    return fmt::format(
        "    v{0} = variable(shape = [1, 4], label = 'v{0}');\n    w{0} = variable(shape = [1, 8], label = "
        "'w{0}');\n    a{0} = concat([{1}, v{0}], axis = 1);\n    b{0} = sub(a{0}, w{0});\n    c{0} = "
        "neg(b{0});\n    d{0} = neg(c{0});\n    e{0} = sin(d{0});\n    f{0} = cos(e{0});\n    {2} = slice("
        "f{0}, axes = [1], begin = [0], end = [4]);\n",
        i, input, output);
  });
  const std::string text = Check(Graph(body));
  EXPECT_NE(
      text.find("fragment concat_sub_neg_sin_block( values: tensor<scalar>, values_2: tensor<scalar>, y: "
                "tensor<scalar> ) -> ( output: tensor<scalar> )\n{\n"
                "    concat_1 = concat([values, values_2], axis = 1);\n"
                "    sub_1 = sub(concat_1, y);\n"
                "    neg_1 = neg(sub_1);\n"
                "    neg_2 = neg(neg_1);\n"),
      std::string::npos)
      << text;
}

// Constants belong to a block if one operation uses them; operations with effects belong to none.
TEST(RepeatedBlocksTest, ConstantsAndEffects) {
  const auto chain = [](const std::string& statement) {
    return Chain(5, "r", "y", [&](int i, std::string_view input, std::string_view output) {
      return fmt::format(fmt::runtime(statement), fmt::arg("i", i), fmt::arg("in", input),
                         fmt::arg("out", output));
    });
  };
  const std::string own = chain(
      "    k{i} = constant(shape = [1, 4], value = [1.0, 2.0, 3.0, 4.0]);\n    a{i} = add({in}, k{i});\n"
      "    b{i} = sin(a{i});\n    {out} = neg(b{i});\n");
  EXPECT_EQ(LengthsOf(Check(Graph(own))), std::vector<int64_t>{4});
  const std::string shared =
      "    k = constant(shape = [1, 4], value = [1.0, 2.0, 3.0, 4.0]);\n" +
      chain("    a{i} = add({in}, k);\n    b{i} = sin(a{i});\n    {out} = neg(b{i});\n");
  EXPECT_EQ(LengthsOf(Check(Graph(shared))), std::vector<int64_t>{3});
  // Constants of different values are arguments.
  const std::string other = chain(
      "    k{i} = constant(shape = [1, 4], value = [1.0, 2.0, 3.0, {i}.0]);\n    a{i} = add({in}, "
      "k{i});\n    b{i} = sin(a{i});\n    c{i} = tanh(b{i});\n    {out} = neg(c{i});\n");
  const std::string text = Check(Graph(other));
  EXPECT_EQ(LengthsOf(text), std::vector<int64_t>{4});
  EXPECT_NE(text.find("_block( x: tensor<scalar>, y: tensor<scalar> )"), std::string::npos) << text;
  const std::string updated = Check(Graph(
      chain("    w{i} = variable(shape = [1, 4], label = 'w{i}');\n    a{i} = sin({in});\n    b{i} = "
            "neg(a{i});\n    u{i} = update(w{i}, b{i});\n    c{i} = neg(u{i});\n    {out} = cos(c{i});\n")));
  EXPECT_EQ(LengthsOf(updated), std::vector<int64_t>{4});  // from an update to the next one
  EXPECT_EQ(updated.substr(0, updated.find("\ngraph ")).find("update"), std::string::npos) << updated;
}

// A constant that is named but whose tensor is not, as in graphs of other tools, is an operation, too.
TEST(RepeatedBlocksTest, NamedConstants) {
  const std::string body = Chain(5, "r", "y", [](int i, std::string_view input, std::string_view output) {
    return fmt::format(
        "    k{0} = constant(shape = [1, 4], value = [1.0, 2.0, 3.0, 4.0]);\n    a{0} = add({1}, k{0});\n"
        "    b{0} = sin(a{0});\n    {2} = neg(b{0});\n",
        i, input, output);
  });
  Expansion expansion(Graph(body));
  std::string text = ir::PrintGraph(*expansion.graph);
  for (int i = 0; i < 5; ++i) {
    const std::string names = fmt::format(" as [\"k{}\"]", i);
    ASSERT_NE(text.find(names), std::string::npos) << text;
    text.erase(text.find(names), names.size());
  }
  const std::unique_ptr<ir::Graph> graph =
      ir::ParseGraph(expansion.context.sources.AddText("graph", text), expansion.registry, expansion.context);
  ASSERT_NE(graph, nullptr) << expansion.Diagnostics();
  const std::vector<RepeatedBlock> blocks = FindRepeatedBlocks(*graph, *ir::TopologicalOrder(*graph));
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].instances.size(), 5u);
  EXPECT_EQ(blocks[0].instances[0].nodes.size(), 4u);
}

// Blocks without a result that is used elsewhere are no fragments.
TEST(RepeatedBlocksTest, UnusedBlocks) {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    body += fmt::format(
        "    a{0} = tanh(x);\n    b{0} = sin(a{0});\n    c{0} = neg(b{0});\n    d{0} = cos(c{0});\n", i);
  }
  const std::string text = Check(Graph(body + "    y = relu(x);\n"));
  EXPECT_EQ(FragmentsOf(text), 0) << text;
}

TEST(RepeatedBlocksTest, RandomGraphs) {
  std::mt19937 random(7);
  int64_t fragments = 0;
  for (int graph = 0; graph < 200; ++graph) {
    const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
    // The operations of a few blocks, each with operands by distance.
    std::vector<std::vector<std::pair<int, std::pair<int, int>>>> blocks(static_cast<size_t>(1 + below(3)));
    for (auto& block : blocks) {
      for (int i = 2 + below(8); i > 0; --i) block.push_back({below(7), {1 + below(3), 1 + below(5)}});
    }
    std::vector<std::string> tensors{"x"};
    std::string body;
    for (int i = 2 + below(10); i > 0; --i) {
      for (const auto& [operation, distances] :
           blocks[static_cast<size_t>(below(static_cast<int>(blocks.size())))]) {
        const auto operand = [&](int distance) {
          const size_t at = tensors.size() - std::min(tensors.size(), static_cast<size_t>(distance));
          return tensors[at];
        };
        const std::string name = fmt::format("t{}", tensors.size());
        const std::string a = operand(distances.first), b = operand(distances.second);
        switch (operation) {
          case 0:
            body += fmt::format("    {} = tanh({});\n", name, a);
            break;
          case 1:
            body += fmt::format("    {} = mul({}, 0.{});\n", name, a, distances.second);
            break;
          case 2:
            body += fmt::format("    {} = sub({}, {});\n", name, a, b);
            break;
          case 3:
            body +=
                fmt::format("    {}_w = variable(shape = [1, 4], label = '{}');\n    {} = max({}, {}_w);\n",
                            name, name, name, a, name);
            break;
          case 4:
            body += fmt::format("    {}_a, {} = moments({}, axes = [0]);\n", name, name, a);
            break;
          case 5:
            body +=
                fmt::format("    {}_c = constant(shape = [1, 4], value = [0.5]);\n    {} = add({}, {}_c);\n",
                            name, name, a, name);
            break;
          default:
            body += fmt::format("    {}_l = lt({}, 0.0);\n    {} = select({}_l, {}, {});\n", name, a, name,
                                name, b, a);
            break;
        }
        tensors.push_back(name);
      }
    }
    body += fmt::format("    y = neg({});\n", tensors.back());
    std::string text = Graph(body, below(2) == 0 ? "y" : fmt::format("y, {}", tensors[tensors.size() / 2]));
    // A graph has no result that is an input.
    if (text.find("y, x )") != std::string::npos) text = Graph(body);
    fragments += FragmentsOf(Check(text));
    if (HasFailure()) break;
  }
  EXPECT_GT(fragments, 100);
}

// Two operations are a block, too; its name is not that of the graph.
TEST(RepeatedBlocksTest, PairsOfOperations) {
  const auto pair = [](int i, std::string_view input, std::string_view output) {
    return fmt::format("    a{0} = tanh({1});\n    b{0} = neg(a{0});\n    {2} = mul(b{0}, {0}.5);\n", i,
                       input, output);
  };
  std::string document = Graph(Chain(20, "r", "y", pair));
  const std::string text = Check(document);
  EXPECT_EQ(LengthsOf(text), std::vector<int64_t>{2}) << text;
  EXPECT_NE(text.find("fragment tanh_neg_block("), std::string::npos) << text;
  document.replace(document.find("graph g("), 8, "graph tanh_neg_block(");
  EXPECT_NE(Check(document).find("fragment tanh_neg_block_2("), std::string::npos);
}

// Operations with bodies are in no block.
TEST(RepeatedBlocksTest, OperationsWithBodies) {
  const auto branch = [](int i, std::string_view input, std::string_view output) {
    return fmt::format(
        "    [a{0}] = if_else(c, [{1}], then_body = 'one', else_body = 'two');\n    b{0} = sin(a{0});\n"
        "    {2} = cos(b{0});\n",
        i, input, output);
  };
  Expansion expansion(
      "version 1.0;\nextension KHR_enable_fragment_definitions NNEFC_control_flow;\n"
      "fragment one( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
      "fragment two( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = neg(x); }\n"
      "graph g( c, x ) -> ( y )\n{\n    c = external<logical>(shape = [1]);\n    x = external(shape = [1, "
      "4]);\n" +
      Chain(12, "r", "y", branch) + "}\n");
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  const std::string text = WithFragments(expansion);
  EXPECT_NE(text.find("fragment sin_cos_block("), std::string::npos) << text;
  EXPECT_EQ(text.find("if_else_"), std::string::npos) << text;
}

TEST(RepeatedBlocksTest, LargeGraphs) {
  std::string body = Chain(20'000, "t", "y", [](int i, std::string_view input, std::string_view output) {
    return fmt::format("    {} = {}({});\n", output, i % 3 == 0 ? "tanh" : i % 3 == 1 ? "sin" : "neg", input);
  });
  const std::string text = Check(Graph(body));
  EXPECT_LT(LinesOf(text), 1000);
  // The time for blocks is bounded: theirs are of at most 2,500,000 / 20,000 operations.
  EXPECT_LE(std::ranges::max(LengthsOf(text)), 125);
  EXPECT_GT(std::ranges::max(LengthsOf(text)), 64);
}

// A document without operations has no blocks.
TEST(RepeatedBlocksTest, NoOperations) {
  for (const char* body :
       {"    y = constant(shape = [1], value = [2.0]);\n", "    y = variable(shape = [1], label = 'y');\n"})
    EXPECT_EQ(FragmentsOf(Check(Graph(body))), 0) << body;
}

class NetworkBlocksTest : public ::testing::TestWithParam<const char*> {};

TEST_P(NetworkBlocksTest, AreShorter) {
  std::ifstream file(std::string("tests/networks/") + GetParam());
  std::stringstream network;
  network << file.rdbuf();
  Expansion expansion(network.str());
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  const std::string flat = expansion.Flat();
  EXPECT_LT(LinesOf(Check(flat)), LinesOf(flat));
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkBlocksTest,
                         ::testing::Values("googlenet.nnef", "mobilenetv2.nnef", "resnet50.nnef",
                                           "vgg19.nnef"));

}  // namespace
}  // namespace nnefc::expand::print
