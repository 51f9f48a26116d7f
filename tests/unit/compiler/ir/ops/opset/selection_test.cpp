// The boxes, regions and activations that kernels and shape functions read from attributes.

#include <cmath>

#include "compiler/ir/ops/opset/boxes/box_selection.h"
#include "compiler/ir/ops/opset/control_flow/recurrent.h"
#include "compiler/ir/ops/opset/detection/class_selection.h"
#include "compiler/ir/ops/opset/detection/proposals.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

AttributeMap Attributes(std::initializer_list<std::pair<const char*, Attribute>> values) {
  AttributeMap attributes;
  for (const auto& [name, value] : values) attributes.Set(name, value);
  return attributes;
}

// Two images of two classes and three boxes that do not overlap. Boxes are named by image, class and index,
// with the score.
std::string Selected(const char* op, AttributeMap attributes, std::vector<float> scores) {
  Graph graph(&Opsets());
  const NodeId node = AddNode(graph, "opset8", op, {.name = "n", .attributes = std::move(attributes)});
  detection::ClassifiedBoxes given{
      .boxes = {}, .scores = std::move(scores), .classes = 2, .count = 3, .images = 2};
  for (int image = 0; image < 2; ++image) {
    for (const float left : {0.0F, 10.0F, 20.0F})
      given.boxes.insert(given.boxes.end(), {left, 0.0F, left + 1, 1.0F});
  }
  const std::optional<detection::ClassSelection> selection =
      detection::SelectByClass(graph.node(node), given);
  std::string text;
  if (!selection) return "none";
  for (const detection::ClassifiedBox& box : selection->boxes)
    text += fmt::format("{}.{}.{}={} ", box.image, box.category, box.index, box.score);
  for (const int64_t count : selection->per_image) text += fmt::format("/{}", count);
  return text;
}

const std::vector<float> kScores = {0.1F, 0.9F, 0.0F, 0.5F, 0.3F, 0.0F,   // image 0
                                    0.8F, 0.0F, 0.2F, 0.7F, 0.0F, 0.6F};  // image 1

// MulticlassNms-8: boxes with at least the threshold; MatrixNms-8: with more.
TEST(ClassSelection, ThresholdsOfScores) {
  const auto attributes = [](double threshold) {
    return Attributes({{"score_threshold", threshold}, {"iou_threshold", 0.5}, {"post_threshold", 0.0}});
  };
  EXPECT_EQ(Selected("MulticlassNms", attributes(0.5), kScores),
            "0.0.1=0.9 0.1.0=0.5 1.0.3=0.8 1.1.3=0.7 1.1.5=0.6 /2/3");
  EXPECT_EQ(Selected("MatrixNms", attributes(0.5), kScores), "0.0.1=0.9 1.0.3=0.8 1.1.3=0.7 1.1.5=0.6 /1/3");
}

TEST(ClassSelection, OrderOfResults) {
  const auto attributes = [](const char* order, bool across) {
    return Attributes({{"score_threshold", 0.25},
                       {"iou_threshold", 0.5},
                       {"sort_result_type", order},
                       {"sort_result_across_batch", across}});
  };
  const char* by_image = "0.0.1=0.9 0.1.0=0.5 0.1.1=0.3 1.0.3=0.8 1.1.3=0.7 1.1.5=0.6 /3/3";
  for (const char* op : {"MulticlassNms", "MatrixNms"}) {
    EXPECT_EQ(Selected(op, attributes("none", false), kScores), by_image) << op;
    EXPECT_EQ(Selected(op, attributes("none", true), kScores), by_image) << op;
    EXPECT_EQ(Selected(op, attributes("score", false), kScores), by_image) << op;
    EXPECT_EQ(Selected(op, attributes("score", true), kScores),
              "0.0.1=0.9 1.0.3=0.8 1.1.3=0.7 1.1.5=0.6 0.1.0=0.5 0.1.1=0.3 /3/3")
        << op;
    EXPECT_EQ(Selected(op, attributes("classid", true), kScores),
              "0.0.1=0.9 1.0.3=0.8 0.1.0=0.5 0.1.1=0.3 1.1.3=0.7 1.1.5=0.6 /3/3")
        << op;
  }
  const std::vector<float> second_first = {0.3F, 0, 0, 0.9F, 0, 0, 0.4F, 0, 0, 0.8F, 0, 0};
  EXPECT_EQ(Selected("MulticlassNms", attributes("classid", false), second_first),
            "0.0.0=0.3 0.1.0=0.9 1.0.3=0.4 1.1.3=0.8 /2/2");
}

