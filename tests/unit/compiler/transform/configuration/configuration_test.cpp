// Cases of configurations, written from the valid contents of an entry, and the expected diagnostics.

#include "compiler/transform/configuration/configuration.h"

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

struct ReadResult {
  std::string text;  // "1:5 label: message", one per line
  std::optional<Configuration> read;
};

ReadResult Read(const std::string& json) {
  Context context;
  ReadResult result;
  result.read = ReadConfiguration(context.sources.AddText("c.json", json), context);
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
    const LineColumn place = context.sources.Position(diagnostic.range.start());
    result.text += fmt::format("{}{}:{} {}: {}", result.text.empty() ? "" : "\n", place.line, place.column,
                               diagnostic.rule->label, diagnostic.message);
  }
  EXPECT_EQ(result.read.has_value(), !context.emitter.has_errors()) << json;
  return result;
}

// Returns an entry of a scope with further members.
std::string Scope(const std::string& more) {
  return R"([{"id": "T", "match_kind": "scope", "instances": ["a"])" + more + "}]";
}
std::string Points(const std::string& more) {
  return R"([{"id": "T", "match_kind": "points", "instances": {"start_points": ["a"], "end_points": ["b"]})" +
         more + "}]";
}

struct ConfigurationCase {
  std::string json;
  const char* message;
};

