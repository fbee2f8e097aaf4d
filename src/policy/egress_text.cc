#include "policy/egress_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "model/egress_table.h"

namespace paddock::policy {
namespace {

using model::PlainList;
using model::PlainTable;
using model::PlainValue;

Result<PlainValue> plain(const RawValue& raw);

Result<PlainTable> plain_table(const RawValue& raw) {
  PlainTable table;
  for (const RawMember& member : raw.members) {
    table.push_back({member.name, PD_TRY_CTX(printable(member.name), plain(member.value))});
  }
  return table;
}

Result<PlainValue> plain_integer(const RawValue& raw) {
  const bool negative = raw.text.starts_with('-');
  const auto number = parse_u64(std::string_view(raw.text).substr(negative ? 1 : 0));
  if (!number || *number > INT64_MAX) return Error(Code::invalid_argument, "number out of range");
  const auto value = static_cast<int64_t>(*number);
  return PlainValue{negative ? -value : value};
}

Result<PlainValue> plain(const RawValue& raw) {
  switch (raw.type) {
    case RawType::string:
      return PlainValue{raw.text};
    case RawType::integer:
      return plain_integer(raw);
    case RawType::boolean:
      return PlainValue{raw.text == "true"};
    case RawType::list: {
      PlainList list;
      for (const RawValue& item : raw.items) list.push_back(PD_TRY(plain(item)));
      return PlainValue{std::move(list)};
    }
    case RawType::table:
      return PlainValue{PD_TRY(plain_table(raw))};
    case RawType::real:
    case RawType::date:
      break;
  }
  return Error(Code::invalid_argument, fmt::format("{} has no place here", describe(raw.type)));
}

// Its members are sorted by name.
uint32_t line_of(const RawValue& table, uint32_t otherwise) {
  const auto first =
      std::min_element(table.members.begin(), table.members.end(),
                       [](const RawMember& a, const RawMember& b) { return a.line < b.line; });
  return first == table.members.end() ? otherwise : first->line;
}

// Calls `read` with each table of the list and where it is written.
template <typename F>
Status each_table(const RawMember& member, const Tier& tier, std::string_view key, F read) {
  if (member.value.type != RawType::list) {
    return Error(Code::invalid_argument,
                 fmt::format("expected [[{}]], found {}", key, describe(member.value.type)));
  }
  for (const RawValue& item : member.value.items) {
    if (item.type != RawType::table) {
      return Error(Code::invalid_argument,
                   fmt::format("expected [[{}]], found {}", key, describe(item.type)));
    }
    Origin origin{.tier = tier.kind, .path = tier.path, .line = line_of(item, member.line)};
    const std::string place = describe(origin);
    const PlainTable table = PD_TRY_CTX(place, plain_table(item));
    PD_TRY_CTX(place, read(table, place));
  }
  return {};
}

void add_words(std::string& text, const std::optional<model::TextList>& list) {
  if (list) text += " " + (list->empty() ? "(nothing)" : join(*list, ","));
}

void add_lists(std::string& text, const char* what, const model::TextLists& lists) {
  for (const auto& [name, values] : lists) {
    text += fmt::format(" {} {}={}", what, name, join(values, ","));
  }
}

}  // namespace

Result<std::vector<model::EgressRule>> read_egress_rules(const RawMember& member,
                                                         const Tier& tier) {
  std::vector<model::EgressRule> rules;
  auto read = [&](const PlainTable& table, const std::string& place) -> Status {
    model::EgressRule rule = PD_TRY(model::read_egress_rule(table));
    rule.origin = place;
    if (tier.kind == TierKind::admin) rule.authority = model::EgressAuthority::admin;
    rules.push_back(std::move(rule));
    return {};
  };
  PD_TRY(each_table(member, tier, "egress.rule", read));
  return rules;
}

Result<std::vector<model::Credential>> read_credentials(const RawMember& member, const Tier& tier) {
  std::vector<model::Credential> credentials;
  auto read = [&](const PlainTable& table, const std::string& place) -> Status {
    model::Credential credential = PD_TRY(model::read_credential(table));
    credential.origin = place;
    credentials.push_back(std::move(credential));
    return {};
  };
  PD_TRY(each_table(member, tier, "credential", read));
  return credentials;
}

std::string describe(const model::EgressRule& rule) {
  std::string text(name_of(model::kEgressActionNames, rule.action));
  if (rule.every_public_host) text += " every public host";
  if (rule.every_public_address) text += " every public address";
  add_words(text, rule.hosts);
  add_words(text, rule.addresses);
  if (rule.ports) text += " ports " + join(*rule.ports, ",");
  if (rule.protocol != model::EgressProtocol::any) {
    text += fmt::format(" {}", name_of(model::kEgressProtocolNames, rule.protocol));
  }
  add_words(text, rule.http.methods);
  add_words(text, rule.http.paths);
  add_lists(text, "query", rule.http.query);
  add_lists(text, "header", rule.http.headers);
  add_words(text, rule.git.repositories);
  if (!rule.git.push.empty()) text += " push " + join(rule.git.push, ",");
  if (!rule.git.hold.empty()) text += " hold " + join(rule.git.hold, ",");
  return rule.reason.empty() ? text : text + ": " + rule.reason;
}

std::string describe(const model::Credential& credential) {
  return fmt::format("{} from {} for {}", name_of(model::kCredentialKindNames, credential.kind),
                     name_of(model::kSecretSourceNames, credential.secret.source),
                     join(credential.hosts, ","));
}

}  // namespace paddock::policy
