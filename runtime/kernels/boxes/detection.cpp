// DetectionOutput.

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

template <typename C>
struct Corners {
  C left, top, right, bottom;

  C area() const { return (right - left) * (bottom - top); }
  Corners Clipped() const {
    const auto clip = [](C value) { return std::max(C(0), std::min(C(1), value)); };
    return {clip(left), clip(top), clip(right), clip(bottom)};
  }
};

// Returns the intersection over union.
template <typename C>
C Jaccard(const Corners<C>& a, const Corners<C>& b) {
  const C width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const C height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return 0;
  const C intersection = width * height;
  return intersection / (a.area() + b.area() - intersection);
}

// A candidate box of a class, with its score.
template <typename C>
struct Scored {
  C score;
  int64_t category, box;

  // Orders by decreasing score, then by box index.
  bool operator<(const Scored& other) const {
    return std::tie(other.score, box, category) < std::tie(score, other.box, other.category);
  }
};

// Box decoding and suppression, computed in C like the reference implementation.
template <typename C>
class Detector {
 public:
  explicit Detector(const ReferenceRun& run)
      : node_(run.node),
        offsets_(Read(run, 0)),
        scores_(Read(run, 1)),
        priors_(Read(run, 2)),
        first_scores_(Read(run, 3)),
        first_offsets_(Read(run, 4)),
        prior_size_(node_.Bool("normalized") ? 4 : 5),
        count_(run.input(2).extent(2) / prior_size_),
        classes_(run.input(1).extent(1) / count_),
        places_(node_.Bool("share_location") ? 1 : classes_),
        prior_sets_(run.input(2).extent(0)),
        background_(node_.Int("background_label_id")),
        by_corners_(node_.String("code_type").ends_with("CORNER")),
        clips_(node_.Bool("clip_before_nms")),
        least_objectness_(Number("objectness_score")),
        least_score_(Number("confidence_threshold")) {}

