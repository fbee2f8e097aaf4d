#include "cmd/context.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "engine/reconcile.h"
#include "engine/run_plan.h"
#include "image/host_root.h"
#include "isolation/levels.h"
#include "sys/files.h"
#include "view/view_store.h"

namespace paddock::cmd {
namespace {

using model::HostPath;

std::string lookup(const std::map<std::string, std::string>& environment, const std::string& name) {
  auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

HostPath home_of(uid_t uid, const std::map<std::string, std::string>& environment) {
  std::string home = lookup(environment, "HOME");
  if (!home.empty() && home[0] == '/') return HostPath(home);
  const struct passwd* entry = ::getpwuid(uid);
  return HostPath(entry == nullptr ? "" : entry->pw_dir);
}

}  // namespace

Result<Caller> read_caller(char** environment) {
  Caller caller;
  caller.uid = ::geteuid();
  caller.gid = ::getegid();
  for (char** entry = environment; *entry != nullptr; ++entry) {
    std::string_view assignment = *entry;
    size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) continue;
    caller.environment.emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  caller.directory = HostPath(PD_TRY_CTX("finding the current directory", sys::real_path(".")));
  caller.home = home_of(caller.uid, caller.environment);
  return caller;
}

Result<HostPath> Context::home() {
  if (!home_.empty()) return home_;
  std::string path = lookup(caller_.environment, "PADDOCK_HOME");
  if (path.empty()) {
    std::string data = lookup(caller_.environment, "XDG_DATA_HOME");
    if (caller_.uid == 0) {
      path = "/var/lib/paddock";
    } else if (!data.empty() && data[0] == '/') {
      path = data + "/paddock";
    } else if (!caller_.home.empty()) {
      path = caller_.home.str() + "/.local/share/paddock";
    } else {
      return Error(Code::failed_precondition, "no place for Paddock's state: HOME is not set")
          .set_remedy("set PADDOCK_HOME to a directory");
    }
  }
  if (path[0] != '/') path = caller_.directory.str() + "/" + path;
  PD_TRY_CTX("making PADDOCK_HOME", sys::make_dirs(path, 0700));
  home_ = HostPath(PD_TRY(sys::real_path(path)));
  return home_;
}

Result<store::Database*> Context::database() {
  if (!database_) {
    HostPath path = PD_TRY(home()) / "paddock.db";
    database_ = std::make_unique<store::Database>(PD_TRY(store::Database::open(path.str())));
  }
  return database_.get();
}

Result<view::ViewStore*> Context::views() {
  if (!views_) {
    store::Database* database_of_home = PD_TRY(database());
    PD_TRY(engine::reconcile(home_, *database_of_home, isolation::make_backend));
    views_ = PD_TRY(view::open_view_store(home_, *database_of_home));
  }
  return views_.get();
}

Result<engine::Parts> Context::parts(uint32_t root_user) {
  view::ViewStore* view_store = PD_TRY(views());
  image::HostRootOptions options;
  options.home = home_;
  options.uid = caller_.uid == 0 ? root_user : caller_.uid;
  options.gid = caller_.uid == 0 ? root_user : caller_.gid;
  options.guest_home = engine::kGuestHome;
  options.hostname = engine::kGuestHostname;
  options.root_owned_writable = caller_.uid == 0;  // by sudo, where it is not the user
  images_ = image::make_host_images(options);
  return engine::Parts{home_,       PD_TRY(agent_program()), *database_,       *images_,
                       *view_store, isolation::make_backend, share_directory()};
}

Result<engine::Engine*> Context::engine() {
  if (!engine_) engine_ = std::make_unique<engine::Engine>(PD_TRY(parts(0)));
  return engine_.get();
}

Result<std::string> Context::ssh_program() const {
  return engine::ssh_program_beside(PD_TRY(agent_program()));
}

Result<HostPath> Context::agent_program() const {
  std::string self = PD_TRY(sys::real_path("/proc/self/exe"));
  std::string directory = self.substr(0, self.find_last_of('/'));
  for (const char* place : {"/paddock-agent", "/../libexec/paddock/paddock-agent"}) {
    auto path = sys::real_path(directory + place);
    if (path.ok()) return HostPath(*path);
  }
  return Error(Code::not_found, "paddock-agent is not installed beside " + printable(self))
      .set_remedy("install both programs from one build");
}

HostPath Context::share_directory() const {
  auto self = sys::real_path("/proc/self/exe");
  if (!self.ok()) return HostPath();
  auto path = sys::real_path(self->substr(0, self->find_last_of('/')) + "/../share/paddock");
  return path.ok() ? HostPath(*path) : HostPath();
}

Result<HostPath> Context::workspace(const std::string& directory) const {
  if (directory.empty()) return caller_.directory;
  return HostPath(
      PD_TRY_CTX("opening the workspace", sys::real_path(spelling_of(directory).str())));
}

HostPath Context::spelling_of(const std::string& directory) const {
  if (!directory.empty() && directory[0] == '/') return HostPath(directory);
  // Shells keep in PWD how one came here; it may be of another directory by now.
  std::string here = lookup(caller_.environment, "PWD");
  auto real = sys::real_path(here);
  if (here.empty() || here[0] != '/' || !real.ok() || *real != caller_.directory.str()) {
    here = caller_.directory.str();
  }
  return HostPath(directory.empty() ? here : here + "/" + directory);
}

}  // namespace paddock::cmd
