#include "agent/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string>

#include "sys/fd.h"

namespace paddock::agent {
namespace {

// Field n of proc(5), counted from 1, is element n - 3: pid and name come before.
constexpr size_t kState = 0;
constexpr size_t kParent = 4 - 3;
constexpr size_t kUserTicks = 14 - 3;
constexpr size_t kRss = 24 - 3;
constexpr size_t kFields = kRss + 1;

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

pid_t pid_number(std::string_view text) {
  const uint64_t value = number(text);
  return value <= std::numeric_limits<pid_t>::max() ? static_cast<pid_t>(value) : 0;
}

ProcessInfo read_process(const char* name) {
  std::array<char, 300> path{};
  std::snprintf(path.data(), path.size(), "/proc/%s/stat", name);
  const sys::Fd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer;
  const ssize_t n = file.is_open() ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return n > 0 ? parse_process({buffer.data(), static_cast<size_t>(n)}) : ProcessInfo{};
}

// Descriptors that one search looks at: what a connection costs is bounded, whatever is open
// inside.
constexpr int kMaxLooked = 20'000;

bool holds(pid_t pid, std::string_view link, int& left) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd";
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return false;
  std::vector<uint64_t> descriptors;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') descriptors.push_back(number(entry->d_name));
  }
  // The highest one is the newest, mostly, and what asks is new.
  bool found = false;
  while (!found && !descriptors.empty() && left-- > 0) {
    std::array<char, 64> target;
    const std::string name = std::to_string(descriptors.back());
    descriptors.pop_back();
    const ssize_t n = ::readlinkat(::dirfd(directory), name.c_str(), target.data(), target.size());
    found = n > 0 && std::string_view(target.data(), static_cast<size_t>(n)) == link;
  }
  ::closedir(directory);
  return found;
}

}  // namespace

ProcessInfo parse_process(std::string_view stat) {
  const size_t after_name = stat.rfind(") ");
  if (after_name == std::string_view::npos) return {};
  std::array<std::string_view, kFields> fields;
  std::string_view rest = stat.substr(after_name + 2);
  for (std::string_view& field : fields) {
    field = rest.substr(0, rest.find(' '));
    if (field.empty()) return {};
    rest.remove_prefix(std::min(rest.size(), field.size() + 1));
  }
  ProcessInfo info;
  info.pid = pid_number(stat.substr(0, stat.find(' ')));
  info.parent = pid_number(fields[kParent]);
  info.state = fields[kState][0];
  for (size_t i = 0; i < 2; ++i) {
    info.own_ticks[i] = number(fields[kUserTicks + i]);
    info.waited_ticks[i] = number(fields[kUserTicks + 2 + i]);
  }
  info.rss_pages = number(fields[kRss]);
  return info;
}

std::vector<ProcessInfo> list_processes() {
  std::vector<ProcessInfo> processes;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return processes;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (ProcessInfo info = read_process(entry->d_name); info.pid > 0) processes.push_back(info);
  }
  ::closedir(directory);
  return processes;
}

pid_t find_socket_holder(uint64_t inode, pid_t guess) {
  const std::string link = "socket:[" + std::to_string(inode) + "]";
  int left = kMaxLooked;
  if (guess > 0 && holds(guess, link, left)) return guess;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return 0;
  pid_t found = 0;
  for (const dirent* entry = ::readdir(directory); entry != nullptr && found == 0 && left > 0;
       entry = ::readdir(directory)) {
    const pid_t pid = pid_number(entry->d_name);
    if (pid > 1 && pid != guess && holds(pid, link, left)) found = pid;
  }
  ::closedir(directory);
  return found;
}

std::string name_of_process(pid_t pid) {
  const sys::Fd file(
      ::open(("/proc/" + std::to_string(pid) + "/comm").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> name;
  const ssize_t n = file.is_open() ? ::read(file.get(), name.data(), name.size()) : 0;
  if (n <= 1) return {};
  return {name.data(), static_cast<size_t>(n) - 1};  // without the newline
}

std::vector<pid_t> descendants_of(pid_t root, std::span<const ProcessInfo> processes) {
  std::vector<std::pair<pid_t, pid_t>> by_parent;  // parent, child
  for (const ProcessInfo& info : processes) {
    if (info.state != 'Z') by_parent.emplace_back(info.parent, info.pid);
  }
  std::ranges::sort(by_parent);
  std::vector<pid_t> found{root};
  for (size_t i = 0; i < found.size() && found.size() <= by_parent.size() + 1; ++i) {
    auto child = std::ranges::lower_bound(by_parent, std::pair<pid_t, pid_t>(found[i], 0));
    for (; child != by_parent.end() && child->first == found[i]; ++child) {
      found.push_back(child->second);
    }
  }
  found.erase(found.begin());
  return found;
}

}  // namespace paddock::agent
