#include "agent/files/tree_watch.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "agent/files/files.h"
#include "sys/files.h"

namespace paddock::agent::files {
namespace {

constexpr uint32_t kMask = IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM |
                           IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                           IN_EXCL_UNLINK;

// Numbers that linux/magic.h lacks are of the kernel's own sources.
constexpr std::array<long, 7> kNetworkFileSystems{
    NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
    V9FS_MAGIC,      CEPH_SUPER_MAGIC, FUSE_SUPER_MAGIC};

bool is_on_network(const std::string& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return false;  // what follows says why
  return std::find(kNetworkFileSystems.begin(), kNetworkFileSystems.end(), long{info.f_type}) !=
         kNetworkFileSystems.end();
}

std::string below(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

// Directories come and go while they are looked at, and some are closed to us.
bool is_gone_or_closed(const Error& error) {
  const int number = error.errno_value();
  return number == ENOENT || number == ENOTDIR || number == ELOOP || number == EACCES;
}

bool has_bytes(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_size > 0;
}

}  // namespace

Result<TreeWatch> TreeWatch::make(const std::string& path, WatchOptions options) {
  if (options.network == WatchOptions::Network::refuse && is_on_network(path)) {
    return Error::from_errno(EINVAL, "watching a network file system");
  }
  TreeWatch watch(path, options, PD_TRY(sys::Inotify::open()));
  const int root = PD_TRY(watch.inotify_.watch(path, kMask));
  watch.names_[root] = "";
  watch.watches_[""] = root;
  if (options.reach == WatchOptions::Reach::directory) return watch;
  std::vector<std::string> found;
  PD_TRY(watch.look_through("", Tell::no, nullptr, found));
  for (const std::string& name : found) PD_TRY(watch.enter_tree(name, Tell::no, nullptr));
  return watch;
}

std::string TreeWatch::path_of(const std::string& name) const {
  if (name.empty()) return root_;
  return root_ == "/" ? root_ + name : root_ + "/" + name;
}

// ---- what the kernel says

Status TreeWatch::read_until_now(const Sink& sink) {
  const uint64_t until = taken_ + inotify_.queued();
  while (taken_ < until) PD_TRY(read(sink));
  return {};
}

Status TreeWatch::read(const Sink& sink) {
  if (taken_ >= looked_at_) told_.clear();
  const auto batch = PD_TRY(inotify_.read());
  taken_ += batch.taken;
  for (const sys::InotifyEvent& event : batch.events) PD_TRY(take(event, sink));
  return {};
}

Status TreeWatch::take(const sys::InotifyEvent& event, const Sink& sink) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    return Error::from_errno(EOVERFLOW, "more changed at once than could be told");
  }
  const auto known = names_.find(event.watch);
  if (known == names_.end()) return {};  // of a directory that has left
  const std::string directory = known->second;
  if (event.name.empty()) return take_own(event, directory, sink);
  if (const Upload upload = upload_of(event.name); upload != Upload::none) {
    if ((event.mask & IN_MOVED_FROM) != 0) uploads_[event.cookie] = upload;
    return {};
  }
  const std::string name = below(directory, event.name);
  if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) return take_arrival(event, name, sink);
  if ((event.mask & IN_MODIFY) != 0) return tell(wire::WatchEvent::WRITE, name, sink);
  if ((event.mask & IN_ATTRIB) != 0) return tell(wire::WatchEvent::CHMOD, name, sink);
  told_.erase(name);
  if ((event.mask & IN_DELETE) != 0) return tell(wire::WatchEvent::REMOVE, name, sink);
  if ((event.mask & IN_ISDIR) != 0) leave_tree(name);
  return tell(wire::WatchEvent::RENAME, name, sink);
}

// Of a directory itself. Of those below, their parents tell.
Status TreeWatch::take_own(const sys::InotifyEvent& event, const std::string& directory,
                           const Sink& sink) {
  const bool is_root = directory.empty();
  if ((event.mask & IN_IGNORED) != 0) {
    const auto watch = watches_.find(directory);
    if (watch != watches_.end() && watch->second == event.watch) watches_.erase(watch);
    names_.erase(event.watch);
  }
  if (!is_root) return {};
  if ((event.mask & IN_ATTRIB) != 0) return tell(wire::WatchEvent::CHMOD, ".", sink);
  if ((event.mask & IN_MOVE_SELF) != 0) {
    PD_TRY(tell(wire::WatchEvent::RENAME, ".", sink));
    return Error::from_errno(ENOENT, "the watched directory has moved");
  }
  if ((event.mask & (IN_DELETE_SELF | IN_IGNORED)) != 0) {
    PD_TRY(tell(wire::WatchEvent::REMOVE, ".", sink));
    return Error::from_errno(ENOENT, "the watched directory is gone");
  }
  return {};
}

