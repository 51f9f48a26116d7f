// A JSON parser that records source ranges.

#include "compiler/support/text/json_value.h"

#include <algorithm>
#include <limits>

#include "compiler/support/text/counted_text.h"
#include "llvm/ADT/StringMap.h"
#include "nlohmann/json.hpp"

namespace nnefc {
namespace {

constexpr size_t kMaxNested = 64;

// A builder of values from parser events, with a stack of open containers.
class JsonTree : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonTree(std::string_view text, FileId file, uint32_t offset, const JsonFormat& format, Emitter& emitter)
      : file_(file),
        offset_(offset),
        text_(text),
        reached_(text.data()),
        format_(format),
        emitter_(emitter) {}

  std::optional<JsonValue> Read() {
    const bool ok = nlohmann::json::sax_parse(CountedText(text_.data(), &reached_),
                                              CountedText(text_.data() + text_.size(), &reached_), this);
    if (!ok) return std::nullopt;
    return std::move(root_);
  }

  bool null() override { return Put(nullptr, Word()); }
  bool boolean(bool value) override { return Put(value, Word()); }
  bool number_integer(number_integer_t value) override { return Put(int64_t{value}, Word()); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return Put(static_cast<int64_t>(value), Word());
    return Put(static_cast<double>(value), Word());
  }
  bool number_float(number_float_t value, const string_t&) override { return Put(value, Word()); }
  bool string(string_t& value) override { return Put(std::move(value), LastString()); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(JsonValue::Members()); }
  bool start_array(std::size_t) override { return Open(JsonValue::Items()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    auto& members = std::get<JsonValue::Members>(open_.back().value);
    const SourceRange range = LastString();
    const auto [first, is_new] = keys_.back().try_emplace(name, range);
    if (!is_new) {
      emitter_.Emit(*format_.repetition, range, "`{}` stands here a second time; write it once", name)
          .Note(first->second, "the first one");
      return false;
    }
    members.push_back({std::move(name), range, {}});
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    const auto at = static_cast<uint32_t>(std::min(position > 0 ? position - 1 : 0, text_.size()));
    emitter_.Emit(*format_.syntax, Range(at, at + (at < text_.size() ? 1 : 0)),
                  "invalid JSON; the file holds {}", format_.holds);
    return false;
  }

 private:
  SourceRange Range(uint32_t begin, uint32_t end) const { return {file_, offset_ + begin, offset_ + end}; }
  uint32_t Reached() const { return static_cast<uint32_t>(reached_ - text_.data()); }

  // Returns the range of the string just read, including its quotes.
  SourceRange LastString() const {
    const uint32_t end = Reached();
    uint32_t begin = end - 1;
    while (begin > 0) {
      --begin;
      if (text_[begin] != '"') continue;
      uint32_t slashes = 0;
      while (slashes < begin && text_[begin - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    return Range(begin, end);
  }
  // Returns the range of the number or word just read. The parser has already consumed the character after a
  // number.
  SourceRange Word() const {
    const auto is_part = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' || c == '.';
    };
    uint32_t end = Reached();
    while (end > 1 && !is_part(text_[end - 1])) --end;
    uint32_t begin = end;
    while (begin > 0 && is_part(text_[begin - 1])) --begin;
    return Range(begin, end);
  }

  template <typename T>
  bool Put(T value, SourceRange range) {
    return Place({range, std::move(value)});
  }
  bool Place(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* items = std::get_if<JsonValue::Items>(&open_.back().value)) {
      items->push_back(std::move(value));
    } else {
      std::get<JsonValue::Members>(open_.back().value).back().value = std::move(value);
    }
    return true;
  }
  template <typename T>
  bool Open(T container) {
    const SourceRange range = Range(Reached() - 1, Reached());
    if (open_.size() == kMaxNested) {
      emitter_.Emit(*format_.syntax, range, "the file is nested deeper than {}", kMaxNested);
      return false;
    }
    open_.push_back({range, std::move(container)});
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    JsonValue closed = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return Place(std::move(closed));
  }

  FileId file_;
  uint32_t offset_;
  std::string_view text_;
  const char* reached_;
  const JsonFormat& format_;
  Emitter& emitter_;
  std::vector<JsonValue> open_;
  std::vector<llvm::StringMap<SourceRange>> keys_;  // keys of the open objects, with their ranges
  JsonValue root_;
};

}  // namespace

const JsonValue* JsonValue::Find(std::string_view key) const {
  const auto* members = get<Members>();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::optional<JsonValue> ReadJson(std::string_view text, FileId file, uint32_t offset,
                                  const JsonFormat& format, Emitter& emitter) {
  if (text.size() > format.max_bytes) {
    emitter.Emit(*format.syntax, {file, offset, offset + 1}, "the file has more than {} bytes",
                 format.max_bytes);
    return std::nullopt;
  }
  return JsonTree(text, file, offset, format, emitter).Read();
}

}  // namespace nnefc
