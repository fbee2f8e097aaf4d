// Compares what the agent saw from inside with what was decided.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "wire/agent.pb.h"

namespace paddock::isolation::container {

struct Expectation {
  std::string uid_map;  // as written; compared by fields
  std::string gid_map;
  uint32_t uid = 0;
  uint32_t gid = 0;
  enum class Groups { none, callers } groups = Groups::none;  // supplementary
  std::map<std::string, uint64_t> host_namespaces;  // name → inode, which must all differ inside
  int landlock_abi = 0;
  // Of a command: effective, permitted, inheritable and ambient. The bounding set is always empty.
  uint64_t capabilities = 0;
};

// Mismatches in words; empty: everything holds.
std::vector<std::string> compare(const Expectation& expected, const wire::Evidence& seen);

// The same for what a command of root has, where the sandbox has several users.
std::vector<std::string> compare_root(Expectation expected, const wire::Evidence& seen);

// The namespaces of this process, for Expectation.
std::map<std::string, uint64_t> own_namespaces();

}  // namespace paddock::isolation::container
