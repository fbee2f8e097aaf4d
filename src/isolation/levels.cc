#include "isolation/levels.h"

#include <fmt/core.h>

#include <array>
#include <iterator>
#include <string>

#include "isolation/container/container_backend.h"
#include "sys/files.h"

namespace paddock::isolation {
namespace {

struct Unbuilt {
  model::Level level;
  const char* reason;
  const char* remedy;
};
constexpr std::array kUnbuilt{
    Unbuilt{model::Level::process,
            "level process (Landlock and seccomp without namespaces) is not built yet",
            "use level container; where user namespaces are forbidden, see `paddock doctor`"},
    Unbuilt{model::Level::gvisor, "level gvisor (a user-space kernel) is not built yet",
            "use level container where policy accepts it (accept.<trust> = \"container\")"},
    Unbuilt{model::Level::microvm, "level microvm (a kernel of its own) is not built yet",
            "use level container where policy accepts it (accept.<trust> = \"container\")"}};

Probe probe_of(const Unbuilt& level) {
  std::string proof = level.reason;
  if (level.level == model::Level::microvm && sys::exists("/dev/kvm")) {
    proof += "; /dev/kvm is there, which proves nothing: only a guest that boots would";
  }
  return {std::string(name_of(model::kLevelNames, level.level)), model::ControlState::refused,
          std::move(proof), level.remedy};
}

}  // namespace

Result<std::unique_ptr<Backend>> make_backend(model::Level level) {
  for (const Unbuilt& unbuilt : kUnbuilt) {
    if (unbuilt.level == level) {
      return Error(Code::unsupported, unbuilt.reason).set_remedy(unbuilt.remedy);
    }
  }
  return container::make_container_backend();
}

std::vector<Probe> probe_levels() {
  std::vector<Probe> probes = container::make_container_backend()->probe();
  for (const Unbuilt& level : kUnbuilt) probes.push_back(probe_of(level));
  return probes;
}

}  // namespace paddock::isolation
