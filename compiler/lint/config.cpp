// The reader of configuration files, and the search for them. A SAX parser reports mistakes with their source
// ranges.

#include "compiler/lint/config.h"

#include <filesystem>
#include <map>
#include <utility>

#include "compiler/driver/rules.h"
#include "compiler/lint/rules.h"
#include "compiler/support/text/counted_text.h"
#include "compiler/support/text/json_value.h"
#include "nlohmann/json.hpp"

namespace nnefc::lint {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A SAX handler for a configuration; unknown nested values are ignored.
class ConfigReader : public nlohmann::json_sax<Json> {
 public:
  ConfigReader(FileId file, Context& context, SettingsRequest& request)
      : file_(file), text_(context.sources.Text(file)), emitter_(context.emitter), request_(request) {}

  void Read() {
    Json::sax_parse(CountedText(text_.data(), &reached_), CountedText(text_.data() + text_.size(), &reached_),
                    this);
  }

  bool null() override { return Other(); }
  bool boolean(bool) override { return Other(); }
  bool number_integer(number_integer_t) override { return Other(); }
  bool number_unsigned(number_unsigned_t) override { return Other(); }
  bool number_float(number_float_t, const string_t&) override { return Other(); }
  bool binary(binary_t&) override { return Other(); }

  bool string(string_t& value) override {
    if (depth_ == 3 && list_) return TakeRule(value);
    if (depth_ == 3 && levels_) return TakeLevel(value);
    return Other();
  }
  bool start_object(std::size_t) override {
    const bool fits = depth_ <= 1 || (depth_ == 2 && section_ == "levels");
    if (!fits || list_) Other();
    if (fits && depth_ == 2) levels_ = true;
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 2) levels_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 2 && (section_ == "enable" || section_ == "disable")) {
      list_ = true;
    } else {
      Other();
    }
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 2) list_ = false;
    return true;
  }
  bool key(string_t& name) override {
    key_ = LastString();
    CheckTwice(name);
    if (depth_ == 1) {
      top_ = name;
      section_.clear();
      if (name != "lint") Unknown(name, "`lint`");
    } else if (depth_ == 2 && top_ == "lint") {
      section_ = name;
      if (name != "enable" && name != "disable" && name != "levels") {
        Unknown(name, "`enable`, `disable` and `levels`");
      }
    } else if (depth_ == 3 && section_ == "levels") {
      level_rule_ = Settings::Find(name);
      if (level_rule_ == nullptr) emitter_.Emit(kConfigRule, key_, "{}", Settings::WhyNot(name));
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    const auto at = static_cast<uint32_t>(std::min(position > 0 ? position - 1 : 0, text_.size()));
    emitter_.Emit(kConfigSyntax, {file_, at, at + (at < text_.size() ? 1 : 0)},
                  "invalid JSON; the file holds one object, such as {}",
                  R"(`{"lint": {"disable": ["unused-fragment"]}}`)");
    return false;
  }

 private:
  // Returns the range of the string just read, including its quotes.
  SourceRange LastString() const {
    const auto end = static_cast<size_t>(reached_ - text_.data());
    size_t begin = end - 1;
    while (begin > 0) {
      --begin;
      if (text_[begin] != '"') continue;
      size_t slashes = 0;
      while (slashes < begin && text_[begin - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  void Unknown(const std::string& name, std::string_view known) {
    emitter_.Emit(kConfigKey, key_, "there is no key `{}` here; there is {}", name, known);
  }
  // Reports a duplicate key. JSON parsers disagree about its value; here the last one applies.
  void CheckTwice(const std::string& name) {
    const bool is_known =
        depth_ == 1 || (top_ == "lint" && (depth_ == 2 || (depth_ == 3 && section_ == "levels")));
    if (!is_known) return;
    keys_.erase(keys_.lower_bound({depth_ + 1, std::string()}), keys_.end());
    // A rule may have two names.
    const Rule* rule = depth_ == 3 ? Settings::Find(name) : nullptr;
    const std::pair key(depth_, rule != nullptr ? std::string(rule->label) : name);
    auto [entry, is_new] = keys_.try_emplace(key, key_);
    if (is_new) return;
    emitter_.Emit(kConfigTwice, key_, "`{}` stands here a second time; write it once", name)
        .Note(entry->second, "the first one");
  }
  // Reports a value of the wrong type, once per key, unless the key itself is unknown.
  bool Other() {
    if (depth_ == 0) {
      emitter_.Emit(kConfigValue, {file_, 0, text_.empty() ? 0U : 1U}, "the file must hold an object");
    } else if (depth_ == 1 && top_ == "lint") {
      emitter_.Emit(kConfigValue, key_, "`lint` must be an object");
    } else if (top_ == "lint") {
      if (section_ == "levels") {
        emitter_.Emit(kConfigValue, key_, "`levels` gives rules `\"error\"`, `\"warning\"` or `\"note\"`");
      } else if (section_ == "enable" || section_ == "disable") {
        emitter_.Emit(kConfigValue, key_, "`{}` must be a list of names of rules", section_);
      }
    }
    return true;
  }
  bool TakeRule(const std::string& name) {
    const bool enable = section_ == "enable";
    if (name == "all") {
      (enable ? request_.enable_all : request_.disable_all) = true;
      return true;
    }
    if (const Rule* rule = Settings::Find(name)) {
      (enable ? request_.enabled : request_.disabled).push_back(rule);
    } else {
      emitter_.Emit(kConfigRule, LastString(), "{}", Settings::WhyNot(name));
    }
    return true;
  }
  bool TakeLevel(const std::string& value) {
    const std::optional<Severity> level = ParseLevel(value);
    if (!level) {
      emitter_.Emit(kConfigValue, LastString(),
                    "`{}` is not a level; there are `error`, `warning` and `note`", value);
    } else if (level_rule_ != nullptr) {
      request_.levels.emplace_back(level_rule_, *level);
    }
    return true;
  }

  FileId file_;
  std::string_view text_;
  Emitter& emitter_;
  SettingsRequest& request_;
  const char* reached_ = nullptr;
  int depth_ = 0;
  bool list_ = false;    // within `enable` or `disable`
  bool levels_ = false;  // within `levels`
  std::string top_, section_;
  SourceRange key_;
  std::map<std::pair<int, std::string>, SourceRange> keys_;  // keys of the enclosing objects, by depth
  const Rule* level_rule_ = nullptr;
};

}  // namespace

std::string FindConfig(const std::string& path) {
  std::error_code error;
  fs::path folder = fs::absolute(path, error).lexically_normal();
  if (error) return {};
  if (!fs::is_directory(folder, error)) folder = folder.parent_path();
  while (true) {
    const fs::path candidate = folder / kConfigName;
    // Reading reports an existing path that is not a file.
    if (fs::exists(fs::symlink_status(candidate, error))) {
      const fs::path near = candidate.lexically_proximate(fs::current_path(error));
      return near.native().starts_with("..") ? candidate.string() : near.string();
    }
    if (!folder.has_relative_path()) return {};
    folder = folder.parent_path();
  }
}

SettingsRequest ReadConfig(const std::string& path, Context& context, bool& environment_failed) {
  ErrorOr<FileId> file = context.sources.Open(path);
  if (file) return ReadConfigText(*file, context);
  environment_failed = true;
  context.emitter.Emit(driver::kFileUnreadable, {}, "{}", file.error().message);
  return {};
}

SettingsRequest ReadConfigText(FileId file, Context& context) {
  SettingsRequest request;
  if (context.sources.Text(file).size() > kMaxSettingsBytes) {
    context.emitter.Emit(kConfigSyntax, {file, 0, 1}, "the file has more than {} bytes", kMaxSettingsBytes);
    return request;
  }
  ConfigReader(file, context, request).Read();
  return request;
}

}  // namespace nnefc::lint
