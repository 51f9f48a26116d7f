// The parser of the quantization text in provisional tensor files.

#include "compiler/package/tensors/dat_algorithm.h"

#include <charconv>
#include <cmath>

#include "compiler/package/rules.h"

namespace nnefc::package {
namespace {

using Algorithm = DatQuantization::Algorithm;

// The operations of P 4.8.5, including other names in use: the standard itself contains `quantize_linear`.
struct AlgorithmName {
  std::string_view name;
  Algorithm algorithm;
};
constexpr AlgorithmName kAlgorithms[] = {
    {"linear_quantize", Algorithm::kMinMaxLinear},
    {"quantize_linear", Algorithm::kMinMaxLinear},
    {"linear", Algorithm::kMinMaxLinear},
    {"logarithmic_quantize", Algorithm::kLogarithmic},
    {"quantize_logarithmic", Algorithm::kLogarithmic},
    {"logarithmic", Algorithm::kLogarithmic},
    {"min_max_linear_quantize", Algorithm::kMinMaxLinear},
};

bool IsSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsNamePart(char c) {
  return IsNameStart(c) || (c >= '0' && c <= '9');
}

class AlgorithmParser {
 public:
  AlgorithmParser(const DatFile& dat, Emitter& emitter) : dat_(dat), emitter_(emitter), text_(dat.algorithm) {
    // C programs also wrote the terminating zero byte.
    while (!text_.empty() && text_.back() == '\0') text_.remove_suffix(1);
  }

  std::optional<DatQuantization> Parse() {
    std::string_view name = Name();
    const AlgorithmName* found = nullptr;
    for (const AlgorithmName& row : kAlgorithms) {
      if (row.name == name) found = &row;
    }
    if (found == nullptr) {
      Fail(
          "the quantization algorithm `{}` is not known; expected `linear_quantize` or "
          "`logarithmic_quantize`",
          ShownText(text_));
      return std::nullopt;
    }
    result_.algorithm = found->algorithm;
    if (!Expect('(') || !Arguments() || !Expect(')')) return std::nullopt;
    Take(';');
    Space();
    if (at_ != text_.size()) {
      Fail("expected the end of the quantization algorithm, saw `{}`", ShownText(text_.substr(at_)));
      return std::nullopt;
    }
    if (!Complete()) return std::nullopt;
    return std::move(result_);
  }

 private:
  template <typename... Args>
  bool Fail(fmt::format_string<Args...> format, Args&&... args) {
    emitter_.Emit(kDatAlgorithm, ByteRange(dat_.file, dat_.algorithm_offset + at_, 1), format,
                  std::forward<Args>(args)...);
    return false;
  }

  void Space() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool Take(char c) {
    Space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Expect(char c) {
    if (Take(c)) return true;
    return Fail("expected `{}` in the quantization algorithm, saw `{}`", c, ShownText(text_.substr(at_)));
  }
  std::string_view Name() {
    Space();
    size_t begin = at_;
    if (at_ < text_.size() && IsNameStart(text_[at_])) {
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool Arguments() {
    do {
      std::string_view name = Name();
      if (name.empty()) return Fail("expected a named argument, saw `{}`", ShownText(text_.substr(at_)));
      if (!Expect('=') || !Argument(name)) return false;
    } while (Take(','));
    return true;
  }

  bool Argument(std::string_view name) {
    if (name == "min") return Number(min_);
    if (name == "max") return Number(max_);
    if (name == "bits") return Number(bits_);
    if (name == "signed") return Logical(signed_);
    if (name == "symmetric") return Logical(symmetric_);
    return Fail("`{}` is not an argument of a quantization algorithm", ShownText(name));
  }

  template <typename T>
  bool IsFirst(const std::optional<T>& value) {
    return !value || Fail("an argument of the quantization algorithm is given twice");
  }

  bool Number(std::optional<double>& number) {
    Space();
    if (!IsFirst(number)) return false;
    double value = 0;
    const char* begin = text_.data() + at_;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) {
      return Fail("expected a finite number, saw `{}`", ShownText(text_.substr(at_)));
    }
    at_ += static_cast<size_t>(end - begin);
    number = value;
    return true;
  }

  bool Logical(std::optional<bool>& logical) {
    Space();
    if (!IsFirst(logical)) return false;
    std::string_view name = Name();
    logical = name == "true";
    return *logical || name == "false" ||
           Fail("expected `true` or `false`, saw `{}`", ShownText(text_.substr(at_)));
  }

  bool Complete() {
    bool linear = result_.algorithm == Algorithm::kMinMaxLinear;
    std::string_view missing = !bits_ ? "bits" : !max_ ? "max" : linear && !min_ ? "min" : "";
    if (!missing.empty()) return Fail("the quantization algorithm has no argument `{}`", missing);
    if (*bits_ < 1 || *bits_ > 64 || *bits_ != std::floor(*bits_)) {
      return Fail("`bits = {}` of the quantization algorithm; expected 1 to 64", *bits_);
    }
    result_.bits = static_cast<int>(*bits_);
    result_.is_signed = signed_.value_or(false);
    result_.symmetric = symmetric_.value_or(false);
    result_.min = TensorValue::Scalar(static_cast<float>(min_.value_or(0)));
    result_.max = TensorValue::Scalar(static_cast<float>(*max_));
    return true;
  }

  const DatFile& dat_;
  Emitter& emitter_;
  std::string_view text_;
  size_t at_ = 0;
  DatQuantization result_;
  std::optional<double> min_;
  std::optional<double> max_;
  std::optional<double> bits_;
  std::optional<bool> signed_;
  std::optional<bool> symmetric_;
};

}  // namespace

std::optional<DatQuantization> ParseDatAlgorithm(const DatFile& dat, Emitter& emitter) {
  return AlgorithmParser(dat, emitter).Parse();
}

}  // namespace nnefc::package
