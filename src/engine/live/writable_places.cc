#include "engine/live/writable_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/random.h"
#include "view/dir_attributes.h"

namespace paddock::engine {
namespace {

using model::GuestPath;
using model::HostPath;

// A directory of the sandbox's own that the template has nothing for.
struct EmptyPlace {
  GuestPath at;
  mode_t mode;
  uid_t owner;  // and group, as on disk
};

std::vector<EmptyPlace> empty_places(const isolation::SandboxPlan& plan) {
  const bool by_root = ::geteuid() == 0;
  const uid_t root = by_root ? 0 : ::geteuid();
  return {{plan.home, 0700, by_root ? plan.user : root},
          {GuestPath("/tmp"), 01777, root},
          {GuestPath("/var/tmp"), 01777, root}};
}

Status give(const HostPath& path, uid_t owner, mode_t mode) {
  const bool given = ::geteuid() != 0 || ::chown(path.c_str(), owner, owner) == 0;
  if (given && ::chmod(path.c_str(), mode) == 0) return {};
  return Error::from_errno(errno, "preparing " + printable(path.str()));
}

// Where a user does not own what lies below, he may do no more in it than others may.
Status restrict(const HostPath& upper, const HostPath& like) {
  const struct stat st = PD_TRY(sys::stat_path(like.str()));
  if (::geteuid() == 0 || st.st_uid == ::geteuid()) return {};
  const mode_t mode = (st.st_mode & 07077) | ((st.st_mode & 07) << 6);
  if (::chmod(upper.c_str(), mode) == 0) return {};
  return Error::from_errno(errno, "preparing " + printable(upper.str()));
}

// A merged directory looks like its top-most layer: a new one like what it lies over.
Status make_upper(const HostPath& upper, const HostPath& like) {
  PD_TRY(sys::make_dir(upper.str(), 0700));
  const sys::DirFd from = PD_TRY(sys::open_dir(like.str()));
  const sys::DirFd to = PD_TRY(sys::open_dir(upper.str()));
  if (PD_TRY(view::copy_dir_attributes(from, to)) == view::OwnerCopy::exact) return {};
  return restrict(upper, like);
}

// Serves one mount.
Status make_work(const HostPath& work, const HostPath& upper) {
  PD_TRY(sys::remove_tree(work.str()));
  PD_TRY(sys::make_dir(work.str(), 0700));
  const struct stat st = PD_TRY(sys::stat_path(upper.str()));
  if (st.st_uid == ::geteuid() || ::chown(work.c_str(), st.st_uid, st.st_gid) == 0) return {};
  return Error::from_errno(errno, "preparing " + printable(work.str()));
}

std::string random_hex() {
  std::string hex;
  for (const char c : sys::random_bytes(16)) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

// Forks must not be taken for each other.
Status write_machine_id(const HostPath& etc) {
  const std::string id = random_hex();
  const sys::FileFd file = PD_TRY(
      sys::open_file((etc / "machine-id").str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0444));
  return sys::write_all(file, id + "\n");
}

// In the upper of /etc, or in that of a root in one tree.
Status mark_machine(const HostPath& upper, const model::OverlayTree& tree,
                    const isolation::SandboxPlan& plan) {
  if (tree.at == GuestPath("/etc")) return write_machine_id(upper);
  const bool is_whole_root =
      tree.at == GuestPath("/") &&
      std::ranges::none_of(plan.files.overlays, [](const model::OverlayTree& other) {
        return other.at == GuestPath("/etc");
      });
  const HostPath below = tree.lowers.front() / "etc";
  const auto st = sys::lstat_path(below.str());
  if (!is_whole_root || !st.ok() || !S_ISDIR(st->st_mode)) return {};
  PD_TRY(make_upper(upper / "etc", below));
  return write_machine_id(upper / "etc");
}

Status keep_tree(isolation::SandboxPlan& plan, model::OverlayTree& tree,
                 const std::vector<HostPath>& layers) {
  const std::string name = place_name(tree.at);
  std::vector<HostPath> lowers;
  for (auto layer = layers.begin() + 1; layer != layers.end(); ++layer) {
    const HostPath held = *layer / name / "fs";
    if (sys::exists(held.str())) lowers.push_back(held);
  }
  tree.lowers.insert(tree.lowers.begin(), lowers.begin(), lowers.end());
  const HostPath place = layers.front() / name;
  const model::UpperDirs dirs{place / "fs", place / "work"};
  const bool is_new = !sys::exists(dirs.upper.str());
  PD_TRY(sys::make_dir(place.str(), 0700));
  if (is_new) PD_TRY(make_upper(dirs.upper, tree.lowers.front()));
  if (is_new) PD_TRY(mark_machine(dirs.upper, tree, plan));
  PD_TRY(make_work(dirs.work, dirs.upper));
  plan.kept_uppers.emplace(tree.at, dirs);
  return {};
}

}  // namespace

std::string new_boot_id() {
  std::string id = random_hex();
  id[12] = '4';  // RFC 4122: random
  id[16] = 'a';
  for (const size_t dash : {8, 13, 18, 23}) id.insert(dash, 1, '-');
  return id;
}

std::string place_name(const GuestPath& at) {
  std::string name = at.str() == "/" ? "root" : at.str().substr(1);
  std::ranges::replace(name, '/', '.');
  return name;
}

Status keep_writes(isolation::SandboxPlan& plan, const HostPath& below,
                   const std::vector<HostPath>& layers) {
  for (const EmptyPlace& place : empty_places(plan)) {
    const HostPath lower = below / place_name(place.at);
    if (!sys::exists(lower.str())) {
      PD_TRY(sys::make_dirs(lower.str(), 0700));
      PD_TRY(give(lower, place.owner, place.mode));
    }
    plan.files.overlays.push_back({place.at, {lower}, std::nullopt});
  }
  for (model::OverlayTree& tree : plan.files.overlays) {
    if (tree.upper) continue;
    PD_TRY_CTX("keeping what is written to " + tree.at.str(), keep_tree(plan, tree, layers));
  }
  return {};
}

}  // namespace paddock::engine