TEST(ClassSelection, LimitsAndBackground) {
  const auto attributes = [](const char* name, int64_t value) {
    return Attributes({{"score_threshold", 0.25}, {"iou_threshold", 0.5}, {name, value}});
  };
  for (const char* op : {"MulticlassNms", "MatrixNms"}) {
    EXPECT_EQ(Selected(op, attributes("nms_top_k", 1), kScores),
              "0.0.1=0.9 0.1.0=0.5 1.0.3=0.8 1.1.3=0.7 /2/2");
    EXPECT_EQ(Selected(op, attributes("nms_top_k", 0), kScores), "/0/0");
    EXPECT_EQ(Selected(op, attributes("keep_top_k", 2), kScores),
              "0.0.1=0.9 0.1.0=0.5 1.0.3=0.8 1.1.3=0.7 /2/2");
    EXPECT_EQ(Selected(op, attributes("keep_top_k", 0), kScores), "/0/0");
    EXPECT_EQ(Selected(op, attributes("background_class", 0), kScores),
              "0.1.0=0.5 0.1.1=0.3 1.1.3=0.7 1.1.5=0.6 /2/2");
    EXPECT_EQ(Selected(op, attributes("background_class", 1), kScores), "0.0.1=0.9 1.0.3=0.8 /1/1");
  }
}

// Returns the score of the second of two boxes, [left, top, right, bottom] each, or 0 if the first one
// suppresses it.
float SecondScore(const char* op, AttributeMap attributes, std::vector<float> boxes) {
  Graph graph(&Opsets());
  const NodeId node = AddNode(graph, "opset8", op, {.name = "n", .attributes = std::move(attributes)});
  const detection::ClassifiedBoxes given{
      .boxes = std::move(boxes), .scores = {0.9F, 0.5F}, .classes = 1, .count = 2, .images = 1};
  const auto selection = detection::SelectByClass(graph.node(node), given);
  EXPECT_TRUE(selection && !selection->boxes.empty());
  return selection && selection->boxes.size() == 2 ? selection->boxes[1].score : 0;
}

// The overlap of boxes without an area is 0, which is at least a threshold of 0.
TEST(ClassSelection, BoxesWithoutAnArea) {
  for (const std::vector<float>& boxes : std::initializer_list<std::vector<float>>{
           {4, 4, 4, 6, 4, 4, 4, 6}, {4, 4, 6, 4, 4, 4, 6, 4}, {4, 4, 4, 4, 4, 4, 6, 6}}) {
    for (const double threshold : {0.0, 0.01}) {
      const AttributeMap attributes = Attributes({{"iou_threshold", threshold}, {"normalized", true}});
      EXPECT_EQ(SecondScore("MulticlassNms", attributes, boxes), threshold == 0 ? 0 : 0.5F) << threshold;
    }
    EXPECT_EQ(SecondScore("MatrixNms", Attributes({{"normalized", true}}), boxes), 0.5F);
  }
}

