#include "compiler/transform/pipeline/transformation_list.h"

#include <cstdlib>

#include "compiler/transform/pipeline/standard.h"
#include "gtest/gtest.h"

class FusionOutsideNamespaces : public nnefc::transform::FrontReplacementPattern {
  void FindAndReplacePattern(nnefc::transform::Graph&) override {}
};

namespace nnefc::transform {

namespace front {

class Alpha : public FrontReplacementPattern {
  void FindAndReplacePattern(Graph&) override {}
};

class Beta : public FrontReplacementPattern {
  void FindAndReplacePattern(Graph&) override {}
};

class Gamma : public FrontReplacementPattern {
 public:
  Gamma() { id = "THIRD"; }
  void FindAndReplacePattern(Graph&) override {}
};

}  // namespace front

namespace middle {

// Between PreMiddleStart and MiddleStart.
class Early : public MiddleReplacementPattern {
  Names RunAfter() const override { return {"PreMiddleStart"}; }
  Names RunBefore() const override { return {"MiddleStart"}; }
  void FindAndReplacePattern(Graph&) override {}
};

}  // namespace middle

namespace {

class Placed : public FrontReplacementPattern {
 public:
  Placed(std::string name, Names before, Names after) : before_(std::move(before)), after_(std::move(after)) {
    id = std::move(name);
  }
  Names RunBefore() const override { return before_; }
  Names RunAfter() const override { return after_; }
  void FindAndReplacePattern(Graph&) override {}

 private:
  Names before_, after_;
};

std::string OrderOf(const TransformationList& list) {
  Emitter emitter;
  const auto order = list.Order(emitter);
  if (!order)
    return std::string(emitter.diagnostics().front().rule->label) + ": " +
           emitter.diagnostics().front().message;
  std::string text;
  for (const Transformation* item : *order) {
    const std::string name = item->name();
    text += (text.empty() ? "" : " ") + name.substr(name.rfind(':') + 1);
  }
  return text;
}

constexpr const char* kAnchors =
    "LoadFinish FrontStart FrontFinish Lowering PreMiddleStart MiddleStart MiddleFinish PostMiddleStart "
    "BackStart BackFinish TargetStart TargetFinish";

TEST(TransformationListTest, AnchorsHaveTheirOrder) {
  TransformationList list;
  RegisterAnchors(list);
  EXPECT_EQ(OrderOf(list), kAnchors);
}

TEST(TransformationListTest, TransformationsStandBetweenTheirAnchors) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<front::Alpha>();
  list.Add<front::Beta>();
  list.Add<front::Gamma>();
  list.Add<middle::Early>();
  EXPECT_EQ(OrderOf(list),
            "LoadFinish FrontStart THIRD Beta Alpha FrontFinish Lowering PreMiddleStart Early MiddleStart "
            "MiddleFinish PostMiddleStart BackStart BackFinish TargetStart TargetFinish");
}

TEST(TransformationListTest, RunAfterReplacesTheAnchor) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<front::Alpha>();
  list.Add<Placed>("first", Names{"front.Alpha"}, Names{"FrontStart"});
  list.Add<Placed>("last", Names{"FrontFinish"}, Names{"nnefc::transform::front::Alpha"});
  EXPECT_EQ(OrderOf(list).substr(0, 52), "LoadFinish FrontStart first Alpha last FrontFinish L");
}

TEST(TransformationListTest, NamesThatNothingHasDoNotCount) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Placed>("x", Names{"FrontFinish", "no.Such"}, Names{"FrontStart", "NoSuchEither"});
  EXPECT_EQ(OrderOf(list).substr(0, 38), "LoadFinish FrontStart x FrontFinish Lo");
}

TEST(TransformationListTest, DisabledOnesTakePart) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Placed>("a", Names{"FrontFinish"}, Names{"b"});
  list.Add<Placed>("b", Names{"FrontFinish"}, Names{"c"}).enabled = false;
  list.Add<Placed>("c", Names{"FrontFinish"}, Names{"FrontStart"});
  EXPECT_EQ(OrderOf(list).substr(0, 27), "LoadFinish FrontStart c b a");
}

TEST(TransformationListTest, CyclesAreTold) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Placed>("a", Names{"b"}, Names{"FrontStart"});
  list.Add<Placed>("b", Names{"c"}, Names{"FrontStart"});
  list.Add<Placed>("c", Names{"a"}, Names{"FrontStart"});
  EXPECT_EQ(OrderOf(list), "transform.cycle: transformations wait for each other: `a` -> `b` -> `c` -> `a`");
}

// One whose place is not known has no order, and the others none without it.
class Unplaced : public FrontReplacementPattern {
 public:
  explicit Unplaced(bool is_before) : is_before_(is_before) { id = "unplaced"; }
  Names RunBefore() const override { return is_before_ ? throw Error("no place before") : Names{}; }
  Names RunAfter() const override { return is_before_ ? Names{} : throw Error("no place after"); }
  void FindAndReplacePattern(Graph&) override {}

 private:
  bool is_before_;
};

