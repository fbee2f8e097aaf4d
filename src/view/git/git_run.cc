#include "view/git/git_run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/strings.h"

namespace paddock::view {
namespace {

constexpr std::array<std::string_view, 5> kDirectories{"/usr/bin", "/usr/local/bin", "/bin",
                                                       "/run/current-system/sw/bin", "/opt/bin"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kConfig{{
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.attributesFile", "/dev/null"},
    {"core.excludesFile", "/dev/null"},
    {"core.alternateRefsCommand", "false"},
    {"core.bigFileThreshold", "512m"},
    {"gc.auto", "0"},
    {"maintenance.auto", "false"},
    {"protocol.allow", "never"},
    {"diff.external", ""},
    {"diff.renameLimit", "0"},
    {"transfer.fsckObjects", "true"},
}};

Result<std::string> find_git() {
  for (std::string_view directory : kDirectories) {
    std::string path = std::string(directory) + "/git";
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return Error(Code::unsupported, "the host has no git").set_remedy("install git");
}

std::vector<std::string> environment_of(const GitCall& call) {
  std::vector<std::string> env{
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "HOME=/nonexistent",
      "XDG_CONFIG_HOME=/nonexistent",
      "LC_ALL=C",
      "GIT_CONFIG_NOSYSTEM=1",
      "GIT_CONFIG_SYSTEM=/dev/null",
      "GIT_CONFIG_GLOBAL=/dev/null",
      "GIT_ATTR_NOSYSTEM=1",
      "GIT_TERMINAL_PROMPT=0",
      "GIT_ASKPASS=/bin/false",
      "GIT_EDITOR=/bin/false",
      "GIT_PAGER=cat",
      "GIT_OPTIONAL_LOCKS=0",
      "GIT_NO_REPLACE_OBJECTS=1",
      "GIT_NO_LAZY_FETCH=1",
      "GIT_ALLOW_PROTOCOL=none",
  };
  env.push_back("GIT_DIR=" + (call.git_dir.empty() ? "/nonexistent" : call.git_dir.str()));
  env.push_back(fmt::format("GIT_CONFIG_COUNT={}", kConfig.size()));
  for (size_t i = 0; i < kConfig.size(); ++i) {
    env.push_back(fmt::format("GIT_CONFIG_KEY_{}={}", i, kConfig[i].first));
    env.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", i, kConfig[i].second));
  }
  env.insert(env.end(), call.environment.begin(), call.environment.end());
  return env;
}

}  // namespace

Result<sys::CommandResult> run_git(GitCall call) {
  sys::Command command;
  command.environment = environment_of(call);
  command.argv.push_back(PD_TRY(find_git()));
  command.argv.insert(command.argv.end(), call.args.begin(), call.args.end());
  command.directory = call.directory.empty() ? "/" : call.directory.str();
  command.input = std::move(call.input);
  command.input_file = call.input_file.str();
  command.output_limit = call.output_limit;
  command.limits = call.limits;
  return sys::run_command(command);
}

Result<std::string> git_output(GitCall call) {
  std::string name = call.args.empty() ? "git" : "git " + call.args[0];
  sys::CommandResult result = PD_TRY_CTX("running " + name, run_git(std::move(call)));
  if (result.exit_code == 0) return std::move(result.out);
  return Error(Code::data_corrupt, fmt::format("{} failed ({}): {}", name, result.exit_code,
                                               printable(trim(result.err).substr(0, 1000))));
}

}  // namespace paddock::view
