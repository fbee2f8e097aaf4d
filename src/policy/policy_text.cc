#include "policy/policy_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "policy/egress_text.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

constexpr std::string_view kBounds = "bounds";
constexpr std::string_view kProfilesTable = "profiles";
constexpr std::string_view kEgress = "egress";
constexpr std::string_view kCredential = "credential";

// "limits" and "files": what stands before the dot of a key.
bool is_section(std::string_view name) {
  auto all = settings();
  return std::any_of(all.begin(), all.end(), [&](const Setting& setting) {
    return setting.key.substr(0, name.size()) == name && setting.key.size() > name.size() &&
           setting.key[name.size()] == '.';
  });
}

std::string last_part(std::string_view key) {
  return split(key, '.').back();
}

// The key that was probably meant: by its whole name, or by its last part in another section.
std::optional<std::string> likely_key(std::string_view key) {
  std::vector<std::string> candidates = setting_keys();
  std::set<std::string> names{std::string(kBounds), std::string(kProfilesTable), "egress.rule",
                              std::string(kCredential)};
  std::vector<std::string> last_parts;
  for (const std::string& known : candidates) {
    names.insert(split(known, '.').front());
    last_parts.push_back(last_part(known));
  }
  candidates.insert(candidates.end(), names.begin(), names.end());
  if (auto found = nearest(key, candidates)) return found;
  auto part = nearest(last_part(key), last_parts);
  if (!part) return std::nullopt;
  auto at = std::find(last_parts.begin(), last_parts.end(), *part) - last_parts.begin();
  return setting_keys()[static_cast<size_t>(at)];
}

bool can_have_bound(const Setting& setting) {
  return setting.order == Order::smaller || setting.order == Order::later_choice ||
         setting.order == Order::fewer_entries;
}

class Reader {
 public:
  Reader(const Tier& tier, const std::string& home) : tier_(tier), home_(home) {}

  Result<PolicyText> read(const RawValue& document) {
    PolicyText text;
    for (const RawMember& member : document.members) {
      if (member.name == kBounds) {
        text.bounds = PD_TRY(read_bounds(member));
      } else if (member.name == kProfilesTable) {
        text.profiles = PD_TRY(read_profiles(member));
      } else if (member.name == kCredential) {
        text.credentials = PD_TRY(read_credentials(member));
      } else if (member.name == kEgress && member.value.type == RawType::table) {
        PD_TRY(read_egress(member, text));
      } else {
        PD_TRY(read_member(member, "", PathRules{.home = home_}, text.values));
      }
    }
    return text;
  }

 private:
  Error refused(Code code, const RawMember& at, std::string_view key, std::string_view why) const {
    return Error(code,
                 fmt::format("{}:{}: {}: {}", printable(tier_.path), at.line, printable(key), why));
  }

  Error unknown(const RawMember& member, std::string_view key) const {
    Error error = refused(Code::invalid_argument, member, key, "unknown key");
    auto likely = likely_key(key);
    return std::move(error).set_remedy(likely ? fmt::format("did you mean {}?", *likely)
                                              : "`paddock policy explain` lists every key");
  }

  Error not_a_table(const RawMember& member, std::string_view key) const {
    return refused(Code::invalid_argument, member, key,
                   fmt::format("expected a table, found {}", describe(member.value.type)));
  }

  Status read_member(const RawMember& member, const std::string& prefix, const PathRules& rules,
                     std::vector<Assignment>& into) const {
    std::string key = prefix + member.name;
    bool plain = member.name.find('.') == std::string::npos;
    const Setting* setting = plain ? find_setting(key) : nullptr;
    if (setting != nullptr) {
      auto value = parse_value(*setting, member.value, rules);
      if (!value.ok()) {
        return refused(value.error().code(), member, key, value.error().describe());
      }
      into.push_back({setting, std::move(value).value(), member.line});
      return {};
    }
    if (!plain || !is_section(key)) return unknown(member, key);
    if (member.value.type != RawType::table) return not_a_table(member, key);
    for (const RawMember& inner : member.value.members) {
      PD_TRY(read_member(inner, key + ".", rules, into));
    }
    return {};
  }

