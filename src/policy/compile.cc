#include "policy/compile.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "policy/narrowing.h"
#include "policy/policy_text.h"
#include "policy/profiles.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

constexpr std::string_view kProfileKey = "profile";

struct Profile {
  std::vector<Assignment> values;
  Origin origin;  // line 0
};

Error beyond(const Origin& origin, const Setting& setting, std::string_view part,
             std::string_view limit) {
  return Error(Code::permission_denied, fmt::format("{}: {} = {} is wider than {}",
                                                    describe(origin), setting.key, part, limit));
}

// Folds tiers into `out_`. Used once, by one thread.
class Compiler {
 public:
  explicit Compiler(const std::string& home) : home_(home) {
    for (const Setting& setting : settings()) out_.origins[std::string(setting.key)] = {Origin{}};
  }

  Status apply_tier(const Tier& tier) {
    PolicyText text = PD_TRY(read_policy(tier, home_));
    Origin origin{.tier = tier.kind, .path = tier.path};
    PD_TRY(define_profiles(text, origin));
    begin();
    PD_TRY(apply_values(text.values, origin));
    take_egress(tier.kind, text);
    switch (tier.kind) {
      case TierKind::admin:
        return set_bounds(text.bounds, origin);
      case TierKind::project:
        return check_project();
      default:
        return check_bounds();
    }
  }

  Status apply_flags(const std::vector<FlagValue>& flags) {
    begin();
    for (const FlagValue& flag : flags) {
      if (flag.key == kProfileKey) PD_TRY(apply_flag(flag));
    }
    for (const FlagValue& flag : flags) {
      if (flag.key != kProfileKey) PD_TRY(apply_flag(flag));
    }
    PD_TRY(settle_no_egress(flags));
    return check_bounds();
  }

  Result<Compiled> finish() {
    if (out_.settings.trust == model::Trust::hostile && !out_.settings.egress.allows_nothing()) {
      return Error(Code::permission_denied, "hostile code gets no egress, and policy gives some")
          .set_remedy("--egress none");
    }
    if (out_.settings.trust == model::Trust::hostile && !out_.settings.sockets.empty()) {
      return Error(Code::permission_denied,
                   "hostile code gets no socket of the host, and policy gives some")
          .set_remedy("sockets = [] for hostile code, or another trust");
    }
    std::string key = fmt::format("accept.{}", name_of(model::kTrustNames, out_.settings.trust));
    out_.settings.accepted_by = describe(granted_by_[key]);
    return std::move(out_);
  }

 private:
  // A project refuses before everybody, and grants only what others grant too.
  void take_egress(TierKind kind, PolicyText& text) {
    model::EgressSettings& egress = out_.settings.egress;
    auto& credentials = egress.credentials;
    credentials.insert(credentials.end(), text.credentials.begin(), text.credentials.end());
    if (kind == TierKind::admin) egress.first = std::move(text.egress_rules);
    if (kind == TierKind::user) egress.rules = std::move(text.egress_rules);
    if (kind != TierKind::project) return;
    auto grants = std::stable_partition(
        text.egress_rules.begin(), text.egress_rules.end(),
        [](const auto& rule) { return rule.action == model::EgressAction::deny; });
    egress.first.insert(egress.first.begin(), text.egress_rules.begin(), grants);
    egress.narrowing.assign(grants, text.egress_rules.end());
  }

  // --egress none: whatever files say.
  Status settle_no_egress(const std::vector<FlagValue>& flags) {
    const List& presets = out_.settings.egress.presets;
    if (std::find(presets.begin(), presets.end(), "none") == presets.end()) return {};
    const auto given = std::count_if(flags.begin(), flags.end(), [](const FlagValue& flag) {
      return flag.key == "egress.presets" || flag.key == "egress.allow";
    });
    out_.settings.egress = {};
    if (given == 1) return {};
    return Error(Code::invalid_argument, "--egress none stands beside another --egress or --allow")
        .set_remedy("leave one of them out");
  }

  void begin() {
    before_ = out_;
    touched_.clear();
  }

  Status define_profiles(const PolicyText& text, const Origin& origin) {
    for (const auto& [name, values] : text.profiles) {
      auto known = profiles_.find(name);
      bool shipped = find_shipped_profile(name) != nullptr;
      if (!shipped && known == profiles_.end()) {
        profiles_[name] = Profile{values, origin};
        continue;
      }
      return Error(
                 Code::already_exists,
                 fmt::format("{}: profiles.{} is already defined by {}", describe(origin),
                             printable(name), describe(shipped ? Origin{} : known->second.origin)))
          .set_remedy("choose another name");
    }
    return {};
  }

