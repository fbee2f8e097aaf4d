#include "policy/testing/random_policy.h"

#include <algorithm>
#include <array>

#include "policy/value.h"

namespace paddock::policy::testing {
namespace {

size_t below(Rng& rng, size_t count) {
  return std::uniform_int_distribution<size_t>(0, count - 1)(rng);
}

std::string random_entry(Shape shape, Rng& rng) {
  static const std::array<std::string, 6> kGlobs{"**", "*.pem", "a.pem", "d/*.pem", "d/a.pem", "x"};
  static const std::array<std::string, 5> kPaths{"/srv", "/srv/a", "/srv/a/b", "/srvx", "/opt"};
  static const std::array<std::string, 6> kMounts{"/a:/b",      "/a:/b:ro", "/a/c:/b/c",
                                                  "/a/c:/b:ro", "/ax:/b",   "/d:/b/c:ro"};
  static const std::array<std::string, 5> kSockets{"/a:/a", "/a:/b", "/a/c:/a/c", "/ax:/ax",
                                                   "/d:/a"};
  static const std::array<std::string, 3> kNames{"A", "B", "LANG"};
  static const std::array<std::string, 3> kPresets{"open", "git-hosts", "package-registries"};
  static const std::array<std::string, 4> kHosts{"a.example", "a.example:443", "b.example:22",
                                                 "192.0.2.1:80"};
  switch (shape) {
    case Shape::globs:
      return kGlobs[below(rng, kGlobs.size())];
    case Shape::mounts:
      return kMounts[below(rng, kMounts.size())];
    case Shape::sockets:
      return kSockets[below(rng, kSockets.size())];
    case Shape::presets:
      return kPresets[below(rng, kPresets.size())];
    case Shape::hosts:
      return kHosts[below(rng, kHosts.size())];
    case Shape::env_names:
      return kNames[below(rng, kNames.size())];
    default:
      return kPaths[below(rng, kPaths.size())];
  }
}

uint64_t random_number(const Setting& setting, Rng& rng) {
  if (!setting.unlimited.empty() && below(rng, 4) == 0) return 0;
  uint64_t number = setting.min + below(rng, 5) * (setting.min + 1);
  if (below(rng, 2) == 0) number = setting.max - below(rng, 3);
  return number;
}

std::string random_text(const Setting& setting, Rng& rng) {
  static const std::array<std::string, 3> kProfiles{"edit", "ci", "untrusted"};
  static const std::array<std::string, 3> kRoots{"host", "/srv/root", "/srv/other"};
  if (setting.shape == Shape::profile) return kProfiles[below(rng, kProfiles.size())];
  if (setting.shape == Shape::path) return kRoots[below(rng, kRoots.size())];
  return std::string(setting.choices[below(rng, setting.choices.size())]);
}

}  // namespace

Value random_value(const Setting& setting, Rng& rng) {
  Value shipped = setting.access.get(model::Settings{});
  if (std::holds_alternative<uint64_t>(shipped)) return random_number(setting, rng);
  if (std::holds_alternative<std::string>(shipped)) return random_text(setting, rng);
  size_t count = below(rng, 4);
  if (std::holds_alternative<Pairs>(shipped)) {
    Pairs pairs;
    for (size_t i = 0; i < count; ++i) {
      pairs[random_entry(Shape::env_names, rng)] = below(rng, 2) == 0 ? "1" : "\"\\\n\x7f";
    }
    return pairs;
  }
  List list;
  for (size_t i = 0; i < count; ++i) {
    std::string entry = random_entry(setting.shape, rng);
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  }
  return list;
}

std::string random_tier(Rng& rng) {
  std::string text;
  for (const Setting& setting : settings()) {
    if (below(rng, 6) != 0 || (setting.shape == Shape::profile && below(rng, 4) != 0)) continue;
    text +=
        std::string(setting.key) + " = " + format_value(setting, random_value(setting, rng)) + "\n";
  }
  return text;
}

}  // namespace paddock::policy::testing
