#include "agent/usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "agent/process_tree.h"

namespace paddock::agent {

wire::Usage measure_usage(const std::function<bool(pid_t)>& is_supervisor) {
  const auto all = list_processes();
  std::vector<pid_t> ours = descendants_of(::getpid(), all);
  const auto supervisors = std::ranges::count_if(ours, is_supervisor);
  const size_t count = ours.size() - static_cast<size_t>(supervisors);
  ours.push_back(::getpid());
  std::ranges::sort(ours);
  uint64_t ticks[2] = {};
  uint64_t rss_pages = 0;
  for (const ProcessInfo& process : all) {
    if (!std::ranges::binary_search(ours, process.pid)) continue;
    for (int i : {0, 1}) ticks[i] += process.own_ticks[i] + process.waited_ticks[i];
    if (process.pid != ::getpid()) rss_pages = std::max(rss_pages, process.rss_pages);
  }
  rusage ended{};
  ::getrusage(RUSAGE_CHILDREN, &ended);
  const auto tick_us = 1'000'000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  wire::Usage usage;
  usage.set_user_us(ticks[0] * tick_us);
  usage.set_system_us(ticks[1] * tick_us);
  usage.set_max_rss_bytes(
      std::max(rss_pages * page, static_cast<uint64_t>(ended.ru_maxrss) * 1024));
  usage.set_processes(static_cast<uint32_t>(count));
  return usage;
}

}  // namespace paddock::agent
