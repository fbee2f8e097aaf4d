// Completion for shells, made of the declared command line itself.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace paddock::cmd {

// A script for bash: eval "$(paddock completion bash)".
std::string bash_completion(const CLI::App& app);

}  // namespace paddock::cmd
