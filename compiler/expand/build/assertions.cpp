// Conditions on symbolic extents in extension lines (`tract_assert`), and the checks of them.

#include "compiler/expand/build/assertions.h"

#include <cctype>

#include "compiler/expand/rules.h"
#include "compiler/syntax/print.h"

namespace nnefc::expand::build {
namespace {

using Lookup = llvm::function_ref<std::optional<int64_t>(std::string_view)>;

// Maximum nesting of parentheses.
constexpr int kMaxDepth = 100;

class Evaluator {
 public:
  Evaluator(std::string_view text, Lookup value) : rest_(text), value_(value) {}

  // Evaluates `a < b`, or a chain `a <= b <= c`: true if all comparisons are.
  Truth Run() {
    std::optional<int64_t> left = Sum();
    bool holds = true, has_comparison = false;
    while (!is_unread_) {
      const std::string_view comparison = TakeComparison();
      if (comparison.empty()) break;
      has_comparison = true;
      const std::optional<int64_t> right = Sum();
      if (left && right) holds &= Compare(*left, comparison, *right);
      left = right;
    }
    if (is_unread_ || !has_comparison || !rest_.empty()) return Truth::kUnread;
    if (is_open_) return Truth::kOpen;
    return holds ? Truth::kHolds : Truth::kFails;
  }

 private:
  static bool Compare(int64_t left, std::string_view comparison, int64_t right) {
    if (comparison == "==") return left == right;
    if (comparison == "!=") return left != right;
    if (comparison == "<=") return left <= right;
    if (comparison == ">=") return left >= right;
    return comparison == "<" ? left < right : left > right;
  }

  void SkipBlanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }
  char Peek() {
    SkipBlanks();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view TakeComparison() {
    SkipBlanks();
    for (std::string_view each : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!rest_.starts_with(each)) continue;
      rest_.remove_prefix(each.size());
      return each;
    }
    return {};
  }
  std::nullopt_t Unread() {
    is_unread_ = true;
    return std::nullopt;
  }
  std::nullopt_t Open() {
    is_open_ = true;
    return std::nullopt;
  }

  std::optional<int64_t> Sum() {
    std::optional<int64_t> sum = Product();
    while (!is_unread_ && (Peek() == '+' || Peek() == '-')) {
      const bool is_plus = Take('+') || !Take('-');
      const std::optional<int64_t> term = Product();
      int64_t result = 0;
      const bool is_known = sum && term;
      const bool is_beyond = is_known && (is_plus ? __builtin_add_overflow(*sum, *term, &result)
                                                  : __builtin_sub_overflow(*sum, *term, &result));
      sum = is_known && !is_beyond ? std::optional<int64_t>(result) : Open();
    }
    return sum;
  }

  std::optional<int64_t> Product() {
    std::optional<int64_t> product = Factor();
    while (!is_unread_ && (Peek() == '*' || Peek() == '/')) {
      const bool is_times = Take('*') || !Take('/');
      const std::optional<int64_t> factor = Factor();
      int64_t result = 0;
      bool is_known = product && factor && (is_times || (*factor != 0 && *factor != -1));
      if (is_known && is_times) is_known = !__builtin_mul_overflow(*product, *factor, &result);
      if (is_known && !is_times) result = *product / *factor;
      product = is_known ? std::optional<int64_t>(result) : Open();
    }
    return product;
  }

  std::optional<int64_t> Factor() {
    if (++depth_ > kMaxDepth) return Unread();
    const std::optional<int64_t> result = Atom();
    --depth_;
    return result;
  }

  std::optional<int64_t> Atom() {
    if (Take('-')) {
      const std::optional<int64_t> negated = Factor();
      if (!negated || *negated == INT64_MIN) return Open();
      return -*negated;
    }
    if (Take('(')) {
      const std::optional<int64_t> inner = Sum();
      return Take(')') ? inner : Unread();
    }
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    if (!is_word(Peek())) return Unread();
    size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) {
      const std::optional<int64_t> value = value_(word);
      return value ? value : Open();
    }
    int64_t number = 0;
    for (char c : word) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return Unread();
      if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, c - '0', &number))
        return Open();
    }
    return number;
  }

  std::string_view rest_;
  Lookup value_;
  int depth_ = 0;
  bool is_open_ = false;
  bool is_unread_ = false;
};

}  // namespace

Truth Evaluate(std::string_view condition, Lookup value) {
  return Evaluator(condition, value).Run();
}

std::vector<Assertion> AssertionsOf(const ast::Document& document, Context& context) {
  std::vector<Assertion> found;
  for (const ast::Extension& line : document.extensions) {
    for (const semantics::ExtensionUse& use : semantics::ExtensionsIn(line, context.symbols)) {
      if (use.extension == nullptr || use.extension->role != semantics::ExtensionRole::kAssertion) continue;
      SourceRange range = use.arguments.empty() ? line.tail : use.arguments.front().range;
      if (!range.valid()) continue;
      range.end = line.tail.valid() ? line.tail.end : use.arguments.back().range.end;
      const std::string text =
          ast::OnOneLine(context.sources.Text(range.file).substr(range.begin, range.end - range.begin));
      if (text.find(':') != std::string_view::npos) continue;
      if (Evaluate(text, [](std::string_view) { return std::optional<int64_t>(); }) == Truth::kUnread) {
        context.emitter.Emit(
            kAssertionUnread, range,
            "`{}` is not a comparison of sums and products of symbols and numbers; it is not "
            "checked",
            text);
        continue;
      }
      found.push_back({range, text});
    }
  }
  return found;
}

}  // namespace nnefc::expand::build