TEST(TransformationListTest, PlacesThatFailAreReported) {
  for (const bool is_before : {true, false}) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Unplaced>(is_before);
    list.Add<Placed>("a", Names{}, Names{"FrontStart"});
    const std::string found = OrderOf(list);
    EXPECT_NE(found.find(is_before ? "no place before" : "no place after"), std::string::npos) << found;
  }
}

TEST(TransformationListTest, IdsAreUnique) {
  TransformationList list;
  list.Add<Placed>("a", Names{}, Names{});
  list.Add<Placed>("a", Names{}, Names{});
  EXPECT_EQ(OrderOf(list), "transform.duplicate: two transformations are called `a`; an id belongs to one");
}

TEST(TransformationListTest, PhasesKeepToTheirSideOfLowering) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Placed>("late", Names{}, Names{"MiddleStart"});
  EXPECT_EQ(OrderOf(list),
            "transform.misplaced: `late` of the front phase would run after the graph is lowered; let it run "
            "before "
            "`FrontFinish`");
}

TEST(TransformationListTest, ThreeFormsOfANameAreFound) {
  TransformationList list;
  RegisterAnchors(list);
  front::Gamma& gamma = list.Add<front::Gamma>();
  EXPECT_EQ(list.Find("THIRD"), &gamma);
  EXPECT_EQ(list.Find("nnefc::transform::front::Gamma"), &gamma);
  EXPECT_EQ(list.Find("front.Gamma"), &gamma);
  EXPECT_EQ(list.Find("Gamma"), nullptr);
  EXPECT_EQ(list.Find(""), nullptr);
  EXPECT_EQ(list.Nearest("front.Gama"), "front.Gamma");
  EXPECT_EQ(list.Nearest("THIRT"), "THIRD");
}

// The classes of the Model Optimizer are those of the same phase and name, in any of its packages.
TEST(TransformationListTest, NamesOfTheModelOptimizer) {
  TransformationList list;
  front::Alpha& alpha = list.Add<front::Alpha>();
  front::Beta& beta = list.Add<front::Beta>();
  for (const char* package : {"extensions", "openvino.tools.mo", "mo"}) {
    const std::string prefix = std::string(package) + ".front.";
    EXPECT_EQ(list.Find(prefix + "some_file.Alpha"), &alpha) << package;
    EXPECT_EQ(list.Find(prefix + "tf.file.Beta"), &beta) << package;
    EXPECT_EQ(list.Find(prefix + "file.Gamma"), nullptr) << package;
    EXPECT_EQ(list.Find(std::string(package) + ".back.file.Alpha"), nullptr) << package;
  }
  EXPECT_EQ(list.Find("other.front.file.Alpha"), nullptr);
  // One class has another name here, in its phase alone.
  const TransformationList standard = StandardTransformations();
  EXPECT_NE(standard.Find("extensions.back.GatherNormalizer.GatherTreeNormalizer"), nullptr);
  EXPECT_EQ(standard.Find("extensions.back.GatherNormalizer.GatherTreeNormalizer"),
            standard.Find("back.GatherNormalizer"));
  EXPECT_EQ(standard.Find("extensions.middle.GatherNormalizer.GatherTreeNormalizer"), nullptr);
}

// A class outside namespaces has one name.
TEST(TransformationListTest, ClassesOutsideNamespaces) {
  TransformationList list;
  EXPECT_EQ(list.size(), 0U);
  const FusionOutsideNamespaces& added = list.Add<FusionOutsideNamespaces>();
  EXPECT_EQ(list.size(), 1U);
  EXPECT_EQ(list.Find("FusionOutsideNamespaces"), &added);
  EXPECT_EQ(list.Find("FusionOutsideNamespaces.FusionOutsideNamespaces"), nullptr);
  EXPECT_EQ(list.Nearest("FusionOutsideNamespace"), "FusionOutsideNamespaces");
}

// Anchors have an id alone.
TEST(TransformationListTest, AnchorsHaveNoClass) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<front::Gamma>();
  Emitter emitter;
  const auto order = list.Order(emitter);
  ASSERT_TRUE(order.has_value());
  for (const Transformation* item : *order) {
    EXPECT_EQ(list.Find(item->id.empty() ? item->name() : item->id), item);
    EXPECT_EQ(list.Find(item->class_name()), item->is_anchor() ? nullptr : item) << item->class_name();
  }
}

// A class in another language has the id in addition to its name with the folder, of which at least two parts
// suffice.
TEST(TransformationListTest, ForeignClassesAreFound) {
  TransformationList list;
  RegisterAnchors(list);
  front::Gamma& gamma = list.Add<front::Gamma>();
  auto made = std::make_unique<front::Alpha>();
  made->id = "ID";
  made->foreign_class = "extensions.front.one.One";
  Transformation* one = made.get();
  list.Add(std::move(made));
  for (const char* name : {"ID", "extensions.front.one.One", "front.one.One", "one.One"})
    EXPECT_EQ(list.Find(name), one) << name;
  for (const char* name : {"One", "ne.One", ".one.One", "front.one", "other.front.one.One", "front.Alpha"})
    EXPECT_EQ(list.Find(name), nullptr) << name;
  EXPECT_EQ(list.Find("front.Gamma"), &gamma);
  EXPECT_EQ(list.Nearest("extensions.front.one.Two"), "extensions.front.one.One");
}

