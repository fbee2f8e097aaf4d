#include "engine/live/layers.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "base/strings.h"
#include "model/ids.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/xattr.h"

namespace paddock::engine {
namespace {

using model::HostPath;

// An overlay takes 500 layers; some are the template's own.
constexpr size_t kMaxStack = 400;
constexpr const char* kProbe = "user.paddock.probe";

// An upper marks what it deletes with extended attributes of the `user` namespace.
Status check_xattrs(const HostPath& directory) {
  const sys::DirFd fd = PD_TRY(sys::open_dir(directory.str()));
  Status set = sys::set_xattr(fd, {kProbe, "y"});
  if (set.ok()) return sys::remove_xattr(fd, kProbe);
  return Error(Code::unsupported, "the file system of " + printable(directory.str()) +
                                      " keeps no extended attributes, so it cannot hold what "
                                      "sandboxes write")
      .set_remedy("set PADDOCK_HOME to a directory on a local ext4, xfs or btrfs");
}

}  // namespace

Result<std::string> Layers::make_directory(const HostPath& home) {
  const std::string id = model::SandboxId::from_entropy(sys::random_bytes(8)).str();
  PD_TRY(sys::make_dir((home / "layers" / id).str(), 0700));
  return id;
}

Status Layers::add(const std::string& id, const std::string& parent, const std::string& settings) {
  return database_.execute(
      "INSERT INTO layer (id, parent, created_ms, settings) VALUES (?, ?, ?, ?)",
      {id, parent, sys::wall_clock_ms(), settings});
}

Result<TemplateSettings> Layers::settings_of(const std::vector<std::string>& stack) {
  for (const std::string& id : stack) {
    const auto rows =
        PD_TRY(database_.query("SELECT settings FROM layer WHERE id = ? AND settings <> ''", {id}));
    if (!rows.empty()) return decode_template_settings(rows.front().text(0));
  }
  return TemplateSettings();
}

Result<std::vector<std::string>> Layers::stack_of(const std::string& id) {
  std::vector<std::string> stack;
  for (std::string next = id; !next.empty();) {
    if (stack.size() == kMaxStack) {
      return Error(Code::resource_exhausted,
                   fmt::format("layer {} lies on more than {} others", id, kMaxStack))
          .set_remedy("make the sandbox from an earlier snapshot");
    }
    stack.push_back(next);
    const auto rows = PD_TRY(database_.query("SELECT parent FROM layer WHERE id = ?", {next}));
    if (rows.empty()) return Error(Code::data_corrupt, "layer " + next + " is not on record");
    next = rows.front().text(0);
  }
  return stack;
}

Result<std::vector<HostPath>> Layers::collect(const std::multiset<std::string>& pinned) {
  std::map<std::string, std::string> parents;
  for (const store::Row& row : PD_TRY(database_.query("SELECT id, parent FROM layer"))) {
    parents.emplace(row.text(0), row.text(1));
  }
  std::set<std::string> used;
  auto use = [&](std::string id) {
    while (!id.empty() && used.insert(id).second) id = parents[id];
  };
  for (const std::string& id : pinned) use(id);
  for (const store::Row& row :
       PD_TRY(database_.query("SELECT layer FROM live_sandbox WHERE state <> 'gone' "
                              "UNION SELECT layer FROM snapshot "
                              "UNION SELECT layer FROM template_build WHERE layer <> '' "
                              "UNION SELECT layer FROM build_step WHERE layer <> ''"))) {
    use(row.text(0));
  }
  std::vector<HostPath> left;
  for (const auto& [id, parent] : parents) {
    if (used.contains(id)) continue;
    // The row first: what it names is whole.
    PD_TRY(database_.execute("DELETE FROM layer WHERE id = ?", {id}));
    sys::fault_point("layer.forgotten");
    left.push_back(directory_of(id));
  }
  return left;
}

Result<std::vector<HostPath>> Layers::begin() {
  PD_TRY(sys::make_dirs(directory_.str(), 0700));
  PD_TRY(check_xattrs(directory_));
  (void)PD_TRY(collect({}));
  std::set<std::string> known;
  for (const store::Row& row : PD_TRY(database_.query("SELECT id FROM layer"))) {
    known.insert(row.text(0));
  }
  const sys::DirFd directory = PD_TRY(sys::open_dir(directory_.str()));
  std::vector<HostPath> left;
  const std::vector<sys::DirEntry> entries = PD_TRY(sys::list_dir(directory));
  for (const sys::DirEntry& entry : entries) {
    if (!known.contains(entry.name) && entry.name != "below")
      left.push_back(directory_ / entry.name);
  }
  return left;
}

}  // namespace paddock::engine
