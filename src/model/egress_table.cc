#include "model/egress_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/strings.h"
#include "model/ip_address.h"

namespace paddock::model {
namespace {

constexpr size_t kMaxList = 1024;

Error refused(std::string_view key, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("{}: {}", printable(key), why));
}

// --- values
// ---------------------------------------------------------------------------------------

Result<std::string> text(std::string_view key, const PlainValue& value) {
  if (const auto* found = std::get_if<std::string>(&value.value)) return *found;
  return refused(key, "must be a string");
}

// Numbers may stand for themselves in lists of ports.
Result<std::string> text_or_number(std::string_view key, const PlainValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value.value)) return std::to_string(*number);
  return text(key, value);
}

// One text stands for a list of one. An empty list stays one: it is met by nothing.
Result<TextList> texts(std::string_view key, const PlainValue& value) {
  const auto* list = std::get_if<PlainList>(&value.value);
  if (list == nullptr) return TextList{PD_TRY(text_or_number(key, value))};
  if (list->size() > kMaxList) return refused(key, "has more than 1024 entries");
  TextList out;
  for (const PlainValue& item : *list) out.push_back(PD_TRY(text_or_number(key, item)));
  return out;
}

Result<TextLists> text_lists(std::string_view key, const PlainValue& value) {
  const auto* table = std::get_if<PlainTable>(&value.value);
  if (table == nullptr) return refused(key, "must be a table of names and values");
  TextLists out;
  for (const auto& [name, item] : *table) out[name] = PD_TRY(texts(key, item));
  return out;
}

Result<bool> flag(std::string_view key, const PlainValue& value) {
  if (const auto* found = std::get_if<bool>(&value.value)) return *found;
  return refused(key, "must be true or false");
}

Result<uint64_t> bytes(std::string_view key, const PlainValue& value) {
  const std::string given = PD_TRY(text_or_number(key, value));
  return parse_bytes(given).with_context(std::string(key));
}

Result<uint32_t> count(std::string_view key, const PlainValue& value) {
  const auto* number = std::get_if<int64_t>(&value.value);
  if (number == nullptr || *number < 0 || *number > std::numeric_limits<uint32_t>::max()) {
    return refused(key, "must be a number from 0 up");
  }
  return static_cast<uint32_t>(*number);
}

// "100/1m": at most 100 in each minute.
Result<EgressRate> rate(std::string_view key, const PlainValue& value) {
  const std::string given = PD_TRY(text(key, value));
  const size_t slash = given.find('/');
  const auto number = parse_u64(std::string_view(given).substr(0, slash));
  const auto span = slash == std::string::npos
                        ? Result<uint64_t>(refused(key, ""))
                        : parse_seconds(std::string_view(given).substr(slash + 1));
  if (!number || !span.ok() || *span == 0 || *number > std::numeric_limits<uint32_t>::max() ||
      *span > std::numeric_limits<uint32_t>::max()) {
    return refused(key, "must be a count per time, such as \"100/1m\"");
  }
  return EgressRate{static_cast<uint32_t>(*number), static_cast<uint32_t>(*span)};
}

template <typename E, size_t N>
Result<E> choice(const EnumNames<E, N>& names, std::string_view key, const PlainValue& value) {
  const std::string given = PD_TRY(text(key, value));
  if (const auto found = value_of(names, given)) return *found;
  return refused(key, fmt::format("'{}' is not {}", printable(given), list_names(names)));
}

// "env:TOKEN", "file:/path", "command:pass show x", "store:name", "agent:", "agent:SHA256:…".
Result<SecretLocation> location(std::string_view key, const PlainValue& value) {
  const std::string given = PD_TRY(text(key, value));
  const size_t colon = given.find(':');
  const std::string kind = given.substr(0, colon);
  const auto source =
      kind == "env" ? SecretSource::environment : value_of(kSecretSourceNames, kind);
  const bool is_empty = colon + 1 == given.size() && source != SecretSource::agent;
  if (colon == std::string::npos || is_empty || !source) {
    return refused(key,
                   "must be env:NAME, file:PATH, command:LINE, store:NAME or agent:FINGERPRINT");
  }
  return SecretLocation{*source, given.substr(colon + 1)};
}

// --- tables
// ---------------------------------------------------------------------------------------

template <typename T>
struct Key {
  std::string_view name;
  Status (*read)(T& into, std::string_view key, const PlainValue& value);
};

// Reads one member by one of the functions above.
template <auto Member, auto Read, typename T>
Status member(T& into, std::string_view key, const PlainValue& value) {
  into.*Member = PD_TRY(Read(key, value));
  return {};
}
template <auto Group, auto Member, auto Read, typename T>
Status grouped(T& into, std::string_view key, const PlainValue& value) {
  into.*Group.*Member = PD_TRY(Read(key, value));
  return {};
}
template <auto Member, const auto& Names, typename T>
Status chosen(T& into, std::string_view key, const PlainValue& value) {
  into.*Member = PD_TRY(choice(Names, key, value));
  return {};
}

