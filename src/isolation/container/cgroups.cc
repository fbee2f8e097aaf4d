#include "isolation/container/cgroups.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::isolation::container {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kMount = "/sys/fs/cgroup";
constexpr std::array<const char*, 3> kControllers{"memory", "pids", "cpu"};
constexpr uint64_t kCpuPeriodUs = 100000;
constexpr milliseconds kFreezeDeadline{2000};

std::string directory_name(const model::SandboxId& id) {
  return "paddock-" + id.str();
}

bool writable(const std::string& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

std::vector<std::string> words_of(const std::string& file) {
  auto text = sys::read_file(file, 4096);
  if (!text.ok()) return {};
  std::string line(trim(*text));
  return split(line, ' ');
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Children of `dir` get the controllers that are available there.
void enable_controllers(const std::string& dir) {
  auto available = words_of(dir + "/cgroup.controllers");
  auto enabled = words_of(dir + "/cgroup.subtree_control");
  for (const char* controller : kControllers) {
    if (!has_word(available, controller) || has_word(enabled, controller)) continue;
    auto file = sys::open_file(dir + "/cgroup.subtree_control", O_WRONLY);
    if (file.ok()) (void)sys::write_all(*file, std::string("+") + controller).ok();
  }
}

void find_v2(const CgroupSearch& search, CgroupHost& host) {
  host.unified =
      search.privileged ? search.mount : find_delegated_cgroup(search.mount, search.own_path);
  if (host.unified.empty()) {
    host.reason = "no delegated cgroup with the memory and pids controllers";
    host.remedy =
        "run under `systemd-run --user --scope -p Delegate=yes`, or have the controllers "
        "delegated: "
        "systemd.resource-control(5), Delegate=";
    return;
  }
  if (search.privileged) enable_controllers(host.unified);
  host.v2_controllers = words_of(host.unified + "/cgroup.subtree_control");
}

void find_v1(const CgroupSearch& search, CgroupHost& host) {
  for (const char* controller : kControllers) {
    std::string dir = search.mount + "/" + controller;
    if (writable(dir) && sys::exists(dir + "/cgroup.procs")) host.v1[controller] = dir;
  }
  std::string unified = search.mount + "/unified";
  if (sys::is_cgroup2(unified) && writable(unified)) host.unified = unified;
  if (host.v1.size() < kControllers.size()) {
    host.reason = "this host has version 1 cgroups, which only root may use";
    host.remedy = "start as root, or boot with systemd.unified_cgroup_hierarchy=1 and delegate";
  }
}

std::string unified_path_of(const std::string& process) {
  auto text = sys::read_file("/proc/" + process + "/cgroup", 65536);
  if (!text.ok()) return {};
  for (const std::string& line : split(*text, '\n')) {
    if (line.compare(0, 3, "0::") == 0) return line.substr(3);
  }
  return {};
}

Status limit_memory(const sys::Cgroup& cgroup, uint64_t bytes) {
  std::string value = std::to_string(bytes);
  if (cgroup.has("memory.max")) {
    PD_TRY(cgroup.write("memory.max", value));
    return cgroup.has("memory.swap.max") ? cgroup.write("memory.swap.max", "0") : Status();
  }
  PD_TRY(cgroup.write("memory.limit_in_bytes", value));
  const char* with_swap = "memory.memsw.limit_in_bytes";
  return cgroup.has(with_swap) ? cgroup.write(with_swap, value) : Status();
}

Status limit_cpus(const sys::Cgroup& cgroup, double cpus) {
  auto quota = static_cast<uint64_t>(std::llround(cpus * kCpuPeriodUs));
  if (cgroup.has("cpu.max"))
    return cgroup.write("cpu.max", fmt::format("{} {}", quota, kCpuPeriodUs));
  PD_TRY(cgroup.write("cpu.cfs_period_us", std::to_string(kCpuPeriodUs)));
  return cgroup.write("cpu.cfs_quota_us", std::to_string(quota));
}

Status apply_limit(const sys::Cgroup& cgroup, const std::string& controller,
                   const model::Limits& limits) {
  if (controller == "memory") return limit_memory(cgroup, limits.memory_bytes);
  if (controller == "pids") return cgroup.write("pids.max", std::to_string(limits.pids));
  return limits.cpus > 0 ? limit_cpus(cgroup, limits.cpus) : Status();
}

}  // namespace

model::Denial limit_hit(const std::string& what, const std::string& option, uint64_t count) {
  model::Denial denial;
  denial.kind = model::DenialKind::limit;
  denial.what = what;
  denial.rule = "limits." + what;
  denial.remedy = fmt::format("raise it: {} or limits.{} in policy", option, what);
  denial.count = count;
  return denial;
}

CgroupHost::Version CgroupHost::version_of(const std::string& controller) const {
  if (v1.count(controller) != 0) return Version::v1;
  return has_word(v2_controllers, controller) ? Version::v2 : Version::none;
}

std::string find_delegated_cgroup(const std::string& mount, std::string own) {
  while (own.size() > 1) {
    own.resize(own.find_last_of('/'));
    std::string dir = mount + own;
    if (!writable(dir) || !writable(dir + "/cgroup.procs")) return {};
    auto enabled = words_of(dir + "/cgroup.subtree_control");
    if (has_word(enabled, "memory") && has_word(enabled, "pids")) return dir;
  }
  return {};
}

CgroupHost find_cgroups(const CgroupSearch& search) {
  CgroupHost host;
  if (sys::is_cgroup2(search.mount)) {
    find_v2(search, host);
  } else {
    find_v1(search, host);
  }
  return host;
}

CgroupHost find_cgroups() {
  CgroupSearch search;
  search.privileged = ::geteuid() == 0;
  search.own_path = unified_path_of("self");
  return find_cgroups(search);
}

SandboxCgroups::~SandboxCgroups() {
  (void)remove().ok();
}

Result<SandboxCgroups> SandboxCgroups::make(const CgroupHost& host, const model::SandboxId& id,
                                            const model::Limits& limits) {
  SandboxCgroups made;
  std::string name = "/" + directory_name(id);
  if (!host.unified.empty()) {
    made.unified_ = PD_TRY(sys::Cgroup::make(host.unified + name));
    made.unified_has_controllers_ = !host.v2_controllers.empty();
  }
  for (const std::string controller : kControllers) {
    if (controller == "cpu" && limits.cpus <= 0) continue;
    auto version = host.version_of(controller);
    if (version == CgroupHost::Version::none) continue;
    if (version == CgroupHost::Version::v1) {
      made.v1_[controller] = PD_TRY(sys::Cgroup::make(host.v1.at(controller) + name));
    }
    PD_TRY(apply_limit(*made.find(controller), controller, limits));
  }
  return made;
}

SandboxCgroups SandboxCgroups::adopt(const CgroupHost& host, const model::SandboxId& id,
                                     pid_t pid) {
  SandboxCgroups adopted;
  const std::string name = "/" + directory_name(id);
  auto unified = sys::Cgroup::adopt(host.unified + name);
  // What was delegated to its starter need not be what is delegated to us.
  if (!unified)
    unified = sys::Cgroup::adopt(std::string(kMount) + unified_path_of(std::to_string(pid)));
  if (unified && unified->path().ends_with(name)) {
    adopted.unified_ = std::move(*unified);
    adopted.unified_has_controllers_ = adopted.unified_.has("memory.max");
  } else if (unified) {
    unified->release();
  }
  for (const auto& [controller, dir] : host.v1) {
    if (auto cgroup = sys::Cgroup::adopt(dir + name)) {
      adopted.v1_[controller] = std::move(*cgroup);
    }
  }
  return adopted;
}

Status SandboxCgroups::reclaim(const CgroupHost& host, const model::SandboxId& id) {
  std::vector<std::string> parents;
  if (!host.unified.empty()) parents.push_back(host.unified);
  for (const auto& [controller, dir] : host.v1) parents.push_back(dir);
  for (const std::string& parent : parents) {
    auto left = sys::Cgroup::adopt(parent + "/" + directory_name(id));
    if (left) PD_TRY(left->remove());
  }
  return {};
}

const sys::Cgroup* SandboxCgroups::find(const std::string& controller) const {
  auto it = v1_.find(controller);
  if (it != v1_.end()) return &it->second;
  return unified_has_controllers_ ? &unified_ : nullptr;
}

void SandboxCgroups::start_attaching(pid_t pid) {
  if (v1_.empty()) return;
  attach_ = std::make_unique<Attach>();
  std::vector<const sys::Cgroup*> cgroups;
  for (const auto& [controller, cgroup] : v1_) cgroups.push_back(&cgroup);
  attach_->thread = std::thread([attach = attach_.get(), cgroups = std::move(cgroups), pid] {
    for (const sys::Cgroup* cgroup : cgroups) {
      attach->result = cgroup->add(pid);
      if (!attach->result.ok()) return;
    }
  });
}

Status SandboxCgroups::attached() const {
  if (!attach_) return {};
  if (attach_->thread.joinable()) attach_->thread.join();
  return attach_->result;
}

Status SandboxCgroups::freeze() {
  PD_TRY(unified_.write("cgroup.freeze", "1"));
  return wait_frozen("frozen 1");
}

Status SandboxCgroups::thaw() {
  PD_TRY(unified_.write("cgroup.freeze", "0"));
  return wait_frozen("frozen 0");
}

Status SandboxCgroups::wait_frozen(const char* state) {
  auto deadline = steady_clock::now() + kFreezeDeadline;
  while (true) {
    std::string events = PD_TRY(unified_.read("cgroup.events"));
    if (events.find(state) != std::string::npos) return {};
    if (steady_clock::now() > deadline) {
      return Error(Code::timed_out,
                   "waiting for the sandbox's processes to be " + std::string(state));
    }
    std::this_thread::sleep_for(milliseconds{1});
  }
}

uint64_t SandboxCgroups::oom_kills() const {
  const sys::Cgroup* memory = find("memory");
  if (memory == nullptr) return 0;
  const char* file = memory->has("memory.events") ? "memory.events" : "memory.oom_control";
  return memory->counter(file, "oom_kill");
}

std::vector<model::Denial> SandboxCgroups::limits_hit() const {
  std::vector<model::Denial> hits;
  const sys::Cgroup* pids = find("pids");
  uint64_t refused_forks = pids == nullptr ? 0 : pids->counter("pids.events", "max");
  if (refused_forks > 0) hits.push_back(limit_hit("pids", "--pids", refused_forks));
  if (uint64_t kills = oom_kills(); kills > 0)
    hits.push_back(limit_hit("memory", "--memory", kills));
  return hits;
}

void SandboxCgroups::fill(model::Usage& usage) const {
  if (const sys::Cgroup* memory = find("memory")) {
    const char* file = memory->has("memory.peak") ? "memory.peak" : "memory.max_usage_in_bytes";
    usage.peak_memory_bytes = memory->number(file);
  }
  if (unified_.is_open() && unified_.has("cpu.stat")) {
    usage.user_us = unified_.counter("cpu.stat", "user_usec");
    usage.system_us = unified_.counter("cpu.stat", "system_usec");
  }
}

Status SandboxCgroups::remove() {
  (void)attached().ok();  // the thread uses the directories
  PD_TRY(unified_.remove());
  for (auto& [controller, cgroup] : v1_) PD_TRY(cgroup.remove());
  v1_.clear();
  return {};
}

void SandboxCgroups::release() {
  (void)attached().ok();
  unified_.release();
  for (auto& [controller, cgroup] : v1_) cgroup.release();
  v1_.clear();
}

}  // namespace paddock::isolation::container