  // The text of a shipped profile is read when somebody names it: most runs name none.
  Result<std::vector<Assignment>> find_profile(const std::string& name,
                                               const Origin& origin) const {
    auto defined = profiles_.find(name);
    if (defined != profiles_.end()) return defined->second.values;
    if (const ShippedProfile* shipped = find_shipped_profile(name)) {
      Tier tier{TierKind::shipped, name, std::string(shipped->text)};
      return PD_TRY_CTX("reading a shipped profile", read_policy(tier, home_)).values;
    }
    std::vector<std::string> names;
    for (const ShippedProfile& shipped : shipped_profiles()) names.emplace_back(shipped.name);
    for (const auto& [known, profile] : profiles_) names.push_back(known);
    return Error(Code::not_found,
                 fmt::format("{}: there is no profile '{}'", describe(origin), printable(name)))
        .set_remedy("the profiles are " + join(names, ", "));
  }

  Status apply_values(const std::vector<Assignment>& values, Origin origin) {
    for (const Assignment& assignment : values) {
      if (assignment.setting->key != kProfileKey) continue;
      origin.line = assignment.line;
      PD_TRY(apply_profile(std::get<std::string>(assignment.value), origin));
    }
    for (const Assignment& assignment : values) {
      origin.line = assignment.line;
      apply_one(*assignment.setting, assignment.value, Source::file, origin);
    }
    return {};
  }

  Status apply_profile(const std::string& name, Origin origin) {
    std::vector<Assignment> values = PD_TRY(find_profile(name, origin));
    origin.profile = name;
    for (const Assignment& assignment : values) {
      apply_one(*assignment.setting, assignment.value, Source::file, origin);
    }
    return {};
  }

  Status apply_flag(const FlagValue& flag) {
    const Setting* setting = find_setting(flag.key);
    if (setting == nullptr || setting->flag.empty()) {
      return Error(Code::invalid_argument,
                   fmt::format("'{}' cannot be given on the command line", printable(flag.key)));
    }
    Origin origin{.tier = TierKind::flag, .path = std::string(setting->flag)};
    Value value = PD_TRY_CTX(origin.path, parse_flag(*setting, flag.text, {.home = home_}));
    if (flag.key == kProfileKey) PD_TRY(apply_profile(std::get<std::string>(value), origin));
    apply_one(*setting, value, Source::flag, origin);
    return {};
  }

  void apply_one(const Setting& setting, const Value& given, Source source, const Origin& origin) {
    Value current = setting.access.get(out_.settings);
    Value merged = merge(setting, current, given, source);
    bool adds = setting.order == Order::more_entries || setting.order == Order::more_names ||
                (setting.order == Order::fewer_entries && source == Source::flag);
    std::vector<Origin>& origins = out_.origins.at(std::string(setting.key));
    if (!adds || current == Value(List{}) || current == Value(Pairs{})) origins.clear();
    origins.push_back(origin);
    setting.access.set(out_.settings, merged);
    if (origin.tier != TierKind::project) granted_by_[std::string(setting.key)] = origin;
    touched_.insert(&setting);
  }

  const Origin& latest_origin(const Setting& setting) const {
    return out_.origins.at(std::string(setting.key)).back();
  }

  // --- limits
  // ---------------------------------------------------------------------------------------

  Status set_bounds(const std::vector<Assignment>& explicit_bounds, Origin origin) {
    for (const Setting* setting : touched_) {
      if (setting->order == Order::of_its_parts) continue;
      set_bound(*setting, setting->access.get(out_.settings), latest_origin(*setting));
    }
    for (const Setting* setting : touched_) {
      const Setting* exceptions = find_setting(setting->exceptions);
      if (exceptions == nullptr || touched_.count(exceptions) != 0) continue;
      set_bound(*exceptions, exceptions->access.get(out_.settings), latest_origin(*setting));
    }
    for (const Assignment& bound : explicit_bounds) {
      origin.line = bound.line;
      PD_TRY(set_explicit_bound(bound, origin));
    }
    return {};
  }

  void set_bound(const Setting& setting, Value value, const Origin& origin) {
    out_.bounds[std::string(setting.key)] = Bound{std::move(value), origin};
  }

