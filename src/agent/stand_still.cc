#include "agent/stand_still.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/process_tree.h"

namespace paddock::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPatience{2000};

bool is_stopped(char state) {
  return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

// 'S', 'D', 'T' … of each thread.
std::vector<char> states_of(pid_t pid) {
  std::vector<char> states;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  DIR* directory = ::opendir(tasks.c_str());
  if (directory == nullptr) return states;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream file(tasks + "/" + entry->d_name + "/stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    const size_t after_name = line.rfind(") ");
    if (after_name != std::string::npos && after_name + 2 < line.size()) {
      states.push_back(line[after_name + 2]);
    }
  }
  ::closedir(directory);
  return states;
}

bool has_stop_pending(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    const uint64_t set = std::strtoull(line.c_str() + sizeof("SigPnd:"), nullptr, 16);
    if ((set >> (SIGSTOP - 1)) & 1) return true;
  }
  return false;
}

// A thread that waits in the kernel (for a child of vfork) stops before it is back outside.
bool stands(pid_t pid) {
  const std::vector<char> states = states_of(pid);
  const bool any_stopped = std::ranges::any_of(states, is_stopped);
  return std::ranges::all_of(states, [&](char state) {
    return is_stopped(state) || (state == 'D' && (any_stopped || has_stop_pending(pid)));
  });
}

bool all_stand() {
  const auto processes = list_processes();
  return std::ranges::all_of(processes, [](const ProcessInfo& process) {
    return process.pid == ::getpid() || stands(process.pid);
  });
}

}  // namespace

Status StandStill::stop() {
  // Elsewhere "all" would be everybody on the machine.
  if (::getpid() != 1) return Error(Code::failed_precondition, "this is not PID 1 of a sandbox");
  if (is_on_) return {};
  for (const ProcessInfo& process : list_processes()) {
    if (process.state == 'T') stopped_before_.insert(process.pid);
  }
  const auto deadline = steady_clock::now() + kPatience;
  do {
    // Again and again: one that was not stopped yet may have sent another on.
    (void)::kill(-1, SIGSTOP);
    if (all_stand()) {
      is_on_ = true;
      return {};
    }
    std::this_thread::sleep_for(milliseconds{1});
  } while (steady_clock::now() < deadline);
  go_on();
  return Error(Code::timed_out, "some processes do not stop");
}

void StandStill::go_on() {
  is_on_ = false;
  for (const ProcessInfo& process : list_processes()) {
    if (process.pid != ::getpid() && !stopped_before_.contains(process.pid)) {
      (void)::kill(process.pid, SIGCONT);
    }
  }
  stopped_before_.clear();
}

}  // namespace paddock::agent
