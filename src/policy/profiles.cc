#include "policy/profiles.h"

#include <array>

namespace paddock::policy {
namespace {

constexpr std::array kProfiles{
    ShippedProfile{"edit",
                   "A tool that spoils the repository: its work is a view to look at first.",
                   R"(
mounts = []

[workspace]
mode = "overlay"

[files]
write = []
)"},
    ShippedProfile{"ci", "Drift: nothing of this machine's user takes part but the tools.",
                   R"(
mounts = []
sockets = []

[workspace]
mode = "overlay"

[limits]
timeout = "1h"
output = "64M"

[files]
read = []
write = []

[env]
pass = []

[env.set]
CI = "true"
)"},
    ShippedProfile{"untrusted", "Malice: the strongest level, tight limits, nothing of the host.",
                   R"(
trust = "hostile"
level = "microvm"
mounts = []
sockets = []

[workspace]
mode = "overlay"

[limits]
cpus = 2
memory = "2G"
pids = 256
disk = "2G"
shm = "256M"
timeout = "15m"
output = "16M"
open_files = 4096

[files]
show = []
read = []
write = []

[env]
pass = []

[apply]
host_exec = ["**/Makefile", "**/package.json"]
)"}};

}  // namespace

std::span<const ShippedProfile> shipped_profiles() {
  return kProfiles;
}

const ShippedProfile* find_shipped_profile(std::string_view name) {
  for (const ShippedProfile& profile : kProfiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

}  // namespace paddock::policy
