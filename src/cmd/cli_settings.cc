#include "cmd/cli_settings.h"

#include <CLI/CLI.hpp>
#include <string>

#include "policy/setting.h"

namespace paddock::cmd {

void add_settings(CLI::App& verb, std::vector<policy::FlagValue>& flags) {
  for (const policy::Setting& setting : policy::settings()) {
    if (setting.flag.empty()) continue;
    std::string key(setting.key);
    auto take = [&flags, key](const std::string& text) { flags.push_back({key, text}); };
    auto* option = verb.add_option_function<std::string>(std::string(setting.flag), take,
                                                         std::string(setting.doc))
                       ->type_name(std::string(policy::placeholder(setting.shape)))
                       ->group("Settings (policy keys)");
    if (policy::is_list(setting.shape)) {
      option->trigger_on_parse()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(1);
    }
  }
}

}  // namespace paddock::cmd