// Ten classes of 10^4 boxes have 10^9 pairs, the most that are compared; one more box has one more.
TEST(ClassSelection, PairsOfManyBoxes) {
  Graph graph(&Opsets());
  const NodeId node =
      AddNode(graph, "opset8", "MulticlassNms",
              {.name = "n", .attributes = Attributes({{"iou_threshold", 0.5}, {"score_threshold", 0.25}})});
  constexpr int64_t kCount = 10'000;
  detection::ClassifiedBoxes given{.boxes = {}, .scores = {}, .classes = 11, .count = kCount, .images = 1};
  for (int64_t i = 0; i < kCount; ++i) given.boxes.insert(given.boxes.end(), {0, 0, 1, 1});
  given.scores.assign(10 * kCount, 0.5F);
  given.scores.resize(11 * kCount, 0);
  const auto selection = detection::SelectByClass(graph.node(node), given);
  ASSERT_TRUE(selection.has_value());
  EXPECT_EQ(selection->boxes.size(), 10U);
  given.scores.back() = 0.5F;
  EXPECT_FALSE(detection::SelectByClass(graph.node(node), given).has_value());
}

// MatrixNms in coordinates of pixels: boxes that share a line of pixels overlap, those that are apart do not.
TEST(ClassSelection, BoxesThatTouch) {
  const auto score = [](std::vector<float> second, bool is_normalized) {
    std::vector<float> boxes = {4, 4, 6, 6};
    boxes.insert(boxes.end(), second.begin(), second.end());
    return SecondScore(
        "MatrixNms",
        Attributes({{"score_threshold", 0.0}, {"post_threshold", 0.0}, {"normalized", is_normalized}}),
        boxes);
  };
  for (const std::vector<float>& touching :
       std::initializer_list<std::vector<float>>{{6, 4, 8, 6}, {2, 4, 4, 6}, {4, 6, 6, 8}, {4, 2, 6, 4}}) {
    EXPECT_FLOAT_EQ(score(touching, false), 0.5F * (1 - 3.0F / (9 + 9 - 3)));
    EXPECT_FLOAT_EQ(score(touching, true), 0.5F);
  }
  for (const std::vector<float>& apart : std::initializer_list<std::vector<float>>{
           {6.5F, 4, 8, 6}, {2, 4, 3.5F, 6}, {4, 6.5F, 6, 8}, {4, 2, 6, 3.5F}})
    EXPECT_FLOAT_EQ(score(apart, false), 0.5F);
}

// Returns "batch.class.box=score" of the selected boxes.
std::string SelectedBoxes(const BoxSelection& selection) {
  const auto selected = opset::SelectBoxes(selection);
  if (!selected) return "too many";
  std::string text;
  for (const SelectedBox& box : *selected)
    text += fmt::format("{}.{}.{}={} ", box.batch, box.category, box.box, box.score);
  return text;
}

// Two boxes that do not overlap, one that shares a third of its union with the first, and one without area.
BoxSelection FourBoxes() {
  return {.boxes = {0, 0, 2, 2, 5, 5, 7, 7, 0, 1, 2, 3, 0, 0, 0, 2},
          .scores = {0.75, 0.5, 0.625, 0.25, 0.5, 0.75, 0.25, 0.125},
          .batches = 1,
          .classes = 2,
          .count = 4,
          .most_per_class = 4,
          .iou_threshold = 0.5};
}

