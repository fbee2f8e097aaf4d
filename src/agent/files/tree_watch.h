// What changes in a directory, and below it, told without a gap or ended with an error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "agent/files/upload_name.h"
#include "base/result.h"
#include "sys/inotify.h"
#include "wire/files.pb.h"

namespace paddock::agent::files {

struct WatchOptions {
  enum class Reach { directory, tree } reach = Reach::directory;
  enum class Entries { no, yes } entries = Entries::no;
  enum class Network { refuse, allow } network = Network::refuse;
};

// Watches one inode per directory. A directory that comes is watched first and then looked through:
// what was in it already is told as made (and written, where it has bytes); what both the kernel
// and the look would tell is told once. A directory that is moved within the tree goes under its
// old name and comes under its new one. Directories that may not be read are not watched. Not
// thread-safe.
class TreeWatch {
 public:
  using Sink = std::function<Status(wire::WatchEvent)>;

  // ENOENT, ENOTDIR. EINVAL: a network file system, whose changes by others nobody would tell.
  static Result<TreeWatch> make(const std::string& path, WatchOptions options);

  const sys::Fd& descriptor() const { return inotify_.descriptor(); }
  // Tells what is queued now, at least; nothing when that is nothing. Errors end the watch:
  // EOVERFLOW, events were lost; ENOENT, the directory itself is gone or has moved.
  Status read_until_now(const Sink& sink);
  // The same for a part.
  Status read(const Sink& sink);

 private:
  enum class Tell { no, yes };

  TreeWatch(std::string path, WatchOptions options, sys::Inotify inotify)
      : root_(std::move(path)), options_(options), inotify_(std::move(inotify)) {}

  Status take(const sys::InotifyEvent& event, const Sink& sink);
  Status take_own(const sys::InotifyEvent& event, const std::string& directory, const Sink& sink);
  Status take_arrival(const sys::InotifyEvent& event, const std::string& name, const Sink& sink);
  Status tell(wire::WatchEvent::Type type, const std::string& name, const Sink& sink);
  Status enter_tree(const std::string& name, Tell tell, const Sink& sink);
  Status look_through(const std::string& name, Tell tell, const Sink& sink,
                      std::vector<std::string>& found);
  Result<bool> watch(const std::string& name);
  void leave_tree(const std::string& name);
  std::string path_of(const std::string& name) const;

  std::string root_;
  WatchOptions options_;
  sys::Inotify inotify_;
  // Names are relative to the root, which is "".
  std::map<int, std::string> names_;
  std::map<std::string, int> watches_;
  // What a look has told and a queued event might tell again, until taken_ reaches looked_at_.
  std::set<std::string> told_;
  std::map<uint32_t, Upload> uploads_;  // by the cookie of their move
  uint64_t taken_ = 0;                  // bytes of events
  uint64_t looked_at_ = 0;
};

}  // namespace paddock::agent::files
