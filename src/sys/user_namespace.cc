#include "sys/user_namespace.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "sys/child.h"
#include "sys/files.h"

namespace paddock::sys {
namespace {

std::string proc_path(pid_t pid, const std::string& name) {
  return pid == 0 ? "/proc/self/" + name : fmt::format("/proc/{}/{}", pid, name);
}

// One write(2): the kernel takes a map once and whole.
Status write_once(const std::string& path, const std::string& text) {
  FileFd fd = PD_TRY(open_file(path, O_WRONLY));
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Error::from_errno(errno, "writing " + path);
  }
  return {};
}

// `parent` is its pid: should it die before the death signal is armed, nobody would kill us.
int wait_to_be_killed(void* parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != *static_cast<pid_t*>(parent)) return 1;
  while (true) ::pause();
}

}  // namespace

Status write_id_maps(pid_t pid, const IdMaps& maps) {
  if (maps.setgroups == Setgroups::deny) {
    PD_TRY(write_once(proc_path(pid, "setgroups"), "deny"));
  }
  PD_TRY(write_once(proc_path(pid, "uid_map"), maps.uid));
  return write_once(proc_path(pid, "gid_map"), maps.gid);
}

Result<Fd> open_namespace(pid_t pid, const std::string& name) {
  return Result<Fd>(PD_TRY(open_file(proc_path(pid, "ns/" + name), O_RDONLY)));
}

Result<uint64_t> namespace_inode(pid_t pid, const std::string& name) {
  struct stat st = PD_TRY(stat_path(proc_path(pid, "ns/" + name)));
  return static_cast<uint64_t>(st.st_ino);
}

Result<Fd> make_user_namespace(const IdMaps& maps) {
  pid_t self = ::getpid();
  Process holder = PD_TRY(clone_child({CLONE_NEWUSER, -1}, wait_to_be_killed, &self));
  PD_TRY(write_id_maps(holder.pid(), maps));
  return open_namespace(holder.pid(), "user");
}

bool in_initial_user_namespace() {
  auto map = read_file("/proc/self/uid_map", 4096);
  if (!map.ok()) return false;
  unsigned inside = 1;
  unsigned outside = 1;
  unsigned count = 0;
  return std::sscanf(map->c_str(), "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 &&
         outside == 0 && count == 4294967295u;
}

}  // namespace paddock::sys
