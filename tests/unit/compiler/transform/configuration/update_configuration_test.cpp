// Completion of configuration entries by the inputs and outputs of their scopes.

#include "compiler/transform/configuration/update_configuration.h"

#include "tests/unit/compiler/transform/configuration/configuration_support.h"

namespace nnefc::transform {
namespace {

class UpdateConfigurationTest : public TransformTest {
 protected:
  std::string Update(const std::string& json, const std::string& text = kBlocks) {
    Context context;
    const auto graph = Parse(text);
    const auto updated = UpdateConfiguration(*graph, context.sources.AddText("c.json", json), context);
    return updated ? *updated : context.emitter.diagnostics().front().message;
  }
};

TEST_F(UpdateConfigurationTest, FillsWhatIsMissing) {
  EXPECT_EQ(Update(R"([{"match_kind": "scope", "id": "T", "instances": [".*net/block1", ".*net/block2"]},
                       {"id": "G", "match_kind": "general", "custom_attributes": {"b": 1.5, "a": [1]}}])"),
            R"([
    {
        "id": "T",
        "inputs": [
            [
                {
                    "node": "abs$",
                    "port": 0
                },
                {
                    "node": "relu$",
                    "port": 0
                }
            ]
        ],
        "instances": [
            ".*net/block1",
            ".*net/block2"
        ],
        "match_kind": "scope",
        "outputs": [
            {
                "node": "sum$",
                "port": 0
            }
        ]
    },
    {
        "custom_attributes": {
            "a": [
                1
            ],
            "b": 1.5
        },
        "id": "G",
        "match_kind": "general"
    }
]
)");
}

// Inputs and outputs are in the order of their names, whatever the order of the nodes.
TEST_F(UpdateConfigurationTest, OrdersNames) {
  Context context;
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "net/z" (%0) : f32[2]
  %2 = opset1.Abs "net/a" (%0) : f32[2]
  %3 = opset1.Exp "net/m" (%1) : f32[2]
  %4 = opset1.Add "sum" (%2, %3) : f32[2]
  %5 = opset1.Multiply "y" (%4, %1) : f32[2]
  opset1.Result "y" (%5)
)");
  const FileId file =
      context.sources.AddText("c.json", R"([{"match_kind": "scope", "id": "T", "instances": ["net"]}])");
  const auto text = UpdateConfiguration(*graph, file, context);
  ASSERT_TRUE(text.has_value());
  const std::string outputs = text->substr(text->find("outputs"));
  ASSERT_NE(outputs.find("a$"), std::string::npos) << *text;
  EXPECT_LT(outputs.find("a$"), outputs.find("m$")) << *text;
  EXPECT_LT(outputs.find("m$"), outputs.find("z$")) << *text;
}

TEST_F(UpdateConfigurationTest, KeepsWhatIsThereAndReadsItBack) {
  const std::string once = Update(R"([{"match_kind": "scope", "id": "T", "instances": ["net/block1"],
                                       "outputs": [{"node": "mine", "port": 0}]}])");
  EXPECT_NE(once.find("\"mine\""), std::string::npos);
  EXPECT_EQ(once.find("\"sum$\""), std::string::npos);
  EXPECT_NE(once.find("\"relu$\""), std::string::npos);
  EXPECT_EQ(Update(once), once);
}

// What an entry has is not searched for: instances may differ there.
TEST_F(UpdateConfigurationTest, OnlyMissingPartsAreSearched) {
  const char* instances =
      R"x([{"match_kind": "scope", "id": "T", "instances": ["net/block1", "net/block2/(abs|sum)"])x";
  const std::string inputs = R"("inputs": [[{"node": "sum$", "port": 0}]])",
                    outputs = R"("outputs": [{"node": "sum$", "port": 0}])";
  const std::string error = "the instance `net/block2/(abs|sum)` of the entry `T` has no nodes `relu$`";
  EXPECT_EQ(Update(fmt::format("{}, {}, {}}}]", instances, inputs, outputs)).find("the instance"),
            std::string::npos);
  EXPECT_EQ(Update(fmt::format("{}, {}}}]", instances, outputs)).find(error), 0U);
}

// Literals, constants without a name, are neither inputs nor outputs.
TEST_F(UpdateConfigurationTest, LiteralsAreNoInputs) {
  const auto update = [&](const std::string& name) {
    Context context;
    const auto graph =
        Parse(fmt::format(R"(  %0 = nnef.external "x" {{shape = [2], dtype = "scalar"}} : f32[2]
  %1 = nnef.constant "{}" {{shape = [], value = [2.0], dtype = "scalar"}} : f32[]
  %2 = nnef.mul "net/mul" (%0, %1) : f32[2]
  %3 = nnef.relu "relu" (%2) : f32[2]
  opset1.Result "y" (%3)
)",
                          name));
    const std::string json = R"([{"match_kind": "scope", "id": "T", "instances": ["net"]}])";
    return UpdateConfiguration(*graph, context.sources.AddText("c.json", json), context).value_or("no text");
  };
  const auto count = [](const std::string& text) {
    size_t found = 0;
    for (size_t at = text.find("\"port\""); at != std::string::npos; at = text.find("\"port\"", at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count(update("")), 2U) << update("");  // of x, and the output
  EXPECT_EQ(count(update("two")), 3U) << update("two");
}

// A block without inputs from outside has an empty list of them.
TEST_F(UpdateConfigurationTest, BlocksWithoutInputs) {
  Context context;
  const auto graph = Parse(R"(  %0 = opset1.Parameter "net/block/x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "net/block/relu" (%0) : f32[2]
  %2 = opset1.Abs "net/abs" (%1) : f32[2]
  opset1.Result "y" (%2)
)");
  const std::string json = R"([{"match_kind": "scope", "id": "T", "instances": ["net/block"]}])";
  const auto text = UpdateConfiguration(*graph, context.sources.AddText("c.json", json), context);
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find("\"inputs\": []"), std::string::npos) << *text;
  EXPECT_NE(text->find("\"relu$\""), std::string::npos) << *text;
}

