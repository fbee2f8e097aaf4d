#include "cmd/cli_completion.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <vector>

namespace paddock::cmd {
namespace {

constexpr const char* kBegin = R"sh(_paddock() {
  local cur=${COMP_WORDS[COMP_CWORD]} verb='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) return ;;
      -*) ;;
      *) verb="$verb ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$verb " in
)sh";

// Names of files are bash's own business: -o default.
constexpr const char* kEnd = R"sh(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _paddock paddock
)sh";

std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    out.push_back(verb->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    for (const std::string& name : option->get_snames()) out.push_back("-" + name);
  }
  return out;
}

// Deeper ones first: the first pattern that fits wins.
void add_cases(const CLI::App& app, const std::string& path, std::string& out) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_cases(*verb, path + " " + verb->get_name(), out);
  }
  std::string words;
  for (const std::string& word : words_of(app)) words += (words.empty() ? "" : " ") + word;
  out += fmt::format("    '{} '*) words='{}' ;;\n", path, words);
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string out = kBegin;
  add_cases(app, "", out);
  return out + kEnd;
}

}  // namespace paddock::cmd