// The Model Optimizer's names are those of modules in its packages.
TEST(TransformationListTest, BuiltInsHaveTheirNamesInTheModelOptimizer) {
  const TransformationList list = StandardTransformations();
  const auto find = [&](std::string_view name) {
    const Transformation* found = list.Find(name);
    return found == nullptr ? std::string("none")
                            : found->name().substr(found->name().find("transform::") + 11);
  };
  // The names in its documentation.
  EXPECT_EQ(find("extensions.back.NonmalizeToNormalizeL2.NormalizeToNormalizeL2"),
            "back::NormalizeToNormalizeL2");
  EXPECT_EQ(find("openvino.tools.mo.front.no_op_eraser.NoOpEraser"), "front::NoOpEraser");
  EXPECT_EQ(find("mo.front.standalone_const_eraser.StandaloneConstEraser"), "front::StandaloneConstEraser");
  EXPECT_EQ(find("openvino.tools.mo.front.Softplus_fusion.SoftplusFusion"), "front::SoftplusFusion");
  EXPECT_EQ(find("extensions.front.Mish_fusion.MishFusion"), "front::MishFusion");
  EXPECT_EQ(find("extensions.middle.L2NormToNorm.L2NormToNorm"), "middle::L2NormToNorm");
  EXPECT_EQ(find("extensions.middle.CheckForCycle.CheckForCycle"), "middle::CheckForCycle");
  EXPECT_EQ(find("extensions.back.ShufflenetReLUReorder.ShufflenetReLUReorder"),
            "back::ShufflenetReLUReorder");
  EXPECT_EQ(find("extensions.back.GatherNormalizer.GatherTreeNormalizer"), "back::GatherNormalizer");
  // A module in the package of a framework.
  EXPECT_EQ(find("extensions.front.tf.any.MishFusion"), "front::MishFusion");
  // Another phase, package or class; without a module.
  for (const char* name : {"extensions.middle.Mish_fusion.MishFusion", "folder.front.Mish_fusion.MishFusion",
                           "openvino.front.Mish_fusion.MishFusion", "extensions.front.Mish_fusion.Mish",
                           "extensions.front.Mish_fusion.", "extensions.front", "extensions.", "mo.",
                           "extensions.front.MishFusion", "mo.back.GatherTreeNormalizer",
                           "front.Mish_fusion.MishFusion", "back.GatherNormalizer.GatherTreeNormalizer"})
    EXPECT_EQ(find(name), "none") << name;
}

TEST(TransformationListTest, ClassesOfFoldersHavePriorityOverTheModelOptimizersNames) {
  TransformationList list = StandardTransformations();
  auto made = std::make_unique<front::Alpha>();
  made->foreign_class = "extensions.front.Mish_fusion.MishFusion";
  const Transformation* own = made.get();
  list.Add(std::move(made));
  EXPECT_EQ(list.Find("extensions.front.Mish_fusion.MishFusion"), own);
  EXPECT_EQ(list.Find("openvino.tools.mo.front.Mish_fusion.MishFusion"),
            list.Find("nnefc::transform::front::MishFusion"));
  // Nor do classes of folders have a second name, that of a built-in class.
  auto gamma = std::make_unique<front::Gamma>();
  gamma->foreign_class = "front.Gamma";
  const Transformation* foreign = gamma.get();
  list.Add(std::move(gamma));
  EXPECT_EQ(list.Find("front.Gamma"), foreign);
  EXPECT_EQ(list.Find("extensions.front.any.Gamma"), nullptr);
  // A plug-in's class has no such name.
  auto beta = std::make_unique<front::Beta>();
  beta->plugin = "folder/own.so";
  list.Add(std::move(beta));
  EXPECT_NE(list.Find("front.Beta"), nullptr);
  EXPECT_EQ(list.Find("extensions.front.one.Beta"), nullptr);
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(TransformationListTest, TheEnvironmentSwitches) {
  TransformationList list;
  RegisterAnchors(list);
  front::Alpha& alpha = list.Add<front::Alpha>();
  front::Beta& beta = list.Add<front::Beta>();
  front::Gamma& gamma = list.Add<front::Gamma>();
  alpha.enabled = false;
  const Environment on("MO_ENABLED_TRANSFORMS", "front.Alpha,THIRD");
  const Environment off("NNEFC_DISABLED_TRANSFORMS", "THIRD,front.Betta,front.Beta");
  Emitter emitter;
  list.SwitchByEnvironment(emitter);
  EXPECT_TRUE(alpha.enabled);
  EXPECT_FALSE(beta.enabled);
  EXPECT_FALSE(gamma.enabled);  // in both: off
  ASSERT_EQ(emitter.diagnostics().size(), 1u);
  EXPECT_EQ(emitter.diagnostics().front().message,
            "NNEFC_DISABLED_TRANSFORMS names `front.Betta`, which is not a transformation; did you mean "
            "`front.Beta`?");
}

}  // namespace
}  // namespace nnefc::transform