Status read_opaque_tls(EgressRule& rule, std::string_view key, const PlainValue& value) {
  rule.opaque_tls = PD_TRY(flag(key, value)) ? OpaqueTls::accepted : OpaqueTls::refused;
  return {};
}

using R = EgressRule;
constexpr Key<R> kRuleKeys[] = {
    {"name", member<&R::name, text>},
    {"action", chosen<&R::action, kEgressActionNames>},
    {"hosts", member<&R::hosts, texts>},
    {"addresses", member<&R::addresses, texts>},
    {"shared_suffix", member<&R::shared_suffix, flag>},
    {"ports", member<&R::ports, texts>},
    {"protocol", chosen<&R::protocol, kEgressProtocolNames>},
    {"methods", grouped<&R::http, &HttpConditions::methods, texts>},
    {"paths", grouped<&R::http, &HttpConditions::paths, texts>},
    {"query", grouped<&R::http, &HttpConditions::query, text_lists>},
    {"headers", grouped<&R::http, &HttpConditions::headers, text_lists>},
    {"repositories", grouped<&R::git, &GitConditions::repositories, texts>},
    {"push", grouped<&R::git, &GitConditions::push, texts>},
    {"hold", grouped<&R::git, &GitConditions::hold, texts>},
    {"request_bytes", grouped<&R::budget, &EgressBudget::request_bytes, bytes>},
    {"response_bytes", grouped<&R::budget, &EgressBudget::response_bytes, bytes>},
    {"rate", grouped<&R::budget, &EgressBudget::rate, rate>},
    {"streams", grouped<&R::budget, &EgressBudget::streams, count>},
    {"inspect", chosen<&R::inspect, kInspectionNames>},
    {"opaque_tls", read_opaque_tls},
    {"reason", member<&R::reason, text>},
};

using C = Credential;
constexpr Key<C> kCredentialKeys[] = {
    {"name", member<&C::name, text>},        {"kind", chosen<&C::kind, kCredentialKindNames>},
    {"from", member<&C::secret, location>},  {"key_id_from", member<&C::key_id, location>},
    {"hosts", member<&C::hosts, texts>},     {"ports", member<&C::ports, texts>},
    {"methods", member<&C::methods, texts>}, {"paths", member<&C::paths, texts>},
    {"header", member<&C::header, text>},    {"form", member<&C::form, text>},
    {"user", member<&C::user, text>},        {"parameter", member<&C::parameter, text>},
    {"env", member<&C::env, text>},          {"key_id_env", member<&C::key_id_env, text>},
};

template <typename T, size_t N>
Error unknown_key(const Key<T> (&keys)[N], const std::string& name) {
  std::vector<std::string> known;
  for (const Key<T>& key : keys) known.emplace_back(key.name);
  Error error = refused(name, "is no key here");
  if (auto near = nearest(name, known)) error.set_remedy("did you mean \"" + *near + "\"?");
  return error;
}

template <typename T, size_t N>
Result<T> read_table(const Key<T> (&keys)[N], const PlainTable& table) {
  T out;
  std::vector<std::string> seen;
  for (const auto& [name, value] : table) {
    const auto* key =
        std::find_if(std::begin(keys), std::end(keys),
                     [&, &wanted = name](const Key<T>& k) { return k.name == wanted; });
    if (key == std::end(keys)) return unknown_key(keys, name);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return refused(name, "is given twice");
    seen.push_back(name);
    PD_TRY(key->read(out, name, value));
  }
  return out;
}

}  // namespace

Result<EgressRule> read_egress_rule(const PlainTable& table) {
  EgressRule rule = PD_TRY(read_table(kRuleKeys, table));
  const bool acts = std::any_of(table.begin(), table.end(),
                                [](const auto& entry) { return entry.name == "action"; });
  if (!acts)
    return refused("action", fmt::format("is missing: {}", list_names(kEgressActionNames)));
  return rule;
}

Result<Credential> read_credential(const PlainTable& table) {
  Credential credential = PD_TRY(read_table(kCredentialKeys, table));
  if (credential.name.empty()) return refused("name", "is missing");
  const bool is_of_agent = credential.secret.source == SecretSource::agent;
  if (credential.secret.name.empty() && !is_of_agent) {
    return refused("from", "is missing: env:NAME, file:PATH, command:LINE, store:NAME or agent:");
  }
  return credential;
}

Result<EgressRule> read_allow_flag(std::string_view given) {
  const size_t bracket = given.find(']');
  const size_t colon = given.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = has_port ? given.substr(0, colon) : given;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  EgressRule rule;
  rule.action = EgressAction::allow;
  rule.name = given;
  if (Cidr::parse(host).ok()) {
    rule.addresses = TextList{std::string(host)};
  } else {
    rule.hosts = TextList{std::string(host)};
  }
  if (has_port) rule.ports = TextList{std::string(given.substr(colon + 1))};
  return rule;
}

}  // namespace paddock::model