  // Its settings are in the table like others; its rules are a list of tables.
  Status read_egress(const RawMember& member, PolicyText& text) const {
    for (const RawMember& inner : member.value.members) {
      if (inner.name != "rule") {
        PD_TRY(read_member(inner, "egress.", PathRules{.home = home_}, text.values));
        continue;
      }
      text.egress_rules = PD_TRY(policy::read_egress_rules(inner, tier_));
    }
    return {};
  }

  Result<std::vector<model::Credential>> read_credentials(const RawMember& member) const {
    if (tier_.kind != TierKind::project) return policy::read_credentials(member, tier_);
    return refused(Code::permission_denied, member, kCredential,
                   "a project cannot say which secrets are sent where")
        .set_remedy("write it in the user policy");
  }

  Result<std::vector<Assignment>> read_bounds(const RawMember& member) const {
    if (tier_.kind != TierKind::admin) {
      return refused(Code::permission_denied, member, kBounds,
                     "only the admin policy can set bounds");
    }
    if (member.value.type != RawType::table) return not_a_table(member, kBounds);
    PathRules rules{.home = home_, .whole_tree = WholeTree::allow};
    std::vector<Assignment> bounds;
    for (const RawMember& inner : member.value.members) {
      PD_TRY(read_member(inner, "", rules, bounds));
    }
    for (const Assignment& bound : bounds) {
      if (can_have_bound(*bound.setting)) continue;
      RawMember at{.name = {}, .line = bound.line, .value = {}};
      return refused(Code::invalid_argument, at, fmt::format("bounds.{}", bound.setting->key),
                     "cannot have a bound; set the value itself, which later tiers cannot widen");
    }
    return bounds;
  }

  Result<std::map<std::string, std::vector<Assignment>>> read_profiles(
      const RawMember& member) const {
    if (tier_.kind == TierKind::project) {
      return refused(Code::permission_denied, member, kProfilesTable,
                     "a project cannot define profiles");
    }
    if (member.value.type != RawType::table) return not_a_table(member, kProfilesTable);
    std::map<std::string, std::vector<Assignment>> profiles;
    for (const RawMember& profile : member.value.members) {
      profiles[profile.name] = PD_TRY(read_profile(profile));
    }
    return profiles;
  }

  Result<std::vector<Assignment>> read_profile(const RawMember& profile) const {
    std::string name = fmt::format("{}.{}", kProfilesTable, profile.name);
    if (profile.value.type != RawType::table) return not_a_table(profile, name);
    std::vector<Assignment> values;
    for (const RawMember& inner : profile.value.members) {
      PD_TRY(read_member(inner, "", PathRules{.home = home_}, values));
      if (values.empty() || values.back().setting->order != Order::of_its_parts) continue;
      return refused(Code::invalid_argument, inner, name, "a profile cannot name another");
    }
    return values;
  }

  const Tier& tier_;
  const std::string& home_;
};

}  // namespace

std::string describe(const Origin& origin) {
  std::string place = printable(origin.path);
  if (origin.line > 0) place += fmt::format(":{}", origin.line);
  std::string_view tier = name_of(kTierNames, origin.tier);
  std::string text = origin.tier == TierKind::flag ? fmt::format("flag {}", place)
                     : place.empty()               ? fmt::format("{} policy", tier)
                                                   : fmt::format("{} policy {}", tier, place);
  if (origin.profile.empty()) return text;
  return fmt::format("profile {} of {}", printable(origin.profile), text);
}

Result<PolicyText> read_policy(const Tier& tier, const std::string& home) {
  RawValue document = PD_TRY(parse_toml(tier.text, tier.path));
  return Reader(tier, home).read(document);
}

}  // namespace paddock::policy
