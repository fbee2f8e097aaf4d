#include "engine/live/directory_templates.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/in_root.h"

namespace paddock::engine {
namespace {

using model::HostPath;

Error refuse(Code code, const std::string& path, const std::string& why, std::string remedy) {
  return Error(code, fmt::format("template directory {}: {}", printable(path), why))
      .set_remedy(std::move(remedy));
}

// Whoever can write to it, or rename what lies above it, decides what every sandbox of it runs.
Status check_writers(const std::string& path) {
  for (std::string at = path; !at.empty(); at.resize(at.find_last_of('/'))) {
    const struct stat st = PD_TRY(sys::stat_path(at));
    const bool is_own = st.st_uid == 0 || st.st_uid == ::geteuid();
    const bool keeps_names = at != path && (st.st_mode & S_ISVTX) != 0;
    if (is_own && ((st.st_mode & 0022) == 0 || keeps_names)) continue;
    return refuse(
        Code::permission_denied, path,
        fmt::format("{} can be changed by others than root and the server's user", printable(at)),
        fmt::format("chown it to one of them and chmod go-w {}", printable(at)));
  }
  return {};
}

Status check_shell(const std::string& path) {
  const sys::DirFd root = PD_TRY(sys::open_dir(path));
  const auto shell = sys::open_in_root(root, "bin/sh", O_PATH);
  const std::string remedy = "unpack a whole root file system into it, with a shell";
  if (!shell.ok()) return refuse(Code::invalid_argument, path, "it has no /bin/sh", remedy);
  struct stat st {};
  if (::fstat(shell->get(), &st) != 0 || !S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0) {
    return refuse(Code::invalid_argument, path, "its /bin/sh is no program", remedy);
  }
  return {};
}

DirectoryTemplate from(const store::Row& row) {
  return {row.text(0), HostPath(row.text(1)), row.integer(2)};
}

}  // namespace

Result<HostPath> check_template_directory(const std::string& path, const HostPath& home) {
  if (!path.starts_with('/')) {
    return refuse(Code::invalid_argument, path, "no absolute path", "name it from / on");
  }
  const std::string real =
      PD_TRY_CTX("template directory " + printable(path), sys::real_path(path));
  const HostPath directory(real);
  const std::string state = PD_TRY(sys::real_path(home.str()));
  if (directory.contains(HostPath(state)) || HostPath(state).contains(directory)) {
    return refuse(Code::permission_denied, real, "it holds Paddock's own state, or lies in it",
                  "name a directory apart from PADDOCK_HOME");
  }
  const struct stat st = PD_TRY(sys::stat_path(real));
  if (!S_ISDIR(st.st_mode)) {
    return refuse(Code::invalid_argument, real, "no directory", "name an unpacked root directory");
  }
  PD_TRY(check_writers(real));
  PD_TRY(check_shell(real));
  return directory;
}

Status DirectoryTemplates::add(const DirectoryTemplate& added) {
  if (PD_TRY(find(added.name))) {
    return Error(Code::already_exists, "there is a template '" + added.name + "'")
        .set_remedy("`paddock template rm " + added.name + "` first, or take another name");
  }
  return database_.execute(
      "INSERT INTO directory_template (name, directory, created_ms) VALUES (?, ?, ?)",
      {added.name, added.directory.str(), added.created_ms});
}

Result<std::vector<DirectoryTemplate>> DirectoryTemplates::list() {
  std::vector<DirectoryTemplate> found;
  for (const store::Row& row : PD_TRY(database_.query(
           "SELECT name, directory, created_ms FROM directory_template ORDER BY name"))) {
    found.push_back(from(row));
  }
  return found;
}

Result<std::optional<DirectoryTemplate>> DirectoryTemplates::find(const std::string& name) {
  const auto rows = PD_TRY(database_.query(
      "SELECT name, directory, created_ms FROM directory_template WHERE name = ?", {name}));
  if (rows.empty()) return std::optional<DirectoryTemplate>();
  return std::optional(from(rows.front()));
}

Status DirectoryTemplates::remove(const std::string& name) {
  return database_.execute("DELETE FROM directory_template WHERE name = ?", {name});
}

}  // namespace paddock::engine
