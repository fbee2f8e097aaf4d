#include "image/host_root.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "image/host_etc.h"
#include "sys/files.h"

namespace paddock::image {
namespace {

using model::Control;
using model::ControlState;
using model::GuestPath;
using model::HostPath;
using model::OverlayTree;

// Directories that hold programs and no data of anybody. Each becomes an overlay whose upper is on
// the sandbox's scratch tmpfs. Nothing else of the machine exists inside.
constexpr std::array<std::string_view, 4> kToolTrees{"usr", "opt", "nix", "gnu"};
// Parts of /usr on machines that merged them, directories of their own elsewhere.
constexpr std::array<std::string_view, 6> kMerged{"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

class HostImages : public ImageStore {
 public:
  explicit HostImages(HostRootOptions options) : options_(std::move(options)) {}

  Result<Root> resolve(const std::string& name) override {
    return name == "host" ? host() : directory(name);
  }

 private:
  EtcOptions etc_options() const {
    EtcOptions etc;
    etc.source = options_.machine / "etc";
    etc.cache = options_.home / "images";
    etc.uid = options_.uid;
    etc.gid = options_.gid;
    etc.home = options_.guest_home;
    etc.hostname = options_.hostname;
    return etc;
  }

  Result<Root> host() {
    Root root;
    root.name = "host";
    root.environment = environment();
    for (std::string_view tree : kToolTrees) {
      HostPath path = options_.machine / std::string(tree);
      auto st = sys::lstat_path(path.str());
      if (st.ok() && S_ISDIR(st->st_mode)) add_tree(root, tree, path);
    }
    sys::DirFd machine = PD_TRY(sys::open_dir(options_.machine.str()));
    for (std::string_view tree : kMerged) {
      std::string entry(tree);
      auto st = sys::lstat_at(machine, entry);
      if (!st.ok()) continue;
      if (S_ISLNK(st->st_mode)) {
        std::string target = PD_TRY(sys::read_link_at(machine, entry));
        root.files.symlinks.push_back({GuestPath("/" + entry), std::move(target)});
      } else if (S_ISDIR(st->st_mode)) {
        add_tree(root, tree, options_.machine / entry);
      }
    }
    HostPath etc = PD_TRY(compose_etc(etc_options()));
    root.files.overlays.push_back({GuestPath("/etc"), {etc}, std::nullopt});
    root.controls.push_back(root_control());
    return root;
  }

  static void add_tree(Root& root, std::string_view tree, const HostPath& path) {
    root.files.overlays.push_back({GuestPath("/" + std::string(tree)), {path}, std::nullopt});
  }

  std::vector<std::string> environment() const {
    std::string user = options_.uid == 0 ? "root" : "user";
    return {fmt::format("PATH={}", kPath), "HOME=" + options_.guest_home, "USER=" + user,
            "LOGNAME=" + user, "SHELL=/bin/sh"};
  }

  Control root_control() const {
    std::string detail =
        "the machine's /usr, /opt and an /etc composed from an allow-list; nothing else "
        "of the host; writes go to a throw-away layer";
    if (!options_.root_owned_writable) {
      detail += "; directories that root owns are not writable, as outside";
    }
    return {"root", ControlState::enforced, detail};
  }

  Result<Root> directory(const std::string& name) {
    std::string path = PD_TRY_CTX("using --rootfs " + printable(name), sys::real_path(name));
    struct stat st = PD_TRY(sys::stat_path(path));
    HostPath source(path);
    auto refuse = [&](std::string why, std::string remedy) {
      return Error(Code::invalid_argument, fmt::format("--rootfs {}: {}", printable(name), why))
          .set_remedy(std::move(remedy));
    };
    if (!S_ISDIR(st.st_mode)) return refuse("not a directory", "name an unpacked root directory");
    if (path == "/" || source.contains(options_.home)) {
      return refuse("it holds the machine's own files and Paddock's state",
                    "leave --rootfs out to use the machine's tools (template `host`)");
    }
    auto etc = sys::lstat_path(path + "/etc");
    if (etc.ok() && !S_ISDIR(etc->st_mode)) {
      return refuse("its /etc is not a directory",
                    "make it one: Paddock puts hosts and resolv.conf there");
    }
    HostPath overrides = PD_TRY(compose_etc_overrides(etc_options()));
    Root root;
    root.name = path;
    root.environment = environment();
    root.files.overlays.push_back({GuestPath("/"), {overrides, source}, std::nullopt});
    root.controls.push_back(
        {"root", ControlState::enforced,
         fmt::format("{} as it is now; writes go to a throw-away layer", printable(path))});
    return root;
  }

  HostRootOptions options_;
};

}  // namespace

std::unique_ptr<ImageStore> make_host_images(HostRootOptions options) {
  return std::make_unique<HostImages>(std::move(options));
}

}  // namespace paddock::image
