#include "engine/live/guest_user.h"

#include <utility>

#include "base/strings.h"
#include "engine/live/guest_files.h"
#include "engine/live/live_sandbox.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxName = 100;

bool is_plain(const std::string& text) {
  return text.find('\0') == std::string::npos && text.size() < kMaxName * 10;
}

Result<GuestUser> take(wire::FileUser& said) {
  GuestUser user{.name = said.name(),
                 .uid = said.uid(),
                 .gid = said.gid(),
                 .groups = {said.groups().begin(), said.groups().end()},
                 .home = said.home(),
                 .shell = said.shell()};
  const bool makes_sense = is_plain(user.name) && is_plain(user.home) && is_plain(user.shell) &&
                           user.home.starts_with('/');
  if (makes_sense) return user;
  return Error(Code::data_corrupt, "the sandbox's /etc/passwd makes no sense");
}

}  // namespace

const std::string& Inside::home() const {
  return user ? user->home : sandbox.setup().home;
}

Result<std::optional<GuestUser>> find_guest_user(net::Task& task, LiveSandbox& sandbox,
                                                 const std::string& name) {
  if (name.empty() || name == sandbox.setup().user.name) return std::optional<GuestUser>();
  const std::string shown = printable(name.substr(0, kMaxName));
  if (name.size() > kMaxName || name[0] == '#' || !is_plain(name)) {
    return Error(Code::not_found, "no user '" + shown + "'");
  }
  if (sandbox.setup().users == isolation::Users::one) {
    if (name != "root") return Error(Code::not_found, "no user '" + shown + "'");
    if (sandbox.workspace()) {
      return Error(Code::unsupported, "user 'root': a sandbox with a workspace has none")
          .set_remedy("make what needs root a template, and the sandbox from that");
    }
    return Error(Code::unsupported,
                 "user 'root': this sandbox has one user, '" + sandbox.setup().user.name + "'")
        .set_remedy("let root start the daemon: a sandbox then has ids of its own");
  }
  const std::optional<GuestUser> nobody_else;
  auto command = PD_TRY(FileCommand::start(task, {sandbox, nobody_else}, {"user", name},
                                           ProcessRequest::Input::none));
  wire::FilesReply reply = PD_TRY(command->reply(task));
  return std::optional(PD_TRY(take(*reply.mutable_user())));
}

}  // namespace paddock::engine
