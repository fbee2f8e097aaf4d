#include "view/workspace_check.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/mount_table.h"

namespace paddock::view {
namespace {

using model::HostPath;

constexpr int kMaxLinks = 40;  // as the kernel's path walk (path_resolution(7))
constexpr std::string_view kGoDeeper =
    "run in the directory of one project, or name it: --workspace DIR";

// `tree`: nothing at or below it is a workspace. `itself`: it is not, what lies below may be.
// `children`: neither it nor its direct entries are, deeper ones may be.
enum class Reach { itself, children, tree };

struct SystemDirectory {
  std::string_view path;
  Reach reach;
};

constexpr std::array kSystemDirectories{
    SystemDirectory{"/bin", Reach::tree},           SystemDirectory{"/boot", Reach::tree},
    SystemDirectory{"/dev", Reach::tree},           SystemDirectory{"/etc", Reach::tree},
    SystemDirectory{"/home", Reach::children},      SystemDirectory{"/lib", Reach::tree},
    SystemDirectory{"/lib32", Reach::tree},         SystemDirectory{"/lib64", Reach::tree},
    SystemDirectory{"/libx32", Reach::tree},        SystemDirectory{"/lost+found", Reach::tree},
    SystemDirectory{"/media", Reach::itself},       SystemDirectory{"/mnt", Reach::itself},
    SystemDirectory{"/opt", Reach::itself},         SystemDirectory{"/proc", Reach::tree},
    SystemDirectory{"/root", Reach::itself},        SystemDirectory{"/run", Reach::children},
    SystemDirectory{"/run/user", Reach::children},  SystemDirectory{"/sbin", Reach::tree},
    SystemDirectory{"/srv", Reach::itself},         SystemDirectory{"/sys", Reach::tree},
    SystemDirectory{"/tmp", Reach::itself},         SystemDirectory{"/usr", Reach::itself},
    SystemDirectory{"/usr/bin", Reach::tree},       SystemDirectory{"/usr/include", Reach::tree},
    SystemDirectory{"/usr/lib", Reach::tree},       SystemDirectory{"/usr/lib32", Reach::tree},
    SystemDirectory{"/usr/lib64", Reach::tree},     SystemDirectory{"/usr/libexec", Reach::tree},
    SystemDirectory{"/usr/local", Reach::children}, SystemDirectory{"/usr/sbin", Reach::tree},
    SystemDirectory{"/usr/share", Reach::tree},     SystemDirectory{"/usr/src", Reach::itself},
    SystemDirectory{"/var", Reach::children},       SystemDirectory{"/var/home", Reach::children},
};

bool reaches(const SystemDirectory& row, const HostPath& path) {
  HostPath directory{std::string(row.path)};
  if (!directory.contains(path)) return false;
  if (path == directory || row.reach == Reach::tree) return true;
  bool direct = path.str().find('/', row.path.size() + 1) == std::string::npos;
  return row.reach == Reach::children && direct;
}

Error refuse(const HostPath& path, std::string_view why, std::string_view remedy) {
  return Error(Code::failed_precondition,
               fmt::format("{} cannot be shown to a sandbox: {}", printable(path.str()), why))
      .set_remedy(std::string(remedy));
}

Status check_homes(const HostPath& path, const std::vector<std::string>& homes) {
  for (const std::string& home : homes) {
    if (home == path.str()) {
      return refuse(path, "it is a home directory, with keys and credentials in it", kGoDeeper);
    }
    if (path.contains(HostPath(home))) {
      return refuse(path, "it holds the home directory " + printable(home), kGoDeeper);
    }
  }
  return {};
}

Status check_system_directories(const HostPath& path) {
  if (path.str() == "/") return refuse(path, "it is the whole host", kGoDeeper);
  for (const SystemDirectory& row : kSystemDirectories) {
    if (reaches(row, path)) return refuse(path, "it is a system directory", kGoDeeper);
  }
  return {};
}

Status check_paddock_home(const HostPath& path, const HostPath& home) {
  if (path.contains(home)) {
    return refuse(path, "it holds Paddock's own directory " + printable(home.str()),
                  "set PADDOCK_HOME to a directory outside of it");
  }
  if (home.contains(path)) {
    return refuse(path, "it lies in Paddock's own directory " + printable(home.str()),
                  "work in a directory outside of PADDOCK_HOME");
  }
  return {};
}

Status check_mounts(const HostPath& path, const std::vector<std::string>& mount_points) {
  for (const std::string& point : mount_points) {
    if (point == path.str() || !path.contains(HostPath(point))) continue;
    return refuse(
        path,
        fmt::format("{} is mounted below it, and an overlay does not show mounts",
                    printable(point)),
        fmt::format("unmount {}, or run in a directory beside it and give it by name with "
                    "--mount",
                    printable(point)));
  }
  return {};
}

// Opening for reading and searching is what an overlay does with a lower.
Status check_readable(const HostPath& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) == 0) return {};
  return Error::from_errno(errno, fmt::format("reading the workspace {}", printable(path.str())))
      .set_remedy("run as the user that owns it");
}

