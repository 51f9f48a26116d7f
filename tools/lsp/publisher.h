#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tools/lsp/protocol.h"
#include "tools/lsp/workspace.h"

namespace nnefc::lsp {

using Clock = std::chrono::steady_clock;

// The delays of diagnostics after a change.
struct PublishDelays {
  // After the last keystroke; at least a quarter of the time of the last check.
  std::chrono::milliseconds change{150};
  // Before a finding at the cursor is shown: the word there may be unfinished.
  std::chrono::milliseconds word{2000};
};

// Returns the findings that an editor shows while `cursor` is the end of the last edit. Those that touch the
// unfinished statement there, its last word, or the token after that are left out.
std::vector<language::Finding> WithoutUnfinished(std::vector<language::Finding> findings,
                                                 std::string_view text, uint32_t cursor, bool has_semicolons);

// Returns the protocol's form of a finding.
Json ToJson(const language::LanguageService& service, const language::Finding& finding,
            bool has_related_locations);

// Sends the diagnostics of changed texts, once per pause in typing.
class Publisher {
 public:
  using Send = std::function<void(Json)>;

  // Schedules the diagnostics of a text: at once, or after a pause if it was changed. `cursor` is the end of
  // the edit.
  void Opened(const std::string& uri, Clock::time_point now) { At(uri, now, std::nullopt); }
  void Changed(const std::string& uri, uint32_t cursor, Clock::time_point now);
  // Schedules the diagnostics of a text after a pause, because another text changed.
  void Depends(const std::string& uri, Clock::time_point now);
  void Closed(const std::string& uri, const Send& send);

  // The next time at which Run has work.
  std::optional<Clock::time_point> deadline() const;
  // Sends the diagnostics that are due.
  void Run(const Workspace& workspace, Clock::time_point now, const Send& send);

  PublishDelays& delays() { return delays_; }
  void set_has_related_locations(bool value) { has_related_locations_ = value; }

 private:
  struct Entry {
    Clock::time_point due;
    std::optional<uint32_t> cursor;  // none: all findings are shown
  };
  void At(const std::string& uri, Clock::time_point due, std::optional<uint32_t> cursor);
  Clock::duration Pause() const;
  void Publish(const Workspace& workspace, const std::string& uri, const Entry& entry, const Send& send);

  PublishDelays delays_;
  bool has_related_locations_ = true;
  std::map<std::string, Entry> entries_;
  Clock::duration checking_{0};  // of the last check
};

}  // namespace nnefc::lsp
