// What a template says of every sandbox made from it, beside its files. Values; pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::engine {

struct TemplateSettings {
  std::map<std::string, std::string> environment;
  std::string directory;      // where commands start; empty: the user's home
  std::string user;           // whose they are; empty: the sandbox's own
  std::string start_command;  // for a shell; started in every sandbox
  std::string ready_command;  // for a shell; succeeds once the other one is ready

  bool starts_something() const { return !start_command.empty() || !ready_command.empty(); }
  bool operator==(const TemplateSettings&) const = default;
};

// Empty where nothing is said.
std::string encode(const TemplateSettings& settings);
// data_corrupt: it is not what was encoded.
Result<TemplateSettings> decode_template_settings(const std::string& text);

// $NAME and ${NAME} become what `environment` has, or nothing. Everything else stays as it is.
std::string expand_variables(std::string_view text,
                             const std::map<std::string, std::string>& environment);

}  // namespace paddock::engine