  // Returns the detections of an image, sorted by class and by order of selection within a class.
  std::vector<Scored<C>> Detect(int64_t image) {
    Decode(image);
    std::vector<Scored<C>> found =
        node_.Bool("decrease_label_id") ? SelectOfBestClass(image) : SelectOfEach(image);
    const int64_t most = node_.Ints("keep_top_k").front();
    if (most >= 0 && static_cast<int64_t>(found.size()) > most) {
      std::sort(found.begin(), found.end());
      found.resize(static_cast<size_t>(most));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Scored<C>& a, const Scored<C>& b) { return a.category < b.category; });
    return found;
  }

  // Returns a row of the result.
  std::array<C, 7> Row(int64_t image, const Scored<C>& found) const {
    Corners<C> box = BoxOf(found);
    if (node_.Bool("clip_after_nms")) box = box.Clipped();
    const int64_t label = node_.Bool("decrease_label_id") ? found.category - 1 : found.category;
    return {
        static_cast<C>(image), static_cast<C>(label), found.score, box.left, box.top, box.right, box.bottom};
  }

 private:
  static std::vector<C> Read(const ReferenceRun& run, size_t input) {
    if (input >= run.num_inputs()) return {};
    const llvm::SmallVector<double, 8> elements = tensor::ElementsAsDoubles(run.input(input));
    return {elements.begin(), elements.end()};
  }
  C Number(std::string_view attribute) const { return static_cast<C>(node_.Double(attribute)); }

  // Decodes a box from a prior box and the predicted offsets.
  Corners<C> DecodeBox(const Corners<C>& prior, const C* variance, const C* offset) const {
    const auto shift = [&](int i) { return variance == nullptr ? offset[i] : variance[i] * offset[i]; };
    Corners<C> box;
    if (by_corners_) {
      box = {prior.left + shift(0), prior.top + shift(1), prior.right + shift(2), prior.bottom + shift(3)};
    } else {
      const C width = prior.right - prior.left, height = prior.bottom - prior.top;
      const C x = shift(0) * width + (prior.left + prior.right) / 2;
      const C y = shift(1) * height + (prior.top + prior.bottom) / 2;
      const C half_width = std::exp(shift(2)) * width / 2, half_height = std::exp(shift(3)) * height / 2;
      box = {x - half_width, y - half_height, x + half_width, y + half_height};
    }
    return clips_ ? box.Clipped() : box;
  }

  // Decodes the boxes of an image: [location, box].
  void Decode(int64_t image) {
    const bool encoded = node_.Bool("variance_encoded_in_target");
    const int64_t numbers = count_ * prior_size_;
    const C* priors = priors_.data() + (prior_sets_ == 1 ? 0 : image * numbers * (encoded ? 1 : 2));
    const C width = prior_size_ == 4 ? C(1) : static_cast<C>(node_.Int("input_width"));
    const C height = prior_size_ == 4 ? C(1) : static_cast<C>(node_.Int("input_height"));
    boxes_.resize(static_cast<size_t>(places_ * count_));
    // A batch index of -1 ends the boxes of a Proposal.
    ends_ = 0;
    while (ends_ < count_ && (prior_size_ == 4 || priors[ends_ * prior_size_] != -1)) ++ends_;
    for (int64_t i = 0; i < ends_; ++i) {
      const C* at = priors + i * prior_size_ + (prior_size_ - 4);
      const C* variance = encoded ? nullptr : priors + numbers + i * 4;
      for (int64_t place = 0; place < places_; ++place) {
        const int64_t index = ((image * count_ + i) * places_ + place) * 4;
        const auto normal = [&](const Corners<C>& box) {
          return Corners<C>{box.left / width, box.top / height, box.right / width, box.bottom / height};
        };
        Corners<C> prior = normal({at[0], at[1], at[2], at[3]});
        // The decoded box is normalized by the image size again, as in OpenVINO.
        if (!first_offsets_.empty())
          prior = normal(DecodeBox(prior, variance, first_offsets_.data() + index));
        boxes_[static_cast<size_t>(place * count_ + i)] = DecodeBox(prior, variance, offsets_.data() + index);
      }
    }
  }

  const Corners<C>& BoxOf(const Scored<C>& found) const {
    return boxes_[static_cast<size_t>((places_ == 1 ? 0 : found.category * count_) + found.box)];
  }

  C Score(int64_t image, int64_t category, int64_t box) const {
    const auto at = static_cast<size_t>(image * count_ + box);
    // A box that the first scores classify as background is nothing else.
    if (!first_scores_.empty() && first_scores_[2 * at + 1] < least_objectness_)
      return category == background_ ? 1 : 0;
    return scores_[at * static_cast<size_t>(classes_) + static_cast<size_t>(category)];
  }

  // Keeps the best `top_k` candidates.
  void SortAndCut(std::vector<Scored<C>>& candidates) const {
    std::sort(candidates.begin(), candidates.end());
    const int64_t most = node_.Int("top_k");
    if (most >= 0 && static_cast<int64_t>(candidates.size()) > most)
      candidates.resize(static_cast<size_t>(most));
  }

  // Adds candidates in order of score unless they overlap a selected box of their class too much.
  void Suppress(const std::vector<Scored<C>>& candidates, std::vector<Scored<C>>& selected) const {
    const C threshold = Number("nms_threshold");
    std::vector<std::vector<Scored<C>>> kept(static_cast<size_t>(classes_));
    for (const Scored<C>& candidate : candidates) {
      std::vector<Scored<C>>& others = kept[static_cast<size_t>(candidate.category)];
      const bool suppressed = std::any_of(others.begin(), others.end(), [&](const Scored<C>& other) {
        return Jaccard(BoxOf(candidate), BoxOf(other)) > threshold;
      });
      if (suppressed) continue;
      others.push_back(candidate);
      selected.push_back(candidate);
    }
  }

  // Caffe's method: each class except the background separately.
  std::vector<Scored<C>> SelectOfEach(int64_t image) const {
    std::vector<Scored<C>> selected;
    for (int64_t category = 0; category < classes_; ++category) {
      if (category == background_) continue;
      std::vector<Scored<C>> candidates;
      for (int64_t box = 0; box < ends_; ++box) {
        const C score = Score(image, category, box);
        if (score > least_score_) candidates.push_back({score, category, box});
      }
      SortAndCut(candidates);
      Suppress(candidates, selected);
    }
    return selected;
  }

  // MXNet's method: each box belongs to its most likely class; class 0 is the background.
  std::vector<Scored<C>> SelectOfBestClass(int64_t image) const {
    std::vector<Scored<C>> candidates, selected;
    for (int64_t box = 0; box < ends_; ++box) {
      Scored<C> best{-1, 0, box};
      for (int64_t category = 1; category < classes_; ++category) {
        if (category == background_) continue;
        const C score = Score(image, category, box);
        if (score > best.score) best = {score, category, box};
      }
      if (best.category > 0 && best.score >= least_score_) candidates.push_back(best);
    }
    SortAndCut(candidates);
    Suppress(candidates, selected);
    return selected;
  }

  const ir::Node& node_;
  std::vector<C> offsets_, scores_, priors_, first_scores_, first_offsets_;
  int64_t prior_size_, count_, classes_, places_, prior_sets_;
  int64_t background_;
  bool by_corners_, clips_;
  C least_objectness_, least_score_;
  std::vector<Corners<C>> boxes_;
  int64_t ends_ = 0;  // the number of valid boxes
};

// Writes rows of detections, then one row that begins with -1 if there is space, then zeros.
template <typename T>
void DetectionOutputAs(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  T* row = output.mutable_data<T>();
  T* const end = row + output.volume();
  std::fill(row, end, T(0));
  Detector<ComputeType<T>> detector(run);
  for (int64_t image = 0; image < run.input(0).extent(0); ++image) {
    for (const auto& found : detector.Detect(image)) {
      for (const auto number : detector.Row(image, found)) *row++ = T(number);
    }
  }
  if (row < end) *row = T(-1);
}

FaultOr<Success> DetectionOutput(const ReferenceRun& run) {
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { DetectionOutputAs<T>(run); }))
    return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterDetection(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset8"}, "DetectionOutput", DetectionOutput);
}

}  // namespace nnefc::runtime::kernels
