#include "engine/guest_environment.h"

#include <array>
#include <string_view>

namespace paddock::engine {
namespace {

// What a program needs to talk to the caller's terminal in the caller's language. No secrets.
constexpr std::array<std::string_view, 8> kInherited{"TERM",     "COLORTERM", "NO_COLOR", "LANG",
                                                     "LANGUAGE", "TZ",        "COLUMNS",  "LINES"};

bool inherited(std::string_view name) {
  if (name.substr(0, 3) == "LC_") return true;
  for (std::string_view known : kInherited) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

GuestEnvironment make_guest_environment(const model::Settings& settings,
                                        const std::map<std::string, std::string>& caller,
                                        const std::vector<std::string>& from_root) {
  std::map<std::string, std::string> variables;
  for (const std::string& assignment : from_root) {
    size_t equals = assignment.find('=');
    variables[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  GuestEnvironment guest;
  for (const auto& [name, value] : caller) {
    if (inherited(name)) variables[name] = value;
  }
  for (const std::string& name : settings.pass_env) {
    auto found = caller.find(name);
    if (found == caller.end()) continue;
    variables[name] = found->second;
    guest.passed.push_back(name);
  }
  for (const auto& [name, value] : settings.env) variables[name] = value;
  for (const auto& [name, value] : variables) guest.variables.push_back(name + "=" + value);
  return guest;
}

void set_variables(GuestEnvironment& guest,
                   const std::vector<std::pair<std::string, std::string>>& variables,
                   Present present) {
  std::map<std::string, std::string> all;
  for (const std::string& assignment : guest.variables) {
    const size_t equals = assignment.find('=');
    all[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  for (const auto& [name, value] : variables) {
    if (present == Present::replaced) all[name] = value;
    all.try_emplace(name, value);
  }
  guest.variables.clear();
  for (const auto& [name, value] : all) guest.variables.push_back(name + "=" + value);
}

}  // namespace paddock::engine