  Status set_explicit_bound(const Assignment& bound, const Origin& origin) {
    const Setting& setting = *bound.setting;
    Value current = setting.access.get(out_.settings);
    auto wider = wider_part(setting, current, bound.value, Coverage::within);
    if (wider && touched_.count(&setting) != 0) {
      return beyond(latest_origin(setting), setting, *wider,
                    bound_text(setting, {bound.value, origin}));
    }
    if (wider) {
      setting.access.set(out_.settings, clamp(setting, current, bound.value));
      out_.origins.at(std::string(setting.key)) = {origin};
      granted_by_[std::string(setting.key)] = origin;
    }
    set_bound(setting, bound.value, origin);
    return {};
  }

  static std::string bound_text(const Setting& setting, const Bound& bound) {
    return fmt::format("{}, the bound of {}", format_value(setting, bound.value),
                       describe(bound.origin));
  }

  Status check_bounds() const {
    for (const Setting* setting : touched_) {
      auto bound = out_.bounds.find(std::string(setting->key));
      if (bound == out_.bounds.end()) continue;
      Value value = setting->access.get(out_.settings);
      auto wider = wider_part(*setting, value, bound->second.value, Coverage::within);
      if (!wider) continue;
      return beyond(latest_origin(*setting), *setting, *wider, bound_text(*setting, bound->second))
          .set_remedy("stay within the bound, or ask who administers this machine to widen it");
    }
    return {};
  }

  Status check_project() const {
    for (const Setting* setting : touched_) {
      Value before = setting->access.get(before_.settings);
      Value after = setting->access.get(out_.settings);
      bool fixed = setting->project == ProjectTier::may_not_set && before != after;
      auto wider = wider_part(*setting, after, before, Coverage::same);
      if (!fixed && !wider) continue;
      const std::vector<Origin>& in_force = before_.origins.at(std::string(setting->key));
      std::string limit =
          fmt::format("{} ({})", format_value(*setting, before), describe(in_force.back()));
      if (wider) {
        return beyond(latest_origin(*setting), *setting, *wider, limit)
            .set_remedy("a project can only narrow; widen it in the user policy or by a flag");
      }
      return Error(
                 Code::permission_denied,
                 fmt::format("{}: {} = {} where {} is in force", describe(latest_origin(*setting)),
                             setting->key, format_value(*setting, after), limit))
          .set_remedy("a project cannot set this; set it in the user policy");
    }
    return {};
  }

  const std::string& home_;
  Compiled out_;
  Compiled before_;                   // what held when the tier began
  std::set<const Setting*> touched_;  // by the tier, in table order
  std::map<std::string, Profile> profiles_;
  std::map<std::string, Origin> granted_by_;  // a project narrows what another tier granted
};

}  // namespace

Result<Compiled> compile(const Sources& sources) {
  std::map<TierKind, const Tier*> tiers;  // in the order they speak
  for (const Tier& tier : sources.tiers) {
    bool is_file = tier.kind != TierKind::shipped && tier.kind != TierKind::flag;
    if (is_file && tiers.emplace(tier.kind, &tier).second) continue;
    return Error(Code::invalid_argument,
                 fmt::format("{} cannot be a further {} policy", printable(tier.path),
                             name_of(kTierNames, tier.kind)));
  }
  Compiler compiler(sources.home);
  for (const auto& [kind, tier] : tiers) PD_TRY(compiler.apply_tier(*tier));
  PD_TRY(compiler.apply_flags(sources.flags));
  return compiler.finish();
}

namespace {

// `beyond` says what the entry is, for the error.
Status check_entry(const Compiled& compiled, std::string_view key, const std::string& entry,
                   std::string_view beyond) {
  const Setting* setting = find_setting(key);
  auto bound = compiled.bounds.find(std::string(key));
  if (setting == nullptr || bound == compiled.bounds.end()) return {};
  auto wider = wider_part(*setting, List{entry}, bound->second.value, Coverage::within);
  if (!wider) return {};
  return Error(
      Code::permission_denied,
      fmt::format("{} {} {}, out of {}, the bound of {}", setting->key, beyond, *wider,
                  format_value(*setting, bound->second.value), describe(bound->second.origin)));
}

}  // namespace

Status check_grant(const Compiled& compiled, std::string_view key, const std::string& entry) {
  return check_entry(compiled, key, entry, "would hold");
}

Status check_resolved(const Compiled& compiled, std::string_view key, const std::string& entry) {
  return check_entry(compiled, key, entry, "leads to");
}

}  // namespace paddock::policy
