#include "isolation/seccomp/filter.h"

#include <iterator>
#include <set>
#include <string>

#include "isolation/seccomp/table.h"

namespace paddock::isolation::seccomp {
namespace {

// Written by compile_filter.cc.
constexpr sock_filter kFilter[] = {
#include "isolation/seccomp/filter.inc"
};

}  // namespace

std::span<const sock_filter> filter() {
  return kFilter;
}

void fill(wire::Setup& setup) {
  // SAFETY: sock_filter is a packed array of plain integers, which is what the agent expects.
  setup.set_seccomp_filter(std::string(reinterpret_cast<const char*>(kFilter), sizeof kFilter));
  std::set<int> seen;
  for (const Row& row : table()) {
    if (row.action != Action::refuse_and_report || !seen.insert(row.number).second) continue;
    wire::ReportedSyscall* reported = setup.add_reported_syscalls();
    reported->set_number(static_cast<uint32_t>(row.number));
    reported->set_name(row.name);
    reported->set_error(row.error);
  }
}

}  // namespace paddock::isolation::seccomp
