#include "agent/files/watch.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "agent/files/files.h"
#include "agent/files/frames.h"
#include "agent/files/tree_watch.h"

namespace paddock::agent::files {
namespace {

constexpr int kFrameEvents = 256;

Result<WatchOptions> options_of(const std::string& how) {
  WatchOptions options;
  for (char letter : how) {
    if (letter == 'r') {
      options.reach = WatchOptions::Reach::tree;
    } else if (letter == 'e') {
      options.entries = WatchOptions::Entries::yes;
    } else if (letter == 'n') {
      options.network = WatchOptions::Network::allow;
    } else if (letter != '-') {
      return Error(Code::invalid_argument, "watch: no such letter");
    }
  }
  return options;
}

// Events in frames of some.
class Frames {
 public:
  explicit Frames(const sys::Fd& output) : output_(output) {}

  Status add(wire::WatchEvent event) {
    *events_.add_events() = std::move(event);
    return events_.events_size() >= kFrameEvents ? flush() : Status();
  }
  Status flush() { return events_.events_size() == 0 ? Status() : send(); }
  Status answer(uint32_t count) {
    events_.set_answered(count);
    return send();
  }
  Status say(const Error& error) {
    events_.set_error(error.errno_value() != 0 ? error.errno_value() : EIO);
    events_.set_message(error.describe());
    return send();
  }

 private:
  Status send() {
    PD_TRY(write_frame(output_, events_.SerializeAsString()));
    events_.Clear();
    return {};
  }

  const sys::Fd& output_;
  wire::WatchEvents events_;
};

// Ends with an error of the watch, or well with the input.
Status carry(TreeWatch& watch, const sys::Fd& input, Frames& frames) {
  const TreeWatch::Sink sink = [&](wire::WatchEvent event) { return frames.add(std::move(event)); };
  std::array<pollfd, 2> waited{{{input.get(), POLLIN, 0}, {watch.descriptor().get(), POLLIN, 0}}};
  while (true) {
    if (::poll(waited.data(), waited.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return Error::from_errno(errno, "waiting for changes");
    }
    if (waited[1].revents != 0) {
      PD_TRY(watch.read(sink));
      PD_TRY(frames.flush());
    }
    if (waited[0].revents == 0) continue;
    std::array<char, 64> asked;
    const ssize_t count = ::read(input.get(), asked.data(), asked.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    PD_TRY(watch.read_until_now(sink));
    PD_TRY(frames.answer(static_cast<uint32_t>(count)));
  }
}

}  // namespace

Status watch(const std::string& how, const std::string& path, const sys::Fd& input,
             const sys::Fd& output) {
  const WatchOptions options = PD_TRY(options_of(how));
  TreeWatch watch = PD_TRY(TreeWatch::make(path, options));
  PD_TRY(write_frame(output, wire::FilesReply().SerializeAsString()));
  Frames frames(output);
  const Status ended = carry(watch, input, frames);
  // The reply is out: nothing may follow it but frames.
  if (!ended.ok()) ::_exit(frames.say(ended.error()).ok() ? 0 : 1);
  ::_exit(0);
}

}  // namespace paddock::agent::files
