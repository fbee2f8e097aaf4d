// Steps of a template build, as clients write them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"

namespace paddock::engine {

enum class StepKind { run, copy, environment, directory, user };
inline constexpr EnumNames<StepKind, 5> kStepKindNames{{{StepKind::run, "RUN"},
                                                        {StepKind::copy, "COPY"},
                                                        {StepKind::environment, "ENV"},
                                                        {StepKind::directory, "WORKDIR"},
                                                        {StepKind::user, "USER"}}};

struct BuildStep {
  StepKind kind = StepKind::run;
  // RUN: command, user. COPY: pattern of what was sent, where to, owner, octal mode. ENV: name,
  // value, name, value … WORKDIR: a path. USER: a name, "true" for sudo. What is empty is not said.
  std::vector<std::string> args;
  std::string files_hash;  // COPY: of what was sent
  enum class Cache { use, renew } cache = Cache::use;

  const std::string& arg(size_t number) const;  // "" where there is none
};

// invalid_argument: it cannot be done, whatever it is done to. unsupported: sudo for a user that is
// not there yet.
Status check_step(const BuildStep& step);
// What the result of a step follows from: the same before it, and the same step.
std::string step_key(std::string_view before, const BuildStep& step);
// For people, in one line.
std::string describe(const BuildStep& step);

// Of "dir/*.txt": "dir". What stands before the first part with a wildcard.
std::string fixed_part(std::string_view pattern);
bool is_user_name(std::string_view name);
bool is_files_hash(std::string_view hash);  // 64 digits

}  // namespace paddock::engine