Status TreeWatch::take_arrival(const sys::InotifyEvent& event, const std::string& name,
                               const Sink& sink) {
  Upload upload = Upload::none;
  if (const auto moved = uploads_.find(event.cookie);
      moved != uploads_.end() && (event.mask & IN_MOVED_TO) != 0) {
    upload = moved->second;
    uploads_.erase(moved);
  }
  if (told_.erase(name) != 0) return {};
  if (upload == Upload::to_present) return tell(wire::WatchEvent::WRITE, name, sink);
  PD_TRY(tell(wire::WatchEvent::CREATE, name, sink));
  if (upload == Upload::to_new) {
    PD_TRY(tell(wire::WatchEvent::CHMOD, name, sink));
    return tell(wire::WatchEvent::WRITE, name, sink);
  }
  const bool enter = (event.mask & IN_ISDIR) != 0 && options_.reach == WatchOptions::Reach::tree;
  return enter ? enter_tree(name, Tell::yes, sink) : Status();
}

Status TreeWatch::tell(wire::WatchEvent::Type type, const std::string& name, const Sink& sink) {
  wire::WatchEvent event;
  event.set_type(type);
  event.set_name(name);
  const bool has_entry = type == wire::WatchEvent::CREATE || type == wire::WatchEvent::WRITE ||
                         type == wire::WatchEvent::CHMOD;
  if (has_entry && options_.entries == WatchOptions::Entries::yes) {
    auto entry = describe(path_of(name == "." ? "" : name));
    if (entry.ok()) *event.mutable_entry() = std::move(*entry);
  }
  return sink(std::move(event));
}

// ---- directories that come and go

// False: there is nothing (any more) that could be watched.
Result<bool> TreeWatch::watch(const std::string& name) {
  auto watch = inotify_.watch(path_of(name), kMask | IN_DONT_FOLLOW);
  if (!watch.ok() && is_gone_or_closed(watch.error())) return false;
  if (!watch.ok()) return std::move(watch).error();
  // It may have come here by a move that is still queued.
  if (const auto known = names_.find(*watch); known != names_.end()) {
    watches_.erase(known->second);
  }
  names_[*watch] = name;
  watches_[name] = *watch;
  return true;
}

Status TreeWatch::enter_tree(const std::string& name, Tell tell, const Sink& sink) {
  std::vector<std::string> left{name};
  while (!left.empty()) {
    const std::string next = std::move(left.back());
    left.pop_back();
    if (PD_TRY(watch(next))) PD_TRY(look_through(next, tell, sink, left));
  }
  looked_at_ = taken_ + inotify_.queued();
  return {};
}

Status TreeWatch::look_through(const std::string& name, Tell tell, const Sink& sink,
                               std::vector<std::string>& found) {
  auto directory = sys::open_dir(path_of(name));
  if (!directory.ok() && is_gone_or_closed(directory.error())) return {};
  if (!directory.ok()) return std::move(directory).error();
  for (const sys::DirEntry& child : PD_TRY(sys::list_dir(*directory))) {
    if (upload_of(child.name) != Upload::none) continue;
    auto info = sys::lstat_at(*directory, child.name);
    if (!info.ok()) continue;
    const std::string path = below(name, child.name);
    if (S_ISDIR(info->st_mode)) found.push_back(path);
    if (tell == Tell::no) continue;
    told_.insert(path);
    PD_TRY(this->tell(wire::WatchEvent::CREATE, path, sink));
    if (has_bytes(*info)) PD_TRY(this->tell(wire::WatchEvent::WRITE, path, sink));
  }
  return {};
}

void TreeWatch::leave_tree(const std::string& name) {
  const std::string prefix = name + "/";
  auto is_inside = [&](const std::string& path) {
    return path == name || path.starts_with(prefix);
  };
  std::erase_if(told_, is_inside);
  for (auto watch = watches_.lower_bound(name); watch != watches_.end();) {
    if (!watch->first.starts_with(name)) break;
    if (!is_inside(watch->first)) {  // "a-b" lies between "a" and "a/b"
      ++watch;
      continue;
    }
    inotify_.forget(watch->second);
    names_.erase(watch->second);
    watch = watches_.erase(watch);
  }
}

}  // namespace paddock::agent::files
