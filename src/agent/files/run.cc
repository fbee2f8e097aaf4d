#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "agent/files/files.h"
#include "agent/files/frames.h"
#include "agent/files/watch.h"
#include "agent/users.h"
#include "base/strings.h"
#include "sys/credentials.h"
#include "sys/files.h"

namespace paddock::agent::files {
namespace {

constexpr int kFailed = 1;

Status describe_into(const std::string& path, wire::FilesReply& reply) {
  *reply.add_entries() = PD_TRY(describe(path));
  return {};
}

Status send(const sys::Fd& output, const wire::FilesReply& reply) {
  return write_frame(output, reply.SerializeAsString());
}

// The reply comes first: what fails after it ends the program with an error.
Status read(const std::string& path, const sys::Fd& output) {
  // Not to wait for the writer of a pipe; files do not know it.
  sys::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) return Error::from_errno(errno, "opening the file");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return Error::from_errno(errno, "opening the file");
  if (S_ISDIR(info.st_mode)) return Error::from_errno(EISDIR, "opening the file");
  if (!S_ISREG(info.st_mode)) return Error::from_errno(EINVAL, "not a regular file");
  wire::FilesReply reply;
  PD_TRY(describe_into(path, reply));
  reply.mutable_entries(0)->set_size(static_cast<uint64_t>(info.st_size));
  PD_TRY(send(output, reply));
  static std::array<char, 64u << 10> buffer;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    // Nobody hears of it: what was announced does not come.
    if (count < 0) ::_exit(kFailed);
    if (count == 0) ::_exit(0);
    if (!sys::write_all(output, {buffer.data(), static_cast<size_t>(count)}).ok()) ::_exit(kFailed);
  }
}

Status wrong_use() {
  return Error(Code::invalid_argument, "usage: paddock-agent files OPERATION ARGUMENT…");
}

// What is made belongs to "uid:gid", as if they had made it.
Status make_files_as(const std::string& ids) {
  const std::vector<std::string> parts = split(ids, ':');
  const auto uid = parts.size() == 2 ? parse_u64(parts[0]) : std::nullopt;
  const auto gid = parts.size() == 2 ? parse_u64(parts[1]) : std::nullopt;
  if (!uid || !gid || *uid >= UINT32_MAX || *gid >= UINT32_MAX) return wrong_use();
  const int error = sys::make_files_as(static_cast<uid_t>(*uid), static_cast<gid_t>(*gid));
  return error == 0 ? Status() : Error::from_errno(error, "working for another user");
}

Status describe_user(const std::string& name, wire::FilesReply& reply) {
  auto user = find_user(name);
  if (!user.ok()) return Error::from_errno(ENOENT, user.error().describe());
  wire::FileUser& out = *reply.mutable_user();
  out.set_name(user->name);
  out.set_uid(user->uid);
  out.set_gid(user->gid);
  for (gid_t group : user->groups) out.add_groups(group);
  // Where it would work: most of the system's users have no home that exists.
  struct stat home {};
  const bool exists = ::stat(user->home.c_str(), &home) == 0 && S_ISDIR(home.st_mode);
  out.set_home(exists ? user->home : "/");
  out.set_shell(user->shell);
  return {};
}

Status perform(const std::vector<std::string>& words, const sys::Fd& input, const sys::Fd& output,
               wire::FilesReply& reply) {
  if (words.size() > 2 && words[0] == "--as") {
    PD_TRY(make_files_as(words[1]));
    return perform({words.begin() + 2, words.end()}, input, output, reply);
  }
  if (words.size() < 2) return wrong_use();
  const std::string& operation = words[0];
  const std::string& path = words.back();
  if (operation == "write") {
    PD_TRY(write({words[1], {words.begin() + 2, words.end()}}, input));
    return describe_into(words[1], reply);
  }
  if (operation == "list" && words.size() == 3) {
    const auto depth = parse_u64(words[1]);
    return depth ? list(path, *depth, reply) : wrong_use();
  }
  if (operation == "move" && words.size() == 3) {
    PD_TRY(move(words[1], words[2]));
    return describe_into(path, reply);
  }
  if (operation == "watch" && words.size() == 3) return watch(words[1], path, input, output);
  if (words.size() != 2) return wrong_use();
  if (operation == "user") return describe_user(path, reply);
  if (operation == "stat") return describe_into(path, reply);
  if (operation == "mkdir") {
    PD_TRY(make_directory(path));
    return describe_into(path, reply);
  }
  if (operation == "remove") return sys::remove_tree(path);
  if (operation == "read") return read(path, output);
  return wrong_use();
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  const sys::Fd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const sys::Fd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  wire::FilesReply reply;
  const Status done = perform(arguments, input, output, reply);
  if (!done.ok()) {
    const int error = done.error().errno_value();
    reply.Clear();
    reply.set_error(error != 0 ? error : EINVAL);
    reply.set_message(done.error().describe());
  }
  return send(output, reply).ok() ? 0 : kFailed;
}

}  // namespace paddock::agent::files
