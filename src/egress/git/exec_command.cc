#include "egress/git/exec_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace paddock::egress::git {
namespace {

constexpr size_t kMaxPath = 1024;

struct Program {
  std::string_view text;
  GitStep step;
};
constexpr std::array<Program, 4> kPrograms{{{"git-upload-pack ", GitStep::fetch},
                                            {"git upload-pack ", GitStep::fetch},
                                            {"git-receive-pack ", GitStep::list_to_push},
                                            {"git receive-pack ", GitStep::list_to_push}}};

Error refused(std::string_view command, std::string_view why) {
  return Error(Code::permission_denied,
               fmt::format("'{}': {}", printable(command.substr(0, 200)), why));
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/+@").find(c) != std::string_view::npos;
}

// A host may look for "x", "x.git" and "x/.git" where one of them is asked for.
bool is_clear(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.starts_with('-') || path.ends_with(".git.git")) return false;
  const std::vector<std::string> parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.empty() || part == "." || part == ".." || part == ".git";
  });
}

}  // namespace

std::string ExecCommand::command() const {
  return fmt::format("{} '{}'", program(), path);
}

Result<ExecCommand> parse_exec_command(std::string_view command) {
  const auto found = std::find_if(kPrograms.begin(), kPrograms.end(), [&](const Program& program) {
    return command.starts_with(program.text);
  });
  if (found == kPrograms.end()) {
    return refused(command, "only git fetch and push are carried, not this command");
  }
  std::string_view path = command.substr(found->text.size());
  if (path.size() < 3 || path.front() != '\'' || path.back() != '\'') {
    return refused(command, "one path in single quotes is expected");
  }
  path = path.substr(1, path.size() - 2);
  if (path.size() > kMaxPath || !std::all_of(path.begin(), path.end(), is_plain)) {
    return refused(command, "the path holds something else than letters, digits and -._~/+@");
  }
  if (!is_clear(path)) return refused(command, "the path could mean more than one repository");
  std::string_view name = path;
  if (name.starts_with('/')) name.remove_prefix(1);
  if (name.ends_with(".git")) name.remove_suffix(4);
  return ExecCommand{
      .step = found->step, .path = std::string(path), .repository = std::string(name)};
}

}  // namespace paddock::egress::git
