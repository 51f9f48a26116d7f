// The loop of the language server on two file descriptors.

#include "tools/lsp/serve.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "fmt/format.h"
#include "tools/lsp/frame_reader.h"
#include "tools/lsp/server.h"

namespace nnefc::lsp {
namespace {

// The maximum number of queued messages. The reader waits while there are more.
constexpr size_t kMaxQueued = 10'000;

// A received message.
struct Received {
  Json message;
  std::string error;  // the reason if it is not a message
  bool is_cancelled = false;
};

// The messages from the reading thread to the serving one.
class Inbox {
 public:
  // Adds a message. A cancellation marks its request instead, if that is still queued.
  void Add(Received received) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return queue_.size() < kMaxQueued || is_closed_; });
    if (is_closed_) return;
    if (const Json* method = Find(received.message, {"method"});
        method != nullptr && *method == "$/cancelRequest") {
      if (const Json* id = Find(received.message, {"params", "id"})) Cancel(*id);
      return;
    }
    queue_.push_back(std::move(received));
    arrived_.notify_one();
  }

  // The input has ended; queued messages are still delivered.
  void End() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    arrived_.notify_one();
  }

  // Nobody reads any more.
  void Close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    room_.notify_one();
  }

  // Returns the next message; nothing at the deadline or at the end of the input.
  std::optional<Received> Next(std::optional<Clock::time_point> deadline) {
    std::unique_lock lock(mutex_);
    const auto is_ready = [&] { return !queue_.empty() || has_ended_; };
    if (deadline) {
      arrived_.wait_until(lock, *deadline, is_ready);
    } else {
      arrived_.wait(lock, is_ready);
    }
    if (queue_.empty()) return std::nullopt;
    Received received = std::move(queue_.front());
    queue_.pop_front();
    room_.notify_one();
    return received;
  }

  bool has_ended() {
    const std::lock_guard lock(mutex_);
    return has_ended_ && queue_.empty();
  }

 private:
  void Cancel(const Json& id) {
    for (Received& queued : queue_) {
      const Json* other = Find(queued.message, {"id"});
      if (other != nullptr && *other == id && queued.message.contains("method")) queued.is_cancelled = true;
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable room_;
  std::deque<Received> queue_;
  bool has_ended_ = false;
  bool is_closed_ = false;
};

// The maximum depth of arrays and objects in a message. Functions of the JSON library recurse into them.
constexpr int kMaxDepth = 256;

// Returns true if more arrays and objects are nested; their brackets need not match.
bool IsTooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Received Parse(FrameReader::Frame frame) {
  if (!frame.error.empty()) return {.message = {}, .error = std::move(frame.error)};
  if (IsTooDeep(frame.content))
    return {.message = {},
            .error = fmt::format("a message nests more than {} arrays and objects", kMaxDepth)};
  Json message = Json::parse(frame.content, nullptr, /*allow_exceptions=*/false);
  if (message.is_discarded()) return {.message = {}, .error = "invalid JSON"};
  return {.message = std::move(message), .error = {}};
}

// Reads until the end of the input, or until `stop` can be read.
void ReadMessages(int input, int stop, Inbox& inbox) {
  FrameReader reader;
  std::array<char, 65536> buffer;
  std::array<pollfd, 2> polled{{{input, POLLIN, 0}, {stop, POLLIN, 0}}};
  while (true) {
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (polled[1].revents != 0) return;
    if (polled[0].revents == 0) continue;
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    reader.Feed({buffer.data(), static_cast<size_t>(count)});
    while (std::optional<FrameReader::Frame> frame = reader.Next()) inbox.Add(Parse(std::move(*frame)));
  }
  inbox.End();
}

// Returns false if the output is closed.
bool WriteAll(int output, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(output, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

int Serve(int input, int output, const std::string& version) {
  bool is_broken = false;
  Server server({.version = version, .service = {}},
                [&](const Json& message) { is_broken = is_broken || !WriteAll(output, Framed(message)); });
  int stop[2];
  if (::pipe(stop) != 0) return 2;
  Inbox inbox;
  std::thread reader(ReadMessages, input, stop[0], std::ref(inbox));
  while (!server.exit_code() && !is_broken && !inbox.has_ended()) {
    if (std::optional<Received> received = inbox.Next(server.deadline())) {
      if (!received->error.empty()) {
        server.HandleInvalid(received->error);
      } else if (received->is_cancelled) {
        server.HandleCancelled(received->message);
      } else {
        server.Handle(received->message, Clock::now());
      }
    } else {
      server.Run(Clock::now());
    }
  }
  inbox.Close();
  ::close(stop[1]);
  reader.join();
  ::close(stop[0]);
  return server.exit_code().value_or(server.end_code());
}

}  // namespace nnefc::lsp