std::string resolved_or_same(const std::string& path) {
  auto real = sys::real_path(path);
  return real.ok() ? std::move(real).value() : path;
}

}  // namespace

std::vector<std::string> homes_in_passwd(std::string_view passwd) {
  constexpr size_t kHomeField = 5;
  constexpr std::array<std::string_view, 4> kNowhere{"/nonexistent", "/dev", "/proc", "/"};
  std::vector<std::string> homes;
  for (const std::string& line : split(passwd, '\n')) {
    std::vector<std::string> fields = split(line, ':');
    if (fields.size() <= kHomeField || fields[kHomeField].empty() || fields[kHomeField][0] != '/')
      continue;
    const std::string& home = fields[kHomeField];
    bool nowhere = std::any_of(kNowhere.begin(), kNowhere.end(), [&](std::string_view none) {
      return none == "/" ? home == "/" : HostPath(std::string(none)).contains(HostPath(home));
    });
    if (!nowhere) homes.push_back(home);
  }
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  return homes;
}

Result<Surroundings> read_surroundings(const HostPath& paddock_home,
                                       const std::vector<HostPath>& further_homes) {
  Surroundings around;
  around.paddock_home = HostPath(resolved_or_same(paddock_home.str()));
  if (auto passwd = sys::read_file("/etc/passwd"); passwd.ok()) {
    around.homes = homes_in_passwd(*passwd);
  }
  for (const HostPath& home : further_homes) {
    if (!home.empty() && home.str() != "/") around.homes.push_back(home.str());
  }
  for (std::string& home : around.homes) home = resolved_or_same(home);
  around.mount_points = PD_TRY_CTX("looking for mounts", sys::mount_points());
  return around;
}

Status check_exposure(const HostPath& path, const Surroundings& around) {
  PD_TRY(check_system_directories(path));
  PD_TRY(check_homes(path, around.homes));
  PD_TRY(check_paddock_home(path, around.paddock_home));
  return check_mounts(path, around.mount_points);
}

std::vector<model::Symlink> links_on_path(const std::string& path) {
  std::vector<model::Symlink> links;
  std::vector<std::string> todo = split(path, '/');
  std::reverse(todo.begin(), todo.end());
  std::string at;  // resolved so far, without a trailing slash
  while (!todo.empty()) {
    std::string name = std::move(todo.back());
    todo.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at.resize(at.empty() ? 0 : at.find_last_of('/'));
      continue;
    }
    std::string next = at + "/" + name;
    std::string target(PATH_MAX, '\0');
    ssize_t length = ::readlink(next.c_str(), target.data(), target.size());
    if (length < 0) {
      at = std::move(next);
      continue;
    }
    if (links.size() >= kMaxLinks) return links;
    target.resize(static_cast<size_t>(length));
    std::vector<std::string> parts = split(target, '/');
    todo.insert(todo.end(), parts.rbegin(), parts.rend());
    if (target[0] == '/') at.clear();
    links.push_back({model::GuestPath(std::move(next)), std::move(target)});
  }
  return links;
}

Result<Workspace> check_workspace(const HostPath& asked, const Surroundings& around) {
  auto real = sys::real_path(asked.str());
  if (!real.ok()) {
    return std::move(real)
        .error()
        .add_context("opening the workspace")
        .set_remedy("name an existing directory with --workspace, or change to one");
  }
  Workspace workspace;
  workspace.path = HostPath(std::move(real).value());
  workspace.attributes = PD_TRY(sys::lstat_path(workspace.path.str()));
  if (!S_ISDIR(workspace.attributes.st_mode)) {
    return Error(Code::invalid_argument, printable(workspace.path.str()) + " is no directory")
        .set_remedy("name the directory that holds it");
  }
  PD_TRY(check_exposure(workspace.path, around));
  PD_TRY(check_readable(workspace.path));
  workspace.links = links_on_path(asked.str());
  return workspace;
}

}  // namespace paddock::view
