#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/lsp/protocol.h"
#include "tools/lsp/publisher.h"
#include "tools/lsp/session.h"

namespace nnefc::lsp {

struct ServerOptions {
  std::string version;  // shown to the client
  language::ServiceOptions service;
};

// A language server without input and output: handles messages in order and passes its own to `send`. Accepts
// any messages; each request gets one response. Not thread-safe.
class Server {
 public:
  using Send = std::function<void(Json)>;

  Server(ServerOptions options, Send send) : options_(std::move(options)), send_(std::move(send)) {}

  void Handle(const Json& message, Clock::time_point now);
  // Responds to bytes that are not a message.
  void HandleInvalid(const std::string& reason);
  // Responds to a request that the client cancelled before it was handled.
  void HandleCancelled(const Json& request);

  // The next time at which Run has work.
  std::optional<Clock::time_point> deadline() const;
  // Sends the diagnostics that are due.
  void Run(Clock::time_point now);

  // The exit code, after the notification `exit`.
  std::optional<int> exit_code() const { return exit_code_; }
  // The exit code if the input ends without `exit`.
  int end_code() const { return is_shut_down_ ? 0 : 1; }

 private:
  void HandleRequest(const Json& id, const std::string& method, const Json& params);
  void HandleNotification(const std::string& method, const Json& params, Clock::time_point now);
  Json Answer(const std::string& method, const Json& params);
  Json Initialize(const Json& params);
  void Initialized();
  void Open(const Json& params, Clock::time_point now);
  void Change(const Json& params, Clock::time_point now);
  void Saved(const Json& params, Clock::time_point now);
  void Close(const Json& params, Clock::time_point now);
  void Reload(Clock::time_point now);
  void Log(const std::string& message);

  ServerOptions options_;
  Send send_;
  std::unique_ptr<Session> session_;  // null before `initialize`
  bool is_shut_down_ = false;
  std::optional<int> exit_code_;
};

}  // namespace nnefc::lsp
