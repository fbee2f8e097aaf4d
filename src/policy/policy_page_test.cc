// docs/policy.md is made from the settings table. PADDOCK_ACCEPT=1 writes it anew and reports the
// test as skipped, never as passed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/strings.h"
#include "policy/load.h"
#include "policy/profiles.h"
#include "policy/raw_value.h"
#include "policy/setting.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

constexpr const char* kPage = PADDOCK_SOURCE_DIR "/docs/policy.md";

constexpr std::string_view kIntroduction = R"(# Policy

What a sandbox may do is decided by up to three files and the command line. `paddock policy explain` shows every setting with its value, who gave it, and how this host holds it; `paddock init [--profile NAME]` writes a commented project file. This page is made from the settings table (`src/policy/settings_table.cc`).

## Who decides

| tier | file | may |
|---|---|---|
| shipped | none | is the start: the defaults below |
| admin | `/etc/paddock/policy.toml` | set anything; what it sets is the value **and** the limit for everyone after it |
| user | `~/.config/paddock/policy.toml` (`$XDG_CONFIG_HOME` is honoured) | widen and narrow within the admin's limits |
| project | `paddock.toml` in the root of the workspace | only narrow: the code inside may have written it |
| flags | the command line | widen and narrow within the admin's limits |

They speak in this order. A value past its limit is an error that names the key, both values and both places; nothing is ignored, cut or approximated in silence. So is a key that does not exist (the error names the nearest one), a value of the wrong kind, and a file that cannot be read.

### Narrower

Each setting says below what *narrower* means for it:

- **smaller**: a number. The word for no limit (`"none"`, `"all"`) is the widest; 0 is never a word for it.
- **further right**: a name, in the order that the table lists them.
- **fewer entries**: a list that *grants*. A later tier's list replaces the one before, so a tier can drop grants; flags add to it. A project may keep entries or drop them (and make a mount read-only) but name none of its own, not even below a granted directory. `[]` grants nothing.
- **more entries**: a list that *restricts*. Tiers and flags add up, so none undoes another. `[]` adds nothing.
- **further names**: tiers and flags add names; a project cannot change the value of a name that it did not set, nor can anyone that of a name which the admin set.
- **no other value**: a project can repeat it and nothing else.

### Bounds

What the admin sets is what a sandbox gets and the most it can get. `[bounds]`, in the admin file only, sets the most apart from the value. It takes numbers, names and lists that grant:

```toml
[limits]
memory = "4G"            # what a sandbox gets

[bounds.limits]
memory = "32G"           # what a user may ask for
timeout = "8h"           # no value beside it: also narrows the shipped "none" to this

[bounds]
mounts = ["/data:/:ro"]  # anything below /data, anywhere inside, read-only

[bounds.files]
read = ["/srv", "/opt"]  # these and what is below
write = []               # nothing
```

An admin who sets `files.hide` also fixes `files.show`, or the hidden files could be shown again; `[bounds.files] show` opens it. Bounds on paths are checked again for where a path leads once its links are resolved.

### Trust and level

`trust` says what is known about the code, and requires a level: `reviewed` → `container`, `generated` → `microvm`, `hostile` → `microvm`. `accept.<trust>` names a weaker level that may do instead; then the decision, the outcome and one line on stderr say who accepted it. The shipped policy accepts `container` for generated code. Hostile code is never accepted below what it requires, and less trusted code never gets less than better trusted code would. `level` asks for a level by name: a stronger one is given, a weaker one than `trust` and `accept` allow is refused. `levels.md` says what each level guarantees.

)";

std::string section_of(const Setting& setting) {
  std::vector<std::string> parts = split(setting.key, '.');
  return parts.size() > 1 ? parts.front() : "";
}

std::string values_of(const Setting& setting) {
  if (setting.choices.empty()) return expectation(setting);
  List names(setting.choices.begin(), setting.choices.end());
  return "`" + join(names, "`, `") + "`";
}

