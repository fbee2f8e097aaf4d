#include "engine/live/builds/build_steps.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "sys/digest.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxWord = 64u << 10;
constexpr size_t kShown = 200;
constexpr size_t kMaxUserName = 32;
constexpr size_t kHashLength = 64;

Error wrong(const BuildStep& step, std::string_view why) {
  return Error(Code::invalid_argument,
               fmt::format("{}: {}", name_of(kStepKindNames, step.kind), why));
}

bool is_variable(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return plain && !name.empty() && !(name[0] >= '0' && name[0] <= '9');
}

Status check_copy(const BuildStep& step) {
  if (step.arg(0).empty() || step.arg(1).empty()) return wrong(step, "takes a source and a place");
  if (!is_files_hash(step.files_hash)) return wrong(step, "'filesHash' is no SHA-256");
  if (step.arg(0).starts_with('/')) return wrong(step, "its source is a path from / on");
  for (const std::string& part : split(step.arg(0), '/')) {
    if (part == "..") return wrong(step, "its source leads out of what was sent");
  }
  const std::string& owner = step.arg(2);
  const size_t colon = owner.find(':');
  const bool has_group = colon != std::string::npos;
  if (!owner.empty() && (!is_user_name(owner.substr(0, colon)) ||
                         (has_group && !is_user_name(owner.substr(colon + 1))))) {
    return wrong(step, "its owner is no name of a user");
  }
  const std::string& mode = step.arg(3);
  if (mode.size() > 4 || mode.find_first_not_of("01234567") != std::string::npos) {
    return wrong(step, "its mode is no octal number");
  }
  return {};
}

Status check_environment(const BuildStep& step) {
  if (step.args.empty() || step.args.size() % 2 != 0) return wrong(step, "takes names and values");
  for (size_t i = 0; i < step.args.size(); i += 2) {
    if (!is_variable(step.args[i])) {
      return wrong(step, "'" + printable(step.args[i]) + "' is no name of a variable");
    }
  }
  return {};
}

}  // namespace

const std::string& BuildStep::arg(size_t number) const {
  static const std::string kNone;
  return number < args.size() ? args[number] : kNone;
}

bool is_user_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return plain && !name.empty() && name.size() <= kMaxUserName && name[0] != '-' && name[0] != '.';
}

bool is_files_hash(std::string_view hash) {
  return hash.size() == kHashLength &&
         hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status check_step(const BuildStep& step) {
  for (const std::string& word : step.args) {
    if (word.size() > kMaxWord || word.find('\0') != std::string::npos) {
      return wrong(step, "a word that is too long, or has a zero byte");
    }
  }
  switch (step.kind) {
    case StepKind::run:
      if (step.arg(0).empty()) return wrong(step, "takes a command");
      return {};
    case StepKind::copy:
      return check_copy(step);
    case StepKind::environment:
      return check_environment(step);
    case StepKind::directory:
      if (step.arg(0).empty()) return wrong(step, "takes a path");
      return {};
    case StepKind::user:
      if (!is_user_name(step.arg(0))) return wrong(step, "takes a name of a user");
      if (step.arg(1) == "true" && step.arg(0) != "user" && step.arg(0) != "root") {
        return Error(Code::unsupported,
                     "USER: `sudo` is for `user` and root, not for '" + step.arg(0) + "'")
            .set_remedy("run what root does with { user: 'root' }");
      }
      return {};
  }
  return Error(Code::internal, "a step of no kind");
}

std::string step_key(std::string_view before, const BuildStep& step) {
  // With lengths, so that no two steps read alike.
  std::string text =
      fmt::format("{}\n{}\n{}\n", before, name_of(kStepKindNames, step.kind), step.files_hash);
  for (const std::string& word : step.args) text += fmt::format("{}:{}\n", word.size(), word);
  return sys::sha256_hex(text);
}

std::string describe(const BuildStep& step) {
  std::string text(name_of(kStepKindNames, step.kind));
  for (const std::string& word : step.args) {
    if (!word.empty()) text += " " + word;
  }
  std::ranges::replace(text, '\n', ' ');
  if (text.size() > kShown) text = text.substr(0, kShown) + "…";
  return printable(text);
}

std::string fixed_part(std::string_view pattern) {
  std::vector<std::string> kept;
  for (std::string& part : split(pattern, '/')) {
    if (part.find_first_of("*?[{(\\") != std::string::npos) break;
    if (!part.empty() && part != ".") kept.push_back(std::move(part));
  }
  return join(kept, "/");
}

}  // namespace paddock::engine