// NonMaxSuppression: scores above the threshold, overlaps up to the threshold.
TEST(BoxSelection, Thresholds) {
  BoxSelection all = FourBoxes();
  EXPECT_EQ(SelectedBoxes(all),
            "0.0.0=0.75 0.1.1=0.75 0.0.2=0.625 0.0.1=0.5 0.1.0=0.5 0.0.3=0.25 0.1.2=0.25 0.1.3=0.125 ");
  all.sorted = false;
  EXPECT_EQ(SelectedBoxes(all),
            "0.0.0=0.75 0.0.2=0.625 0.0.1=0.5 0.0.3=0.25 0.1.1=0.75 0.1.0=0.5 0.1.2=0.25 0.1.3=0.125 ");
  all.score_threshold = 0.5;
  EXPECT_EQ(SelectedBoxes(all), "0.0.0=0.75 0.0.2=0.625 0.1.1=0.75 ");
  all.score_threshold = 0.25;
  all.most_per_class = 1;
  EXPECT_EQ(SelectedBoxes(all), "0.0.0=0.75 0.1.1=0.75 ");
  all.most_per_class = 0;
  EXPECT_EQ(SelectedBoxes(all), "");
  all = FourBoxes();
  all.iou_threshold = 1.0 / 3;
  EXPECT_EQ(SelectedBoxes(all),
            "0.0.0=0.75 0.1.1=0.75 0.0.2=0.625 0.0.1=0.5 0.1.0=0.5 0.0.3=0.25 0.1.2=0.25 0.1.3=0.125 ");
  all.iou_threshold = 0.333;
  EXPECT_EQ(SelectedBoxes(all), "0.0.0=0.75 0.1.1=0.75 0.0.1=0.5 0.1.0=0.5 0.0.3=0.25 0.1.3=0.125 ");
  // By centers and extents, the third box is a part of the first.
  all.is_center = true;
  all.boxes = {1, 1, 2, 2, 6, 6, 2, 2, 1, 2, 2, 2, 0, 1, 0, 2};
  EXPECT_EQ(SelectedBoxes(all), "0.0.0=0.75 0.1.1=0.75 0.0.1=0.5 0.1.0=0.5 0.0.3=0.25 0.1.3=0.125 ");
}

// A box whose score falls to the threshold is not selected.
TEST(BoxSelection, SoftSuppression) {
  BoxSelection soft = FourBoxes();
  soft.classes = 1;
  soft.sigma = 0.5;
  soft.iou_threshold = 1;
  // exp(-0.5 / 0.5 * overlap^2) with the overlap 1 / 3 of the first and the third box.
  const float lowered = 0.625F * std::exp(-1.0F / 9);
  EXPECT_EQ(SelectedBoxes(soft), fmt::format("0.0.0=0.75 0.0.2={} 0.0.1=0.5 0.0.3=0.25 ", lowered));
  soft.score_threshold = lowered;
  EXPECT_EQ(SelectedBoxes(soft), "0.0.0=0.75 ");
}

// A box of a negative extent overlaps no box, neither as the better nor as the worse one.
TEST(BoxSelection, NegativeExtents) {
  for (const bool is_first : {true, false}) {
    BoxSelection boxes = FourBoxes();
    boxes.is_center = true;
    boxes.classes = 1;
    boxes.count = 2;
    boxes.boxes = {1, 1, 1, 2, 1, 1, -1, 2};
    boxes.scores = is_first ? std::vector<double>{0.5, 0.75} : std::vector<double>{0.75, 0.5};
    EXPECT_EQ(SelectedBoxes(boxes), is_first ? "0.0.1=0.75 0.0.0=0.5 " : "0.0.0=0.75 0.0.1=0.5 ");
  }
}

// Equal boxes without an area do not overlap.
TEST(BoxSelection, EqualBoxesWithoutAnArea) {
  for (const double sigma : {0.0, 0.5}) {
    BoxSelection boxes = FourBoxes();
    boxes.classes = 1;
    boxes.count = 2;
    boxes.boxes = {1, 1, 1, 2, 1, 1, 1, 2};
    boxes.scores = {0.5, 0.75};
    boxes.sigma = sigma;
    EXPECT_EQ(SelectedBoxes(boxes), "0.0.1=0.75 0.0.0=0.5 ") << sigma;
  }
}

