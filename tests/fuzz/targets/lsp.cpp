// The language server: a JSON list of messages after `initialize`, or else a stream of bytes with headers.
#include <cstdlib>
#include <map>

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"
#include "tools/lsp/frame_reader.h"
#include "tools/lsp/server.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kJsonMutator;
}

namespace nnefc::fuzz::lsp {
namespace {

// A client that checks the messages of its server.
class Client {
 public:
  Client() {
    // Generated files belong to the process.
    ::setenv("XDG_CACHE_HOME", fuzz::Folder().c_str(), 1);
    Send({{"jsonrpc", "2.0"},
          {"id", 0},
          {"method", "initialize"},
          {"params",
           {{"capabilities", nnefc::lsp::Json::object()},
            {"initializationOptions", {{"diagnosticDelay", 0}}}}}});
  }

  void Send(const nnefc::lsp::Json& message) {
    const size_t before = responses_;
    server_.Handle(message, now_);
    const bool is_request = message.is_object() && message.contains("id") && message.contains("method");
    fuzz::Require(responses_ - before <= 1 && (!is_request || responses_ - before == 1),
                  "a request has one response");
    now_ += std::chrono::seconds(3);
    server_.Run(now_);
  }
  void SendInvalid(const std::string& reason) { server_.HandleInvalid(reason); }

 private:
  void Receive(const nnefc::lsp::Json& message) {
    fuzz::Require(!nnefc::lsp::Framed(message).empty() && message.at("jsonrpc") == "2.0",
                  "messages are valid");
    if (!message.contains("method")) ++responses_;
    const nnefc::lsp::Json* code = nnefc::lsp::Find(message, {"error", "code"});
    fuzz::Require(code == nullptr || *code != static_cast<int>(nnefc::lsp::ErrorCode::kInternalError),
                  "the server has no internal errors");
  }

  size_t responses_ = 0;
  nnefc::lsp::Clock::time_point now_ = nnefc::lsp::Clock::time_point(std::chrono::hours(1));
  nnefc::lsp::Server server_{{.version = "0", .service = {.limits = fuzz::LowLimits(), .max_text = 20'000}},
                             [this](const nnefc::lsp::Json& message) { Receive(message); }};
};

// Messages beyond these add time and no code.
constexpr size_t kMaxMessages = 40;

}  // namespace
}  // namespace nnefc::fuzz::lsp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  const std::string_view text = fuzz::Text(data, size);
  fuzz::lsp::Client client;
  const lsp::Json list = lsp::Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (list.is_array()) {
    for (size_t i = 0; i < std::min(list.size(), fuzz::lsp::kMaxMessages); ++i) client.Send(list[i]);
    return 0;
  }
  lsp::FrameReader reader(1 << 16);
  for (size_t at = 0; at < text.size(); at += 100) {
    reader.Feed(text.substr(at, 100));
    while (const auto frame = reader.Next()) {
      const lsp::Json message = lsp::Json::parse(frame->content, nullptr, /*allow_exceptions=*/false);
      if (!frame->error.empty() || message.is_discarded()) {
        client.SendInvalid(frame->error);
      } else {
        client.Send(message);
      }
    }
  }
  return 0;
}
