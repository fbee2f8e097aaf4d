#include "isolation/container/mount_program_builder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::isolation::container {
namespace {

using model::GuestPath;
using model::HostPath;

constexpr uint64_t kTree = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr uint64_t kNoPrograms = kTree | MOUNT_ATTR_NOEXEC;
// overlayfs takes 500 lower layers (kernel: OVL_MAX_STACK); mount(2) takes one page of options.
constexpr size_t kMaxLayers = 500;
constexpr size_t kMaxOptionBytes = 4095;
// userxattr: what an upper holds reads the same whoever made it, and a crafted trusted.overlay.*
// redirect in a lower means nothing. index, metacopy: an upper stays whole by itself. volatile: no
// sync of the upper's whole file system at unmount; the view syncs what it keeps.
constexpr const char* kOverlayOptions = "userxattr,index=off,metacopy=off,volatile";

struct DeviceNode {
  const char* name;
  unsigned major;
  unsigned minor;
};
constexpr std::array kDevices{DeviceNode{"null", 1, 3},    DeviceNode{"zero", 1, 5},
                              DeviceNode{"full", 1, 7},    DeviceNode{"random", 1, 8},
                              DeviceNode{"urandom", 1, 9}, DeviceNode{"tty", 5, 0}};

struct DeviceLink {
  const char* name;
  const char* target;
};
constexpr std::array kDeviceLinks{
    DeviceLink{"fd", "/proc/self/fd"}, DeviceLink{"stdin", "/proc/self/fd/0"},
    DeviceLink{"stdout", "/proc/self/fd/1"}, DeviceLink{"stderr", "/proc/self/fd/2"},
    DeviceLink{"ptmx", "pts/ptmx"}};

bool is_normal(const std::string& path) {
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) return false;
  if (path == "/") return true;
  for (const std::string& part : split(std::string_view(path).substr(1), '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

size_t depth(const GuestPath& path) {
  if (path.str() == "/") return 0;
  return static_cast<size_t>(std::count(path.str().begin(), path.str().end(), '/'));
}

std::string below_root(const GuestPath& path) {
  return path.str().substr(1);
}

// The deepest directory that holds both.
std::string common_parent(const std::string& a, const std::string& b) {
  size_t length = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
    if (a[i] == '/') length = i;
  }
  return length == 0 ? "/" : a.substr(0, length);
}

std::string relative_to(const std::string& parent, const std::string& path) {
  return path.substr(parent == "/" ? 1 : parent.size() + 1);
}

class Builder {
 public:
  Builder(const SandboxPlan& plan, const ProgramOptions& options, SourceProvider& sources)
      : plan_(plan), options_(options), sources_(sources) {}

  Result<MountProgram> build() {
    PD_TRY(check_places());
    for (const PrivateDirectory& dir : private_directories()) {
      covers_.emplace(dir.at, Missing::create);
    }
    add_scratch();
    for (const auto& tree : plan_.files.overlays) PD_TRY(add_overlay(tree));
    for (const auto& bind : plan_.files.binds) PD_TRY(add_bind(bind));
    for (const auto& link : plan_.files.symlinks) add_symlink(link);
    if (!is_taken(GuestPath("/"))) program_.push_back(root_tmpfs());
    for (const PrivateDirectory& dir : private_directories()) add_private(dir);
    add_system_directories();
    flush_placed();
    PD_TRY(add_boot_id());
    add_masks();
    return std::move(program_);
  }

 private:
  struct Placed {
    GuestPath at;
    Step step;
  };

  // Every place that the plan names, and what it says about missing mount points below it.
  Status check_places() {
    for (const auto& tree : plan_.files.overlays) {
      PD_TRY(take(tree.at, tree.upper ? Missing::refuse : Missing::create));
    }
    for (const auto& bind : plan_.files.binds) PD_TRY(take(bind.at, Missing::refuse));
    for (const auto& link : plan_.files.symlinks) PD_TRY(take(link.at, Missing::refuse));
    for (const GuestPath& denied : plan_.denied_paths) {
      if (!is_normal(denied.str()) || denied.str() == "/") return bad_place(denied);
    }
    if (!is_normal(plan_.home.str()) || plan_.home.str() == "/") return bad_place(plan_.home);
    return {};
  }

  static Error bad_place(const GuestPath& at) {
    return Error(Code::invalid_argument,
                 fmt::format("{} is not a path that can be mounted on", printable(at.str())))
        .set_remedy("use an absolute path without '.', '..' or doubled slashes");
  }

  Status take(const GuestPath& at, Missing below) {
    if (!is_normal(at.str())) return bad_place(at);
    for (const char* reserved : {"/proc", "/sys"}) {
      if (GuestPath(reserved).contains(at)) {
        return Error(Code::invalid_argument,
                     fmt::format("{} cannot be mounted: {} is the sandbox's own",
                                 printable(at.str()), reserved))
            .set_remedy("choose another target");
      }
    }
    covers_.emplace(at, below);
    if (!taken_.insert(at).second) {
      return Error(Code::invalid_argument,
                   fmt::format("two trees are to be mounted at {}", printable(at.str())))
          .set_remedy("leave one out or give it another target");
    }
    return {};
  }

  bool is_taken(const GuestPath& at) const { return taken_.count(at) != 0; }

  // Whether a missing mount point may be made: what covers it most closely decides.
  Target target(const GuestPath& at, Node node) const {
    Missing missing = Missing::create;
    size_t nearest_depth = 0;
    for (const auto& [tree, below] : covers_) {
      if (tree == at || !tree.contains(at) || depth(tree) < nearest_depth) continue;
      nearest_depth = depth(tree);
      missing = below;
    }
    return {below_root(at), node, missing};
  }

  void add_scratch() {
    program_.push_back(
        step::MountScratch{{{"mode", "0755"},
                            {"size", std::to_string(options_.scratch_bytes)},
                            {"nr_inodes", std::to_string(options_.scratch_inodes)}}});
    program_.push_back(step::ScratchFile{kMaskFile, 0000});
    program_.push_back(step::ScratchDirectory{kMaskDirectory, 0000});
  }

  static Step root_tmpfs() {
    // Holds mount points and symlinks only.
    return step::MountRoot{{{"mode", "0755"}, {"size", "4m"}, {"nr_inodes", "16384"}}};
  }

  Status add_overlay(const model::OverlayTree& tree) {
    if (tree.lowers.empty() || tree.lowers.size() > kMaxLayers) {
      return Error(Code::resource_exhausted,
                   fmt::format("the tree at {} has {} layers; an overlay takes 1 to {}",
                               printable(tree.at.str()), tree.lowers.size(), kMaxLayers))
          .set_remedy("merge layers of the view");
    }
    std::string number = std::to_string(overlays_++);
    std::string lowers;
    for (const HostPath& lower : tree.lowers) {
      std::string name = "l" + std::to_string(layers_++);
      PD_TRY(add_layer(name, lower, tree.upper ? ShowAs::owner_is_user : ShowAs::whoever_owns_it,
                       MOUNT_ATTR_RDONLY));
      lowers += (lowers.empty() ? "" : ":") + name;
    }
    std::string upper = "u" + number;
    std::string work = "w" + number;
    PD_TRY(add_upper(tree, number));
    std::string data =
        fmt::format("lowerdir={},upperdir={},workdir={},{}", lowers, upper, work, kOverlayOptions);
    if (data.size() > kMaxOptionBytes) {
      return Error(Code::internal, "overlay options exceed one page");
    }
    place(tree.at, step::MountOverlay{"o" + number, data, target(tree.at, Node::directory)});
    return {};
  }

  Status add_upper(const model::OverlayTree& tree, const std::string& number) {
    if (tree.upper) return add_host_upper(*tree.upper, number, ShowAs::owner_is_user);
    const auto kept = plan_.kept_uppers.find(tree.at);
    if (kept != plan_.kept_uppers.end()) {
      return add_host_upper(kept->second, number, ShowAs::as_on_disk);
    }
    return add_scratch_upper(tree, number);
  }

  Status add_layer(const std::string& name, const HostPath& path, ShowAs show, uint64_t extra) {
    Source source = PD_TRY(sources_.open({path, kTree | extra, show, sys::Submounts::leave_out}));
    program_.push_back(step::NameLayer{name, std::move(source)});
    return {};
  }

  // Upper and work directory must be on one mount: their common parent is attached, both are named
  // in it.
  Status add_host_upper(const model::UpperDirs& dirs, const std::string& number, ShowAs show) {
    std::string parent = common_parent(dirs.upper.str(), dirs.work.str());
    std::string name = "p" + number;
    PD_TRY(add_layer(name, HostPath(parent), show, 0));
    for (const auto& [prefix, dir] : {std::pair{"u", &dirs.upper}, std::pair{"w", &dirs.work}}) {
      program_.push_back(
          step::ScratchSymlink{prefix + number, name + "/" + relative_to(parent, dir->str())});
    }
    return {};
  }

  // The top directory of the upper is what the overlay's own attributes come from. What a user
  // makes is his: where the lower is another's, he may do no more in it than others may.
  Status add_scratch_upper(const model::OverlayTree& tree, const std::string& number) {
    struct stat st = PD_TRY(sys::stat_path(tree.lowers.front().str()));
    mode_t mode = st.st_mode & 07777;
    bool is_anothers = ::geteuid() != 0 && st.st_uid != ::geteuid();
    if (is_anothers) mode = (mode & 07077) | ((mode & 07) << 6);
    if (options_.upper_parent)
      return add_upper_on_disk(*options_.upper_parent / number, mode, number);
    program_.push_back(step::ScratchDirectory{"u" + number, mode});
    program_.push_back(step::ScratchDirectory{"w" + number, 0755});
    return {};
  }

  Status add_upper_on_disk(const HostPath& parent, mode_t mode, const std::string& number) {
    model::UpperDirs dirs{parent / "fs", parent / "work"};
    PD_TRY(sys::make_dirs(parent.str(), 0755));
    for (const HostPath* dir : {&dirs.upper, &dirs.work}) {
      PD_TRY(sys::make_dir(dir->str(), 0700));
      bool given = ::geteuid() != 0 ||  // what a user makes is that user's
                   ::chown(dir->c_str(), plan_.files.owner_uid, plan_.files.owner_gid) == 0;
      if (!given || ::chmod(dir->c_str(), mode) != 0) {
        return Error::from_errno(errno, "preparing " + printable(dir->str()));
      }
    }
    return add_host_upper(dirs, number, ShowAs::owner_is_user);
  }

  Status add_bind(const model::BindTree& bind) {
    struct stat st = PD_TRY(sys::stat_path(bind.source.str()));
    bool writable = bind.access == model::Access::read_write;
    uint64_t attributes = kTree | (writable ? 0 : MOUNT_ATTR_RDONLY);
    ShowAs show = writable ? ShowAs::owner_is_user : ShowAs::whoever_owns_it;
    Source source = PD_TRY(sources_.open({bind.source, attributes, show, sys::Submounts::include}));
    Node node = S_ISDIR(st.st_mode) ? Node::directory : Node::file;
    place(bind.at, step::BindTree{std::move(source), attributes, target(bind.at, node)});
    return {};
  }

  void add_symlink(const model::Symlink& link) {
    place(link.at, step::MakeSymlink{target(link.at, Node::file), link.target});
  }

  struct PrivateDirectory {
    std::string name;
    GuestPath at;
    mode_t mode;
    uid_t owner = 0;
  };

  // Empty directories of the scratch, each where programs expect to write. /dev of a root that we
  // did not make is covered too: what an image put there is not what it is called.
  std::vector<PrivateDirectory> private_directories() const {
    std::vector<PrivateDirectory> dirs{{"tmp", GuestPath("/tmp"), 01777},
                                       {"var-tmp", GuestPath("/var/tmp"), 01777},
                                       {"run", GuestPath("/run"), 0755},
                                       {"home", plan_.home, 0700, options_.home_owner}};
    if (is_taken(GuestPath("/"))) dirs.push_back({"dev", GuestPath("/dev"), 0755});
    if (plan_.users == Users::several && !is_taken(GuestPath("/"))) {
      dirs.push_back({"root-home", GuestPath(kRootHome), 0700});  // else it is in that tree
    }
    return dirs;
  }

  void add_private(const PrivateDirectory& dir) {
    if (is_taken(dir.at)) return;
    program_.push_back(step::ScratchDirectory{dir.name, dir.mode, dir.owner});
    place(dir.at, step::BindScratch{dir.name, kTree, target(dir.at, Node::directory)});
  }

  void add_system_directories() {
    add_file_system("proc", GuestPath("/proc"), {}, kNoPrograms);
    add_file_system("sysfs", GuestPath("/sys"), {}, kNoPrograms | MOUNT_ATTR_RDONLY);
    for (const DeviceNode& node : kDevices) {
      GuestPath at(std::string("/dev/") + node.name);
      if (is_taken(at)) continue;
      place(at,
            step::BindDevice{at.str(), makedev(node.major, node.minor), target(at, Node::file)});
    }
    for (const DeviceLink& link : kDeviceLinks) {
      GuestPath at(std::string("/dev/") + link.name);
      if (!is_taken(at)) place(at, step::MakeSymlink{target(at, Node::file), link.target});
    }
    FsOptions terminals{{"ptmxmode", "0666"}, {"mode", "0620"}};
    if (options_.tty_gid) terminals.emplace_back("gid", std::to_string(*options_.tty_gid));
    add_file_system("devpts", GuestPath("/dev/pts"), terminals,
                    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    add_file_system("mqueue", GuestPath("/dev/mqueue"), {}, kNoPrograms);
    add_file_system("tmpfs", GuestPath("/dev/shm"),
                    {{"mode", "1777"},
                     {"size", std::to_string(options_.shm_bytes)},
                     {"nr_inodes", std::to_string(options_.scratch_inodes)}},
                    kTree);
  }

  void add_file_system(const char* type, const GuestPath& at, FsOptions fs_options,
                       uint64_t attributes) {
    if (is_taken(at)) return;
    place(at, step::MountFileSystem{type, std::move(fs_options), attributes,
                                    target(at, Node::directory)});
  }

  // After /proc/sys was made read-only, which covers it with a copy of itself.
  Status add_boot_id() {
    for (const std::string& path : options_.read_only) program_.push_back(step::MakeReadOnly{path});
    if (plan_.boot_id.empty()) return {};
    const HostPath file = plan_.state_dir / "boot_id";
    // That of an earlier start is read-only, to a user too.
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
      return Error::from_errno(errno, "replacing " + printable(file.str()));
    }
    const sys::FileFd fd = PD_TRY(
        sys::open_file(file.str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444));
    PD_TRY(sys::write_all(fd, plan_.boot_id + "\n"));
    const uint64_t attributes = kNoPrograms | MOUNT_ATTR_RDONLY;
    Source source = PD_TRY(
        sources_.open({file, attributes, ShowAs::whoever_owns_it, sys::Submounts::leave_out}));
    const Target target{"proc/sys/kernel/random/boot_id", Node::file, Missing::refuse};
    program_.push_back(step::BindTree{std::move(source), attributes, target});
    return {};
  }

  // Over everything else, and last: what is masked stays masked.
  void add_masks() {
    for (const std::string& path : options_.masked) program_.push_back(step::Mask{path});
    for (const GuestPath& denied : plan_.denied_paths) {
      program_.push_back(step::Mask{below_root(denied)});
    }
    if (!is_taken(GuestPath("/"))) program_.push_back(step::SealRoot{});
    program_.push_back(step::EnterRoot{});
  }

  void place(const GuestPath& at, Step step) { placed_.push_back({at, std::move(step)}); }

  // Parents before what lies in them.
  void flush_placed() {
    std::stable_sort(placed_.begin(), placed_.end(),
                     [](const Placed& a, const Placed& b) { return depth(a.at) < depth(b.at); });
    for (Placed& placed : placed_) program_.push_back(std::move(placed.step));
    placed_.clear();
  }

  const SandboxPlan& plan_;
  const ProgramOptions& options_;
  SourceProvider& sources_;
  MountProgram program_;
  std::vector<Placed> placed_;
  std::set<GuestPath> taken_;            // by the plan
  std::map<GuestPath, Missing> covers_;  // what holds mount points: the plan's trees and ours
  size_t overlays_ = 0;
  size_t layers_ = 0;
};

}  // namespace

Result<MountProgram> build_mount_program(const SandboxPlan& plan, const ProgramOptions& options,
                                         SourceProvider& sources) {
  return Builder(plan, options, sources).build();
}

}  // namespace paddock::isolation::container