TEST(ConfigurationTest, MistakesAreToldAtTheirPlace) {
  const ConfigurationCase cases[] = {
      {"",
       "1:1 transform.config-syntax: invalid JSON; the file holds a list of objects, such as "
       R"(`[{"id": "Blocks", "match_kind": "scope", "instances": [".*/block"]}]`)"},
      {"[{\n  \"id\": ,}]",
       "2:9 transform.config-syntax: invalid JSON; the file holds a list of objects, such as "
       R"(`[{"id": "Blocks", "match_kind": "scope", "instances": [".*/block"]}]`)"},
      {std::string(100, '['), "1:65 transform.config-syntax: the file is nested deeper than 64"},
      {"{}", "1:1 transform.config-value: the configuration must be a list of objects"},
      {" 12", "1:2 transform.config-value: the configuration must be a list of objects"},
      {"[1]", "1:2 transform.config-value: an entry of the configuration must be an object"},
      {"[{}]", "1:2 transform.config-value: the entry has no `id`"},
      {R"([{"match_kind": "general"}])", "1:2 transform.config-value: the entry has no `id`"},
      {R"([{"id": "", "match_kind": "general"}])",
       "1:9 transform.config-value: `id` must be text that is not empty"},
      {R"([{"id": 7, "match_kind": "general"}])",
       "1:9 transform.config-value: `id` must be text that is not empty"},
      {R"([{"id": "T", "id": "U", "match_kind": "general"}])",
       "1:14 transform.config-value: `id` stands here a second time; write it once"},
      {R"([{"id": "T"}])", "1:2 transform.config-value: the entry has no `match_kind`"},
      {R"([{"id": "T", "instances": ["a"]}])", "1:2 transform.config-value: the entry has no `match_kind`"},
      {R"([{"id": "T", "match_kind": "Scope"}])",
       "1:28 transform.config-value: `match_kind` must be `points`, `scope` or `general`"},
      {R"([{"id": "T", "match_kind": null}])",
       "1:28 transform.config-value: `match_kind` must be `points`, `scope` or `general`"},
      {R"([{"id": "T", "match_kind": "scope"}])", "1:2 transform.config-value: the entry has no `instances`"},
      {R"([{"id": "T", "match_kind": "points"}])",
       "1:2 transform.config-value: the entry has no `instances`"},
      {R"([{"id": "T", "match_kind": "scope", "instances": []}])",
       "1:50 transform.config-value: `instances` of a scope must be a list of regular expressions of names"},
      {R"([{"id": "T", "match_kind": "scope", "instances": "a"}])",
       "1:50 transform.config-value: `instances` of a scope must be a list of regular expressions of names"},
      {R"([{"id": "T", "match_kind": "scope", "instances": {"start_points": ["a"], "end_points": ["b"]}}])",
       "1:50 transform.config-value: `instances` of a scope must be a list of regular expressions of names"},
      {R"([{"id": "T", "match_kind": "scope", "instances": ["a", 3]}])",
       "1:56 transform.config-value: an instance of a scope must be text that is not empty"},
      {R"([{"id": "T", "match_kind": "scope", "instances": ["a("]}])",
       "1:51 transform.config-value: `a(` is not a regular expression; write `\\\\` before a bracket that "
       "stands for "
       "itself"},
      {R"([{"id": "T", "match_kind": "points", "instances": ["a"]}])",
       "1:51 transform.config-value: `instances` of points must be an object with `start_points` and "
       "`end_points`"},
      {R"([{"id": "T", "match_kind": "points", "instances": {"start_points": ["a"]}}])",
       "1:51 transform.config-value: `end_points` must be a list of names of nodes"},
      {R"([{"id": "T", "match_kind": "points", "instances": {"start_points": ["a"], "end_points": ["b"], "other": 1}}])",
       "1:96 transform.config-key: there is no key `other` here; there are `end_points`, `start_points`"},
      {R"([{"id": "T", "match_kind": "points", "instances": {"start_point": ["a"], "end_points": ["b"]}}])",
       "1:52 transform.config-key: there is no key `start_point` here; did you mean `start_points`?\n"
       "1:51 transform.config-value: `start_points` must be a list of names of nodes"},
      {R"([{"id": "T", "match_kind": "points", "instances": {"start_points": [], "end_points": ["b"]}}])",
       "1:68 transform.config-value: `start_points` must be a list of names of nodes"},
      {R"([{"id": "T", "match_kind": "points", "instances": {"start_points": ["a", "a"], "end_points": ["b"]}}])",
       "1:74 transform.config-value: `start_points` has `a` twice"},
      {Scope(R"(, "custom_attributes": [1])"),
       "1:78 transform.config-value: `custom_attributes` must be an object"},
      {Scope(R"(, "op": "Mish", "custom_attributes": {"a": {"b": 1}})"),
       "1:98 transform.config-value: an attribute of a node must be a number, text, a logical value or a "
       "list "
       "of these"},
      {Scope(R"(, "op": "Mish", "custom_attributes": {"a": [1, null]})"),
       "1:98 transform.config-value: an attribute of a node must be a number, text, a logical value or a "
       "list "
       "of these"},
      {Scope(R"(, "inputs": [{"node": "a", "port": 0}])"),
       "1:68 transform.config-value: an item of `inputs` must be a list of objects with `node` and `port`"},
      {Scope(R"(, "inputs": [[]])"),
       "1:68 transform.config-value: an item of `inputs` must name the nodes that read the tensor"},
      {Scope(R"(, "inputs": [[{"node": "a"}]])"),
       "1:69 transform.config-value: a node of `inputs` and `outputs` must be an object with `node` and "
       "`port`"},
      {Scope(R"(, "inputs": [[{"port": 0}]])"),
       "1:69 transform.config-value: a node of `inputs` and `outputs` must be an object with `node` and "
       "`port`"},
      {Scope(R"(, "outputs": [{"node": "a", "port": 0, "prt": 1}])"),
       "1:94 transform.config-key: there is no key `prt` here; did you mean `port`?"},
      {Scope(R"(, "inputs": [[{"node": "a", "port": -1}]])"),
       "1:91 transform.config-value: `port` must be a number from 0 on"},
      {Scope(R"(, "inputs": [[{"node": "a", "port": 2147483648}]])"),
       "1:91 transform.config-value: `port` must be a number from 0 on"},
      {Scope(R"(, "inputs": [[{"node": "a", "port": 2147483647}]])"), ""},
      {Scope(R"(, "inputs": [[{"node": "a", "port": "0"}]])"),
       "1:91 transform.config-value: `port` must be a number from 0 on"},
      {Scope(R"(, "inputs": [[{"node": "a", "port": 0}], [{"node": "a", "port": 0}]])"),
       "1:67 transform.config-value: `inputs` has port 0 of `a` twice"},
      {Scope(R"(, "outputs": [{"node": "a", "port": 0}, {"node": "a", "port": 0}])"),
       "1:68 transform.config-value: `outputs` has port 0 of `a` twice"},
      {Scope(R"(, "outputs": {"node": "a", "port": 0})"),
       "1:68 transform.config-value: `outputs` must be a list of objects with `node` and `port`"},
      {Scope(R"(, "outputs": [{"node": "[", "port": 0}])"),
       "1:78 transform.config-value: `[` is not a regular expression; write `\\\\` before a bracket that "
       "stands "
       "for "
       "itself"},
      {Scope(R"(, "op": "")"), "1:63 transform.config-value: `op` must be text that is not empty"},
      {R"([{"id": "T", "match_kind": "general", "op": "Mish"}])",
       "1:45 transform.config-value: an entry of `match_kind` `general` has no sub-graph that `op` could "
       "replace"},
      {Points(R"(, "include_inputs_to_sub_graph": false)"),
       "1:128 transform.config-value: `include_inputs_to_sub_graph` must be `true`: the points belong to the "
       "sub-graph"},
      {Points(R"(, "include_outputs_to_sub_graph": 1)"),
       "1:129 transform.config-value: `include_outputs_to_sub_graph` must be `true`"},
      {R"([{"id": "T", "match_kind": "general"}, {"id": "T", "match_kind": "scope", "instances": ["a"]}])",
       "1:47 transform.config-value: entries of the id `T` are of kind `general` and `scope`; they must be "
       "of one"},
      // Unusual but valid.
      {R"([{"id": "T", "match_kind": "general"}, {"id": "T", "match_kind": "general"}])",
       "1:47 transform.config-shared-id: several entries have the id `T`"},
      {Scope(R"(, "custom_atributes": {})"),
       "1:57 transform.config-key: there is no key `custom_atributes` here; did you mean "
       "`custom_attributes`?"},
      {Scope(R"(, "colour": {})"),
       "1:57 transform.config-key: there is no key `colour` here; there are `custom_attributes`, `id`, "
       "`include_inputs_to_sub_graph`, `include_outputs_to_sub_graph`, `inputs`, `instances`, `match_kind`, "
       "`op`, "
       "`outputs`"},
      {"[]", ""},
      {R"([{"id": "T", "match_kind": "general", "instances": 5}])", ""},
      {Scope(R"(, "include_inputs_to_sub_graph": false)"), ""},
      {Points(R"(, "include_inputs_to_sub_graph": true, "include_outputs_to_sub_graph": true)"), ""},
  };
  for (const ConfigurationCase& item : cases) EXPECT_EQ(Read(item.json).text, item.message) << item.json;
}

TEST(ConfigurationTest, EveryMemberIsRead) {
  const ReadResult result =
      Read(R"([{"id": "T", "match_kind": "scope", "instances": [".*a", "b\\d"], "op": "Mish",
    "inputs": [[{"node": "x$", "port": 1}, {"node": "y$", "port": 0}], [{"node": "z$", "port": 0}]],
    "outputs": [{"node": "o$", "port": 2}],
    "custom_attributes": {"i": 5, "d": 0.5, "s": "t", "l": true, "is": [1, 2], "ds": [1, 0.5], "ss": ["u"],
                          "ls": [false], "e": [], "m": [[1, 2], [3]], "n": -9223372036854775808}}])");
  ASSERT_EQ(result.text, "");
  ASSERT_EQ(result.read->entries.size(), 1u);
  const ReplacementDescription& entry = result.read->entries[0];
  EXPECT_EQ(entry.scopes, (std::vector<std::string>{".*a", "b\\d"}));
  EXPECT_EQ(entry.op, "Mish");
  EXPECT_EQ(entry.inputs, (std::vector<std::vector<NodePort>>{{{"x$", 1}, {"y$", 0}}, {{"z$", 0}}}));
  EXPECT_EQ(entry.outputs, (std::vector<NodePort>{{"o$", 2}}));
  const ir::AttributeMap& attributes = entry.custom_attributes;
  EXPECT_EQ(attributes.Get("i"), ir::Attribute(5));
  EXPECT_EQ(attributes.Get("d"), ir::Attribute(0.5));
  EXPECT_EQ(attributes.Get("s"), ir::Attribute("t"));
  EXPECT_EQ(attributes.Get("l"), ir::Attribute(true));
  EXPECT_EQ(attributes.Get("is"), ir::Attribute(ir::Attribute::Integers{1, 2}));
  EXPECT_EQ(attributes.Get("ds"), ir::Attribute(ir::Attribute::Scalars{1, 0.5}));
  EXPECT_EQ(attributes.Get("ss"), ir::Attribute(ir::Attribute::Strings{"u"}));
  EXPECT_EQ(attributes.Get("ls"), ir::Attribute(ir::Attribute::Logicals{false}));
  EXPECT_EQ(attributes.Get("e"), ir::Attribute());
  EXPECT_EQ(attributes.Get("m"),
            ir::Attribute(ir::AttributeList{
                {ir::Attribute(ir::Attribute::Integers{1, 2}), ir::Attribute(ir::Attribute::Integers{3})}}));
  EXPECT_EQ(attributes.Get("n"), ir::Attribute(INT64_MIN));
}

// Attributes of nodes have no null and no objects, which only transformations read.
TEST(ConfigurationTest, CustomAttributesOfAnyKindAreRead) {
  const ReadResult result =
      Read(Scope(R"(, "custom_attributes": {"a": {"b": [1, null]}, "c": null, "d": [2, 3]})"));
  EXPECT_EQ(result.text, "");
  ASSERT_TRUE(result.read.has_value());
  const ReplacementDescription& entry = result.read->entries.at(0);
  EXPECT_EQ(entry.custom_attributes.Find("a"), nullptr);
  EXPECT_EQ(entry.custom_attributes.Find("c"), nullptr);
  EXPECT_EQ(*entry.custom_attributes.Find("d"), ir::Attribute(ir::Attribute::Integers{2, 3}));
  const JsonValue* inner = entry.custom_json.Find("a")->Find("b");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->get<JsonValue::Items>()->size(), 2U);
  EXPECT_NE(entry.custom_json.Find("c")->get<std::nullptr_t>(), nullptr);
  EXPECT_EQ(Read(Scope(R"(, "op": "Mish", "custom_attributes": {"c": null})")).text, "");
}

}  // namespace
}  // namespace nnefc::transform
