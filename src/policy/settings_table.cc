#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "policy/mount_text.h"
#include "policy/setting.h"

namespace paddock::policy {
namespace {

using model::EgressSettings;
using model::FileRules;
using model::Level;
using model::Limits;
using model::Settings;
using model::Trust;
using model::ViewRules;

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kPiB = 1ull << 50;
constexpr uint64_t kDay = 86400;

// --- access: a member of Settings, named by the path to it, as a Value --------------------------

template <auto... Path, typename Root>
auto& member(Root& settings) {
  return (settings.*....*Path);
}

template <auto... Path>
constexpr Access kNumber{
    [](const Settings& s) -> Value { return uint64_t{member<Path...>(s)}; },
    [](Settings& s, const Value& v) { member<Path...>(s) = std::get<uint64_t>(v); }};

template <typename T, auto... Path>
constexpr Access kWhole{[](const Settings& s) -> Value { return member<Path...>(s); },
                        [](Settings& s, const Value& v) { member<Path...>(s) = std::get<T>(v); }};
template <auto... Path>
constexpr Access kText = kWhole<std::string, Path...>;
template <auto... Path>
constexpr Access kList = kWhole<List, Path...>;

template <const auto& Names, auto... Path>
constexpr Access kNamed{
    [](const Settings& s) -> Value { return std::string(name_of(Names, member<Path...>(s))); },
    [](Settings& s, const Value& v) {
      member<Path...>(s) = value_of(Names, std::get<std::string>(v)).value();
    }};

constexpr Access kProcessors{
    [](const Settings& s) -> Value { return uint64_t(std::llround(s.limits.cpus * 1000)); },
    [](Settings& s, const Value& v) {
      s.limits.cpus = static_cast<double>(std::get<uint64_t>(v)) / 1000;
    }};

constexpr std::string_view kAuto = "auto";
constexpr Access kLevel{
    [](const Settings& s) -> Value {
      return std::string(s.level ? name_of(model::kLevelNames, *s.level) : kAuto);
    },
    [](Settings& s, const Value& v) { s.level = value_of(model::kLevelNames, std::get<1>(v)); }};

template <Trust T>
constexpr Access kAccept{
    [](const Settings& s) -> Value {
      auto found = s.accept.find(T);
      Level level = found == s.accept.end() ? model::required_level(T) : found->second;
      return std::string(name_of(model::kLevelNames, level));
    },
    [](Settings& s, const Value& v) {
      s.accept[T] = value_of(model::kLevelNames, std::get<std::string>(v)).value();
    }};

constexpr std::string_view kHostRoot = "host";
constexpr Access kRootfs{
    [](const Settings& s) -> Value { return s.rootfs.value_or(std::string(kHostRoot)); },
    [](Settings& s, const Value& v) {
      const auto& text = std::get<std::string>(v);
      s.rootfs = text == kHostRoot ? std::nullopt : std::optional(text);
    }};

constexpr Access kMounts{[](const Settings& s) -> Value {
                           List texts;
                           for (const model::MountGrant& grant : s.mounts)
                             texts.push_back(format_mount(grant));
                           return texts;
                         },
                         [](Settings& s, const Value& v) {
                           s.mounts.clear();
                           for (const std::string& text : std::get<List>(v)) {
                             s.mounts.push_back(parse_mount(text, {}).value());
                           }
                         }};

constexpr Access kSockets{[](const Settings& s) -> Value {
                            List texts;
                            for (const model::SocketGrant& grant : s.sockets)
                              texts.push_back(format_socket(grant));
                            return texts;
                          },
                          [](Settings& s, const Value& v) {
                            s.sockets.clear();
                            for (const std::string& text : std::get<List>(v)) {
                              s.sockets.push_back(parse_socket(text, {}).value());
                            }
                          }};

// --- choices, from the widest to the narrowest
// ----------------------------------------------------

constexpr std::array<std::string_view, 3> kTrusts{"reviewed", "generated", "hostile"};
constexpr std::array<std::string_view, 5> kLevels{kAuto, "process", "container", "gvisor",
                                                  "microvm"};
constexpr std::span<const std::string_view> kFixedLevels = std::span(kLevels).subspan(1);
constexpr std::span<const std::string_view> kStrongest = std::span(kLevels).last(1);
constexpr std::array<std::string_view, 4> kPresets{"open", "package-registries", "git-hosts",
                                                   "none"};
constexpr std::array<std::string_view, 3> kModes{"direct", "overlay", "none"};

// --- the table -----------------------------------------------------------------------------------

constexpr std::array kSettings{
    Setting{.key = "profile",
            .flag = "--profile",
            .shape = Shape::profile,
            .order = Order::of_its_parts,
            .access = kText<&Settings::profile>,
            .doc = "A named bundle of settings: edit, ci, untrusted, or one that policy defines."},
    Setting{.key = "trust",
            .flag = "--trust",
            .shape = Shape::choice,
            .order = Order::later_choice,
            .access = kNamed<model::kTrustNames, &Settings::trust>,
            .doc = "What is known about the code: reviewed, generated (nobody read it) or hostile.",
            .choices = kTrusts},
    Setting{.key = "level",
            .flag = "--level",
            .shape = Shape::choice,
            .order = Order::later_choice,
            .access = kLevel,
            .doc = "How far the sandbox is isolated; auto takes what trust and accept say.",
            .choices = kLevels,
            .control = "level"},
    Setting{.key = "rootfs",
            .flag = "--rootfs",
            .shape = Shape::path,
            .order = Order::same_only,
            .access = kRootfs,
            .doc = "The root: host (this machine's tools, seen read-only) or a directory.",
            .project = ProjectTier::may_not_set},
    Setting{.key = "mounts",
            .flag = "--mount",
            .shape = Shape::mounts,
            .order = Order::fewer_entries,
            .access = kMounts,
            .doc = "Files and directories of the host given under a path of their own inside.",
            .control = "mounts"},
    Setting{.key = "sockets",
            .flag = "--socket",
            .shape = Shape::sockets,
            .order = Order::fewer_entries,
            .access = kSockets,
            .doc = "Unix sockets of the host that may be connected to, under the same or another "
                   "path inside.",
            .control = "sockets"},
    Setting{.key = "accept.reviewed",
            .flag = {},
            .shape = Shape::choice,
            .order = Order::later_choice,
            .access = kAccept<Trust::reviewed>,
            .doc = "The weakest level that reviewed code may get.",
            .choices = kFixedLevels},
    Setting{.key = "accept.generated",
            .flag = {},
            .shape = Shape::choice,
            .order = Order::later_choice,
            .access = kAccept<Trust::generated>,
            .doc = "The weakest level that generated code may get; it requires microvm.",
            .choices = kFixedLevels},
    Setting{.key = "accept.hostile",
            .flag = {},
            .shape = Shape::choice,
            .order = Order::later_choice,
            .access = kAccept<Trust::hostile>,
            .doc = "Hostile code is never accepted below microvm.",
            .choices = kStrongest},
    Setting{.key = "workspace.mode",
            .flag = "--mode",
            .shape = Shape::choice,
            .order = Order::later_choice,
            .access = kNamed<model::kWorkspaceModeNames, &Settings::mode>,
            .doc = "overlay keeps writes in a view; direct writes to the host; none shows nothing.",
            .choices = kModes},
    Setting{.key = "limits.cpus",
            .flag = "--cpus",
            .shape = Shape::processors,
            .order = Order::smaller,
            .access = kProcessors,
            .doc = "Processors, to a thousandth.",
            .min = 10,
            .max = 1024ull * 1000,
            .unlimited = "all",
            .control = "limits.cpus"},
    Setting{.key = "limits.memory",
            .flag = "--memory",
            .shape = Shape::size,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::memory_bytes>,
            .doc = "Memory of the whole sandbox, files on its tmpfs included.",
            .min = 16 * kMiB,
            .max = kPiB,
            .control = "limits.memory"},
    Setting{.key = "limits.pids",
            .flag = "--pids",
            .shape = Shape::count,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::pids>,
            .doc = "Processes and threads.",
            .min = 8,
            .max = 4194304,
            .control = "limits.pids"},
    Setting{.key = "limits.disk",
            .flag = "--disk",
            .shape = Shape::size,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::disk_bytes>,
            .doc = "What the sandbox may write, workspace and scratch together.",
            .min = kMiB,
            .max = kPiB,
            .control = "limits.disk"},
    // A tmpfs of size 0 has no limit: the least is a page or more.
    Setting{.key = "limits.shm",
            .flag = "--shm",
            .shape = Shape::size,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::shm_bytes>,
            .doc = "Size of /dev/shm, within memory.",
            .min = 64 * kKiB,
            .max = kPiB,
            .control = "limits.shm"},
    Setting{.key = "limits.timeout",
            .flag = "--timeout",
            .shape = Shape::duration,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::timeout_seconds>,
            .doc = "Time until the whole process tree is killed.",
            .min = 1,
            .max = 366 * kDay,
            .unlimited = "none",
            .control = "limits.timeout"},
    Setting{.key = "limits.output",
            .flag = "--output-limit",
            .shape = Shape::size,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::output_bytes>,
            .doc = "Bytes of stdout and stderr together.",
            .min = 1,
            .max = kPiB,
            .unlimited = "none",
            .control = "limits.output"},
    Setting{.key = "limits.open_files",
            .flag = "--open-files",
            .shape = Shape::count,
            .order = Order::smaller,
            .access = kNumber<&Settings::limits, &Limits::open_files>,
            .doc = "Open descriptors of one process (RLIMIT_NOFILE).",
            .min = 64,
            .max = 1048576,
            .control = "limits.open_files"},
    Setting{.key = "files.hide",
            .flag = "--hide",
            .shape = Shape::globs,
            .order = Order::more_entries,
            .access = kList<&Settings::files, &FileRules::hide>,
            .doc =
                "Files of the workspace that do not exist inside; a glob without a slash is a name "
                "in any directory.",
            .control = "files.hide",
            .exceptions = "files.show"},
    Setting{.key = "files.show",
            .flag = {},
            .shape = Shape::globs,
            .order = Order::fewer_entries,
            .access = kList<&Settings::files, &FileRules::show>,
            .doc = "Exceptions from hide, over which they win.",
            .control = "files.hide"},
    Setting{.key = "files.read",
            .flag = {},
            .shape = Shape::host_paths,
            .order = Order::fewer_entries,
            .access = kList<&Settings::files, &FileRules::read>,
            .doc = "Paths of the host shown read-only at the same place inside.",
            .control = "files.read"},
    Setting{.key = "files.write",
            .flag = {},
            .shape = Shape::host_paths,
            .order = Order::fewer_entries,
            .access = kList<&Settings::files, &FileRules::write>,
            .doc = "Paths of the host that may be written, at the same place inside.",
            .control = "files.write"},
    Setting{.key = "files.deny",
            .flag = {},
            .shape = Shape::inside_paths,
            .order = Order::more_entries,
            .access = kList<&Settings::files, &FileRules::deny>,
            .doc = "Paths that no command may open: absolute, or relative to the workspace.",
            .control = "files.deny"},
    Setting{.key = "egress.presets",
            .flag = "--egress",
            .shape = Shape::presets,
            .order = Order::fewer_entries,
            .access = kList<&Settings::egress, &EgressSettings::presets>,
            .doc = "Bundles of hosts that may be reached; none, alone, lets nothing out.",
            .choices = kPresets,
            .control = "egress"},
    Setting{.key = "egress.allow",
            .flag = "--allow",
            .shape = Shape::hosts,
            .order = Order::fewer_entries,
            .access = kList<&Settings::egress, &EgressSettings::allow>,
            .doc = "Hosts that may be reached, on the port given or on 80 and 443.",
            .control = "egress"},
    Setting{.key = "egress.registries",
            .flag = {},
            .shape = Shape::hosts,
            .order = Order::fewer_entries,
            .access = kList<&Settings::egress, &EgressSettings::registries>,
            .doc = "Hosts of package registries beside those that this machine's tools name.",
            .control = "egress"},
    Setting{.key = "env.set",
            .flag = "--env",
            .shape = Shape::env_pairs,
            .order = Order::more_names,
            .access = kWhole<Pairs, &Settings::env>,
            .doc = "Environment variables set inside."},
    Setting{.key = "env.pass",
            .flag = "--pass-env",
            .shape = Shape::env_names,
            .order = Order::fewer_entries,
            .access = kList<&Settings::pass_env>,
            .doc = "Names of environment variables copied from the caller."},
    Setting{.key = "views.keep",
            .flag = {},
            .shape = Shape::duration,
            .order = Order::smaller,
            .access = kNumber<&Settings::views, &ViewRules::keep_seconds>,
            .doc = "Age past which gc may remove a view that was not applied.",
            .min = 1,
            .max = 3660 * kDay,
            .project = ProjectTier::may_not_set},
    Setting{.key = "views.keep_size",
            .flag = {},
            .shape = Shape::size,
            .order = Order::smaller,
            .access = kNumber<&Settings::views, &ViewRules::keep_bytes>,
            .doc = "Disk that all views may hold together before gc removes the oldest.",
            .min = kMiB,
            .max = kPiB,
            .project = ProjectTier::may_not_set},
    Setting{.key = "apply.host_exec",
            .flag = {},
            .shape = Shape::globs,
            .order = Order::more_entries,
            .access = kList<&Settings::views, &ViewRules::host_exec>,
            .doc = "Further paths that apply holds back because they would execute on the host."},
};

struct ShapeRow {
  Shape shape;
  std::string_view placeholder;
  bool list;
};
constexpr std::array kShapes{
    ShapeRow{Shape::choice, "NAME", false},        ShapeRow{Shape::size, "SIZE", false},
    ShapeRow{Shape::duration, "TIME", false},      ShapeRow{Shape::count, "N", false},
    ShapeRow{Shape::processors, "N", false},       ShapeRow{Shape::path, "DIR", false},
    ShapeRow{Shape::profile, "NAME", false},       ShapeRow{Shape::globs, "GLOB", true},
    ShapeRow{Shape::inside_paths, "PATH", true},   ShapeRow{Shape::host_paths, "PATH", true},
    ShapeRow{Shape::mounts, "SRC:DST[:ro]", true}, ShapeRow{Shape::sockets, "SRC[:DST]", true},
    ShapeRow{Shape::env_names, "NAME", true},      ShapeRow{Shape::env_pairs, "NAME=VALUE", true},
    ShapeRow{Shape::presets, "PRESET", true},      ShapeRow{Shape::hosts, "HOST[:PORT]", true}};

const ShapeRow& row_of(Shape shape) {
  return *std::find_if(kShapes.begin(), kShapes.end(),
                       [&](const ShapeRow& row) { return row.shape == shape; });
}

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

const Setting* find_setting(std::string_view key) {
  for (const Setting& setting : kSettings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  keys.reserve(kSettings.size());
  for (const Setting& setting : kSettings) keys.emplace_back(setting.key);
  return keys;
}

bool is_list(Shape shape) {
  return row_of(shape).list;
}
std::string_view placeholder(Shape shape) {
  return row_of(shape).placeholder;
}

std::string_view describe(Order order) {
  switch (order) {
    case Order::smaller:
      return "smaller";
    case Order::later_choice:
      return "further right";
    case Order::same_only:
      return "no other value";
    case Order::fewer_entries:
      return "fewer entries";
    case Order::more_entries:
      return "more entries (tiers add up)";
    case Order::more_names:
      return "further names (tiers add up)";
    case Order::of_its_parts:
      return "as its settings are";
  }
  return "";
}

}  // namespace paddock::policy