// One mistake is reported once, of inputs and of outputs.
TEST_F(UpdateConfigurationTest, OneMistake) {
  for (const char* given : {R"("inputs": [])", R"("outputs": [])"}) {
    Context context;
    const auto graph = Parse(kBlocks);
    const std::string json =
        fmt::format(R"([{{"match_kind": "scope", "id": "T", "instances": ["net/blo"], {}}}])", given);
    EXPECT_FALSE(UpdateConfiguration(*graph, context.sources.AddText("c.json", json), context).has_value());
    ASSERT_EQ(context.emitter.diagnostics().size(), 1U) << given;
    EXPECT_NE(context.emitter.diagnostics()[0].message.find("does not end in front of a `/`"),
              std::string::npos);
  }
}

TEST_F(UpdateConfigurationTest, Mistakes) {
  EXPECT_EQ(Update(R"([{"match_kind": "scope", "id": "T", "instances": ["net/block3"]}])"),
            "no name of a node begins as the instance `net/block3` of the entry `T` says");
  EXPECT_EQ(Update(R"([{"match_kind": "scope", "id": "T", "instances": ["net/blo"]}])"),
            "the instance `net/blo` of the entry `T` does not end in front of a `/` of `net/block1/relu`");
  EXPECT_EQ(
      Update(
          R"x([{"match_kind": "scope", "id": "T", "instances": ["net/block1", "net/block2/(abs|sum)"]}])x"),
      "the instance `net/block2/(abs|sum)` of the entry `T` has no nodes `relu$`; expected one, as "
      "`net/block1` has");
}

// The first instance, too, has one node of each name: `s.` stands for two blocks.
TEST_F(UpdateConfigurationTest, InstancesThatStandForSeveralBlocks) {
  const std::string blocks = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "s1/relu" (%0) : f32[2]
  %2 = opset1.ReLU "s2/relu" (%1) : f32[2]
  %3 = opset1.ReLU "t/relu" (%2) : f32[2]
  opset1.Result "y" (%3)
)";
  const auto update = [&](const std::string& instances) {
    return Update(R"([{"match_kind": "scope", "id": "T", "instances": [)" + instances + "]}]", blocks);
  };
  const std::string wrong =
      "the instance `s.` of the entry `T` has 2 nodes `relu$`; expected one, as `{}` has";
  EXPECT_EQ(update(R"("s.")"), fmt::format(fmt::runtime(wrong), "s."));
  EXPECT_EQ(update(R"("s.", "t")"), fmt::format(fmt::runtime(wrong), "s."));
  EXPECT_EQ(update(R"("t", "s.")"), fmt::format(fmt::runtime(wrong), "t"));
  EXPECT_EQ(update(R"("s1", "s2", "t")").find("the instance"), std::string::npos);
}

// An operation of the block that nothing reads is an output of it.
TEST_F(UpdateConfigurationTest, NodesThatNothingReadsAreOutputs) {
  const std::string x = "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2]\n";
  const std::string inner = "  %1 = opset1.ReLU \"net/inner\" (%0) : f32[2]\n";
  const auto outputs = [&](const std::string& nodes, const std::string& instance = "net") {
    const std::string text =
        Update(R"([{"match_kind": "scope", "id": "T", "inputs": [], "instances": [")" + instance + "\"]}]",
               x + inner + nodes);
    const size_t begin = text.find("\"outputs\": ");
    return begin == std::string::npos ? text : std::regex_replace(text.substr(begin), std::regex("\\s"), "");
  };
  const std::string none = R"("outputs":[]}])";
  EXPECT_EQ(outputs("  %2 = opset1.Abs \"net/unread\" (%1) : f32[2]\n  opset1.Result \"y\" (%0)\n"),
            R"("outputs":[{"node":"unread$","port":0}]}])");
  // A constant has no value of the block, and a sink has no output.
  EXPECT_EQ(outputs("  %2 = opset1.Const \"net/k\" : f32[1] = dense<f32[1]: 1.0>\n"
                    "  %3 = opset1.Abs \"net/unread\" (%1) : f32[2]\n  opset1.Result \"y\" (%0)\n"),
            R"("outputs":[{"node":"unread$","port":0}]}])");
  EXPECT_EQ(outputs("  %2 = nnef.constant \"net/k\" {shape = [], value = [2.0], dtype = \"scalar\"} : f32[]\n"
                    "  %3 = opset1.Abs \"net/unread\" (%1) : f32[2]\n  opset1.Result \"y\" (%0)\n"),
            R"("outputs":[{"node":"unread$","port":0}]}])");
  EXPECT_EQ(outputs("  opset6.Assign \"net/set\" (%1) {variable_id = \"v\"}\n  opset1.Result \"y\" (%0)\n"),
            none);
  // Each of them needs a name within the scope.
  EXPECT_EQ(outputs("  %2 = opset1.Abs \"netto\" (%0) : f32[2]\n  opset1.Result \"y\" (%1)\n"
                    "  opset1.Result \"z\" (%0)\n"),
            "the instance `net` of the entry `T` does not end in front of a `/` of `netto`");
}

}  // namespace
}  // namespace nnefc::transform