std::string narrower_of(const Setting& setting) {
  std::string rule(describe(setting.order));
  return setting.project == ProjectTier::may_not_set ? rule + "; not for a project" : rule;
}

std::string row_of(const Setting& setting) {
  std::string flag;
  if (!setting.flag.empty()) {
    flag = fmt::format("<br>`{} {}`", setting.flag, placeholder(setting.shape));
  }
  Value shipped = setting.access.get(model::Settings{});
  std::string text =
      setting.order == Order::of_its_parts ? "none" : "`" + format_value(setting, shipped) + "`";
  return fmt::format("| `{}`{} | {} | {} | {} | {} |\n", setting.key, flag, setting.doc,
                     values_of(setting), text, narrower_of(setting));
}

std::string settings_part() {
  std::string page = "## Settings\n";
  std::string section = "-";
  for (const Setting& setting : settings()) {
    if (section_of(setting) != section) {
      section = section_of(setting);
      page += fmt::format(
          "\n### {}\n\n| key and flag | what | values | shipped | narrower |\n"
          "|---|---|---|---|---|\n",
          section.empty() ? "At the top" : "[" + section + "]");
    }
    page += row_of(setting);
  }
  return page;
}

std::string profiles_part() {
  std::string page = R"(
## Profiles

A profile is a named bundle. `profile = "NAME"` in a file, or `--profile NAME`, sets its values as if the file or the command line had, before what else they set. `[profiles.NAME]` in the admin or user file defines further ones, under new names.
)";
  for (const ShippedProfile& profile : shipped_profiles()) {
    page +=
        fmt::format("\n### {}\n\n{}\n\n```toml{}```\n", profile.name, profile.fear, profile.text);
  }
  return page;
}

constexpr std::string_view kExplain = R"(
## `paddock policy explain --json`

A list with one object for each setting, in the order of this page:

| field | meaning |
|---|---|
| `key` | the setting |
| `value` | text, an integer, a decimal number (`limits.cpus`), a list, or an object (`env.set`); sizes and durations are text |
| `origin` | who gave it: tier, file and line, or the flag; several joined by ` + ` where tiers add up |
| `bound` | what user and flags cannot get past, and who says so; `null` without one |
| `state` | how this host holds it: `enforced`, `approximated` or `refused`; `null` for what is decided before anything runs |
| `detail` | how, or what the approximation misses |
| `doc` | what the setting is |

Text that is not UTF-8 travels as `outcome.md` says.
)";

std::string limits_part() {
  return fmt::format(R"(
## What a file may hold

Valid UTF-8 and at most {} in all, {} bytes a line, {} bytes a string, {} entries a list or table, tables {} deep. Paths are absolute, or below the home directory as `~/…`, without `.` and `..`; a path in `mounts` or `sockets` cannot hold a colon. Globs are relative to the workspace: `*` and `?` stop at a slash, `**` does not, and a glob without a slash is a name in any directory.
)",
                     format_bytes(kMaxFileBytes), kMaxLineBytes, kMaxTextBytes, kMaxEntries,
                     kMaxDepth);
}

TEST(PolicyPage, IsTheOneMadeFromTheTable) {
  std::string page = std::string(kIntroduction) + settings_part() + profiles_part() +
                     limits_part() + std::string(kExplain);
  if (std::getenv("PADDOCK_ACCEPT") != nullptr) {
    std::ofstream(kPage, std::ios::binary) << page;
    GTEST_SKIP() << "accepted: wrote " << kPage;
  }
  std::ifstream file(kPage, std::ios::binary);
  std::string stored{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(stored == page) << kPage
                              << " is not what the table says. PADDOCK_ACCEPT=1 rewrites it.";
}

TEST(PolicyPage, NamesThePlacesWhereTheFilesAre) {
  EXPECT_NE(kIntroduction.find(kAdminPolicy), std::string_view::npos);
  EXPECT_NE(kIntroduction.find(kProjectPolicy), std::string_view::npos);
}

}  // namespace
}  // namespace paddock::policy