// Of many boxes, a few are compared with those that are selected.
TEST(BoxSelection, FewOfManyBoxes) {
  BoxSelection boxes = FourBoxes();
  boxes.classes = 1;
  boxes.count = 40'000;
  boxes.boxes.assign(160'000, 1);
  boxes.scores.assign(40'000, 0.5);
  boxes.most_per_class = 1;
  EXPECT_EQ(SelectedBoxes(boxes), "0.0.0=0.5 ");
  boxes.most_per_class = 40'000;
  EXPECT_EQ(SelectedBoxes(boxes), "too many");
  // At most 10^9 pairs. The first box suppresses the others.
  for (size_t i = 0; i < boxes.boxes.size(); i += 4) boxes.boxes[i] = boxes.boxes[i + 1] = 0;
  boxes.most_per_class = 25'000;
  EXPECT_EQ(SelectedBoxes(boxes), "0.0.0=0.5 ");
  boxes.most_per_class = 25'001;
  EXPECT_EQ(SelectedBoxes(boxes), "too many");
}

// Boxes whose areas add up to 0 do not overlap either.
TEST(BoxSelection, OppositeExtents) {
  for (const bool is_first : {true, false}) {
    BoxSelection boxes = FourBoxes();
    boxes.is_center = true;
    boxes.classes = 1;
    boxes.count = 2;
    boxes.boxes = {1, 1, -0.5, 1, 1, 1, 0.5, 1};
    boxes.scores = is_first ? std::vector<double>{0.5, 0.75} : std::vector<double>{0.75, 0.5};
    EXPECT_EQ(SelectedBoxes(boxes), is_first ? "0.0.1=0.75 0.0.0=0.5 " : "0.0.0=0.75 0.0.1=0.5 ");
  }
}

// Of boxes with equal scores, the first one is selected.
TEST(BoxSelection, EqualScores) {
  BoxSelection equal = FourBoxes();
  equal.scores.assign(8, 0.5);
  equal.iou_threshold = 0.25;
  EXPECT_EQ(SelectedBoxes(equal), "0.0.0=0.5 0.0.1=0.5 0.0.3=0.5 0.1.0=0.5 0.1.1=0.5 0.1.3=0.5 ");
  equal.iou_threshold = 1;
  equal.sorted = false;
  EXPECT_EQ(SelectedBoxes(equal),
            "0.0.0=0.5 0.0.1=0.5 0.0.2=0.5 0.0.3=0.5 0.1.0=0.5 0.1.1=0.5 0.1.2=0.5 0.1.3=0.5 ");
}

std::string Activations(AttributeMap attributes, int64_t direction) {
  Graph graph(&Opsets());
  const NodeId node =
      AddNode(graph, "opset5", "LSTMSequence", {.name = "n", .attributes = std::move(attributes)});
  std::string text;
  for (const ParametrizedActivation& activation :
       opset::ActivationsOfDirection(graph.node(node), 3, direction)) {
    constexpr const char* kNames[] = {"sigmoid", "tanh", "relu", "hard"};
    text += fmt::format("{}({},{}) ", kNames[static_cast<size_t>(activation.function)], activation.alpha,
                        activation.beta);
  }
  return text;
}

// A list with an item for each function goes by place; from a shorter one, only functions that have the
// parameter take the next item.
TEST(RecurrentActivations, ParametersOfFunctions) {
  using Scalars = Attribute::Scalars;
  const char* three = "hardsigmoid,tanh,HardSigmoid";
  const auto one = [&](Scalars alpha, Scalars beta, int64_t direction) {
    return Activations(Attributes({{"activations", three},
                                   {"direction", "bidirectional"},
                                   {"activations_alpha", std::move(alpha)},
                                   {"activations_beta", std::move(beta)}}),
                       direction);
  };
  for (const int64_t direction : {0, 1}) {
    EXPECT_EQ(one({}, {}, direction), "hard(0.2,0.5) tanh(0.2,0.5) hard(0.2,0.5) ");
    EXPECT_EQ(one({1, 2, 3}, {}, direction), "hard(1,0.5) tanh(2,0.5) hard(3,0.5) ");
    EXPECT_EQ(one({}, {4, 5, 6}, direction), "hard(0.2,4) tanh(0.2,5) hard(0.2,6) ");
    EXPECT_EQ(one({1, 2}, {7}, direction), "hard(1,7) tanh(0.2,0.5) hard(2,0.5) ");
    EXPECT_EQ(one({1}, {7, 8}, direction), "hard(1,7) tanh(0.2,0.5) hard(0.2,8) ");
  }
  EXPECT_EQ(one({1, 2, 3, 4, 5, 6}, {}, 0), "hard(1,0.5) tanh(2,0.5) hard(3,0.5) ");
  EXPECT_EQ(one({1, 2, 3, 4, 5, 6}, {}, 1), "hard(4,0.5) tanh(5,0.5) hard(6,0.5) ");
  EXPECT_EQ(one({1, 2, 3, 4}, {}, 0), "hard(1,0.5) tanh(0.2,0.5) hard(2,0.5) ");
  EXPECT_EQ(one({1, 2, 3, 4}, {}, 1), "hard(3,0.5) tanh(0.2,0.5) hard(4,0.5) ");
  const auto two = [&](Scalars alpha, int64_t direction) {
    return Activations(Attributes({{"activations", "relu,hardsigmoid,tanh,hardsigmoid,sigmoid,relu"},
                                   {"direction", "bidirectional"},
                                   {"activations_alpha", std::move(alpha)}}),
                       direction);
  };
  EXPECT_EQ(two({}, 0), "relu(0.2,0.5) hard(0.2,0.5) tanh(0.2,0.5) ");
  EXPECT_EQ(two({1}, 0), "relu(0.2,0.5) hard(1,0.5) tanh(0.2,0.5) ");
  EXPECT_EQ(two({1}, 1), "hard(0.2,0.5) sigmoid(0.2,0.5) relu(0.2,0.5) ");
  EXPECT_EQ(two({1, 2}, 1), "hard(2,0.5) sigmoid(0.2,0.5) relu(0.2,0.5) ");
  EXPECT_EQ(two({1, 2, 3, 4, 5, 6}, 0), "relu(1,0.5) hard(2,0.5) tanh(3,0.5) ");
  EXPECT_EQ(two({1, 2, 3, 4, 5, 6}, 1), "hard(4,0.5) sigmoid(5,0.5) relu(6,0.5) ");
}

TEST(RecurrentActivations, Names) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(opset::ActivationNames("sigmoid,tanh"), (Names{"sigmoid", "tanh"}));
  EXPECT_EQ(opset::ActivationNames(" AZaz , @[ "), (Names{"azaz", "@["}));
  EXPECT_EQ(opset::ActivationNames(""), (Names{""}));
  EXPECT_EQ(opset::ActivationNames("a,"), (Names{"a", ""}));
  for (const auto& [name, function] : std::initializer_list<std::pair<const char*, CellActivation>>{
           {"sigmoid", CellActivation::kSigmoid},
           {"tanh", CellActivation::kTanh},
           {"relu", CellActivation::kRelu},
           {"hardsigmoid", CellActivation::kHardSigmoid}})
    EXPECT_EQ(opset::ParseCellActivation(name), function) << name;
  EXPECT_EQ(opset::ParseCellActivation("elu"), std::nullopt);
}

// Regions that lie apart share nothing, however near they are; those that touch share a line of pixels.
TEST(ProposedRegions, SharedAreas) {
  using Box = std::array<float, 4>;
  const Box box = {4, 4, 7, 7};
  for (const float gap : {0.25F, 0.5F, 1.0F, 5.0F}) {
    for (const Box& apart :
         {Box{0, 4, 4 - gap, 7}, Box{7 + gap, 4, 12, 7}, Box{4, 0, 7, 4 - gap}, Box{4, 7 + gap, 7, 12}}) {
      EXPECT_EQ(detection::SharedArea(box, apart, 1), 0);
      EXPECT_EQ(detection::SharedArea(apart, box, 1), 0);
    }
  }
  for (const Box& touching : {Box{1, 4, 4, 7}, Box{7, 4, 10, 7}, Box{4, 1, 7, 4}, Box{4, 7, 7, 10}}) {
    EXPECT_FLOAT_EQ(detection::SharedArea(box, touching, 1), 4.0F / (16 + 16 - 4));
    EXPECT_FLOAT_EQ(detection::SharedArea(touching, box, 1), 4.0F / (16 + 16 - 4));
    EXPECT_EQ(detection::SharedArea(box, touching, 0), 0);
  }
  EXPECT_FLOAT_EQ(detection::SharedArea(box, box, 1), 1);
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
