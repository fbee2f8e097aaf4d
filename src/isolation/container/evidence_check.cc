#include "isolation/container/evidence_check.h"

#include <fmt/core.h>
#include <linux/seccomp.h>

#include "base/strings.h"
#include "sys/capability_limits.h"
#include "sys/user_namespace.h"

namespace paddock::isolation::container {
namespace {

constexpr const char* kNamespaceNames[] = {"user", "mnt", "pid",    "net",
                                           "ipc",  "uts", "cgroup", "time"};

// The kernel pads the fields of a map when it is read.
std::vector<std::string> fields(const std::string& map) {
  std::string plain = map;
  for (char& c : plain) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  std::vector<std::string> out;
  for (std::string& word : split(plain, ' ')) {
    if (!word.empty()) out.push_back(std::move(word));
  }
  return out;
}

class Comparison {
 public:
  Comparison(const Expectation& expected, const wire::Evidence& seen)
      : expected_(expected), seen_(seen) {}

  std::vector<std::string> check_command() {
    check_seccomp();
    check_capabilities();
    check_identity();
    check_groups();
    check_namespaces();
    return std::move(mismatches_);
  }

  std::vector<std::string> check_all() {
    mismatches_ = check_command();
    if (!seen_.network_table()) {
      note("the network table is not in place: " + printable(seen_.network_error()));
    }
    if (static_cast<int>(seen_.landlock_abi()) != expected_.landlock_abi) {
      note(fmt::format("Landlock ABI {} inside, {} expected", seen_.landlock_abi(),
                       expected_.landlock_abi));
    }
    return std::move(mismatches_);
  }

 private:
  void note(std::string mismatch) { mismatches_.push_back(std::move(mismatch)); }

  void check_seccomp() {
    if (seen_.seccomp_mode() != SECCOMP_MODE_FILTER || seen_.seccomp_filters() < 1) {
      note(fmt::format("seccomp mode {} with {} filters", seen_.seccomp_mode(),
                       seen_.seccomp_filters()));
    }
    if (!seen_.no_new_privs()) note("no_new_privs is not set");
  }

  void check_capabilities() {
    const std::pair<const char*, uint64_t> sets[] = {{"effective", seen_.cap_effective()},
                                                     {"permitted", seen_.cap_permitted()},
                                                     {"inheritable", seen_.cap_inheritable()},
                                                     {"bounding", seen_.cap_bounding()},
                                                     {"ambient", seen_.cap_ambient()}};
    for (const auto& [name, set] : sets) {
      const uint64_t wanted = name == std::string_view("bounding") ? 0 : expected_.capabilities;
      if (set != wanted) note(fmt::format("{} capabilities are {:#x}", name, set));
    }
  }

  void check_identity() {
    if (fields(seen_.uid_map()) != fields(expected_.uid_map)) {
      note("uid_map is " + printable(seen_.uid_map()));
    }
    if (fields(seen_.gid_map()) != fields(expected_.gid_map)) {
      note("gid_map is " + printable(seen_.gid_map()));
    }
    if (seen_.uid() != expected_.uid || seen_.gid() != expected_.gid) {
      note(fmt::format("commands run as {}:{}, not {}:{}", seen_.uid(), seen_.gid(), expected_.uid,
                       expected_.gid));
    }
  }

  // A user's groups cannot be dropped by that user; the decision says so.
  void check_groups() {
    if (expected_.groups == Expectation::Groups::none && seen_.groups_size() != 0) {
      note(fmt::format("commands are in {} supplementary groups", seen_.groups_size()));
    }
  }

  void check_namespaces() {
    for (const char* name : kNamespaceNames) {
      auto host = expected_.host_namespaces.find(name);
      auto inside = seen_.namespaces().find(name);
      if (inside == seen_.namespaces().end() || inside->second == 0) {
        note(fmt::format("the {} namespace is not reported", name));
      } else if (host == expected_.host_namespaces.end() || host->second == inside->second) {
        note(fmt::format("the {} namespace is the host's", name));
      }
    }
  }

  const Expectation& expected_;
  const wire::Evidence& seen_;
  std::vector<std::string> mismatches_;
};

}  // namespace

std::vector<std::string> compare(const Expectation& expected, const wire::Evidence& seen) {
  return Comparison(expected, seen).check_all();
}

std::vector<std::string> compare_root(Expectation expected, const wire::Evidence& seen) {
  if (!seen.has_as_root()) return {"nothing is reported"};
  expected.uid = 0;
  expected.gid = 0;
  expected.capabilities = sys::kUserCapabilities;
  return Comparison(expected, seen.as_root()).check_command();
}

std::map<std::string, uint64_t> own_namespaces() {
  std::map<std::string, uint64_t> inodes;
  for (const char* name : kNamespaceNames) {
    auto inode = sys::namespace_inode(0, name);
    if (inode.ok()) inodes[name] = *inode;
  }
  return inodes;
}

}  // namespace paddock::isolation::container
