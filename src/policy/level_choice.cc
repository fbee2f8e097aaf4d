#include "policy/level_choice.h"

#include <fmt/core.h>

#include <algorithm>

namespace paddock::policy {
namespace {

using model::Level;
using model::Trust;

Level accepted_level(const model::Settings& settings, Trust trust) {
  auto found = settings.accept.find(trust);
  bool can_accept = trust != Trust::hostile && found != settings.accept.end();
  return can_accept ? found->second : model::required_level(trust);
}

std::string remedy_for(Level level, Trust trust) {
  if (trust == Trust::hostile) {
    return "hostile code is never accepted below what it requires; ask for that level, or state a "
           "better trust if you know the code";
  }
  return fmt::format(
      "ask for a stronger level, or accept it in the user or admin policy: "
      "accept.{} = \"{}\"",
      name_of(model::kTrustNames, trust), name_of(model::kLevelNames, level));
}

}  // namespace

Level weakest_level(const model::Settings& settings, Trust trust) {
  Level floor = accepted_level(settings, trust);
  for (const auto& row : model::kTrustNames) {
    if (row.value < trust) floor = std::max(floor, accepted_level(settings, row.value));
  }
  return floor;
}

Result<LevelChoice> resolve_level(const model::Settings& settings) {
  Level required = model::required_level(settings.trust);
  Level floor = weakest_level(settings, settings.trust);
  LevelChoice choice{.level = settings.level.value_or(floor)};
  if (choice.level < floor) {
    return Error(Code::permission_denied,
                 fmt::format("level {} is weaker than {}, the least that policy gives to {} code",
                             name_of(model::kLevelNames, choice.level),
                             name_of(model::kLevelNames, floor),
                             name_of(model::kTrustNames, settings.trust)))
        .set_remedy(remedy_for(choice.level, settings.trust));
  }
  if (choice.level < required) choice.accepted_by = settings.accepted_by;
  return choice;
}

}  // namespace paddock::policy
