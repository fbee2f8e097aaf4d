// What runs on the host, or steers its tools, merely by being there: one table, a reason per row.
#pragma once

#include <span>
#include <string_view>

namespace paddock::view {

// Of what git keeps but does not run.
inline constexpr std::string_view kGitData = "git's own data: commits come with apply --branch";

struct HostExecRule {
  std::string_view reason;
  // Relative paths of globs, separated by blanks, each compared with consecutive components
  // anywhere in a path; what lies below a match is matched too. Without regard to case.
  std::string_view patterns;
};

// Left out on purpose: what runs only when its user builds or runs the project (Makefile,
// package.json and its scripts, conftest.py, build.rs, Dockerfile). That is the project's code,
// which the review of the diff is for; docs/apply.md says so to users.
std::span<const HostExecRule> host_exec_rules();

}  // namespace paddock::view
