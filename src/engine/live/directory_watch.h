// Watches of directories inside, by `paddock-agent files watch`: as a stream, and kept for clients
// that ask from time to time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/guest_files.h"
#include "net/event.h"

namespace paddock::engine {

struct WatchRequest {
  std::string path;
  enum class Reach { directory, tree } reach = Reach::directory;
  enum class Entries { no, yes } entries = Entries::no;
  enum class Network { refuse, allow } network = Network::refuse;
};

using WatchEvents = std::vector<wire::WatchEvent>;

// Events in the order in which they happened, none missing until an error says that some are. What
// is not taken waits inside, bounded by the stream's credit and the kernel's queue, whose overflow
// is such an error. Used on its loop's thread.
class DirectoryWatch {
 public:
  // not_found (ENOENT), ENOTDIR, EINVAL (a network file system), resource_exhausted.
  static Result<std::unique_ptr<DirectoryWatch>> start(net::Task& task, const Inside& inside,
                                                       const WatchRequest& request);

  // nullopt: nothing came within the time, or wake() was called. resource_exhausted: events were
  // lost; not_found: the directory is gone; unavailable: the sandbox is. Each of them for good.
  Result<std::optional<WatchEvents>> next(net::Task& task, std::chrono::milliseconds patience);
  void wake() { command_->wake(); }
  // All that happened before the call and was not told yet, up to a bound; the rest is of the next
  // call.
  Result<WatchEvents> take_until_now(net::Task& task);

 private:
  DirectoryWatch(net::Loop& loop, std::unique_ptr<FileCommand> command)
      : command_(std::move(command)), turns_(loop) {}
  // Into events_; false: nothing came.
  Result<bool> receive(net::Task& task, std::chrono::milliseconds patience);

  std::unique_ptr<FileCommand> command_;
  net::Turnstile turns_;
  WatchEvents events_;
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
  std::optional<Error> ended_;
};

// The watches of one sandbox that clients ask for by name.
class KeptWatches {
 public:
  // Its name. resource_exhausted: too many.
  Result<std::string> keep(std::unique_ptr<DirectoryWatch> watch);
  // nullptr: no such watch.
  std::shared_ptr<DirectoryWatch> find(const std::string& name) const;
  enum class Forgotten { yes, was_unknown };
  Forgotten forget(const std::string& name);

 private:
  std::map<std::string, std::shared_ptr<DirectoryWatch>> watches_;
};

}  // namespace paddock::engine
