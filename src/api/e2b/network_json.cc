#include "api/e2b/network_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "api/e2b/json.h"
#include "base/strings.h"
#include "egress/http/framing.h"
#include "egress/names/host_pattern.h"
#include "model/json.h"

namespace paddock::api::e2b {
namespace {

using boost::json::array;
using boost::json::object;
using engine::HeaderRule;
using engine::NetworkRequest;
using model::EgressAction;
using model::EgressRule;

constexpr size_t kMaxEntries = 256;
constexpr size_t kMaxRuleHosts = 10;
constexpr size_t kMaxHeaders = 20;
constexpr size_t kMaxHeaderName = 64;
constexpr size_t kMaxHeaderValue = 2048;
constexpr std::string_view kEverything = "0.0.0.0/0";
constexpr std::string_view kSlot = "{secret}";
constexpr std::string_view kSecretPrefix = "${e2b.secrets.";
constexpr std::string_view kAnyPlaceholder = "${e2b.";

// That say how a message is framed or who it is for: not a client's to set.
constexpr std::array<std::string_view, 9> kReserved{
    "host", "content-length", "transfer-encoding", "connection", "upgrade",
    "te",   "trailer",        "keep-alive",        "expect"};

Error wrong_network(std::string why) {
  return Error(Code::invalid_argument, std::move(why));
}

Result<std::vector<std::string>> text_list(const object& in, std::string_view name) {
  std::vector<std::string> out;
  const auto* value = in.if_contains(name);
  if (value == nullptr || value->is_null()) return out;
  if (!value->is_array()) return wrong_network(fmt::format("'{}' must be a list", name));
  if (value->get_array().size() > kMaxEntries) {
    return wrong_network(fmt::format("'{}' has more than {} entries", name, kMaxEntries));
  }
  for (const auto& entry : value->get_array()) {
    if (!entry.is_string())
      return wrong_network(fmt::format("'{}' must be a list of strings", name));
    out.emplace_back(entry.get_string());
  }
  return out;
}

// ---- what leaves

EgressRule rule_of(EgressAction action, std::string name) {
  EgressRule rule;
  rule.name = std::move(name);
  rule.action = action;
  rule.ports = model::TextList{"*"};
  rule.origin = "the request's network";
  return rule;
}

EgressRule everything(std::string name) {
  EgressRule rule = rule_of(EgressAction::allow, std::move(name));
  rule.every_public_host = rule.every_public_address = true;
  return rule;
}

bool is_block(const std::string& entry) {
  return model::Cidr::parse(entry).ok();
}

EgressRule allow_rule(const std::string& entry) {
  const std::string name = "network.allowOut " + printable(entry);
  if (entry == kEverything) return everything(name);
  EgressRule rule = rule_of(EgressAction::allow, name);
  if (is_block(entry)) {
    rule.addresses = model::TextList{entry};
  } else {
    rule.hosts = model::TextList{entry};
    rule.shared_suffix = true;  // it only narrows what policy lets out
  }
  return rule;
}

struct Lists {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
};

Status check_lists(const Lists& lists) {
  for (const std::string& entry : lists.deny) {
    if (!is_block(entry)) {
      return wrong_network(fmt::format("'denyOut': '{}' is no address or block", printable(entry)))
          .set_remedy("deny all by 0.0.0.0/0, and allow names by allowOut");
    }
  }
  const bool names = std::ranges::any_of(lists.allow, [](auto& entry) { return !is_block(entry); });
  const bool closed = std::ranges::find(lists.deny, kEverything) != lists.deny.end();
  if (names && !closed) {
    return wrong_network("'allowOut' holds names, and 'denyOut' does not hold 0.0.0.0/0")
        .set_remedy(
            "add 0.0.0.0/0 to denyOut: names can only be told apart where all else is "
            "refused");
  }
  return {};
}

// What is allowed comes before what is denied. Where everything is denied no rule says so: a rule
// against all addresses would hold for those that allowed names lead to.
std::vector<EgressRule> narrowing_of(Lists lists) {
  std::ranges::sort(lists.allow);
  lists.allow.erase(std::unique(lists.allow.begin(), lists.allow.end()), lists.allow.end());
  std::ranges::sort(lists.deny);
  lists.deny.erase(std::unique(lists.deny.begin(), lists.deny.end()), lists.deny.end());
  std::vector<EgressRule> rules;
  for (const std::string& entry : lists.allow) rules.push_back(allow_rule(entry));
  if (std::ranges::find(lists.deny, kEverything) != lists.deny.end()) return rules;
  for (const std::string& entry : lists.deny) {
    rules.push_back(rule_of(EgressAction::deny, "network.denyOut " + printable(entry)));
    rules.back().addresses = model::TextList{entry};
    rules.back().reason = "the sandbox's network.denyOut refuses it";
  }
  rules.push_back(everything("network: all else"));
  return rules;
}

// ---- headers

Status check_header(std::string_view name, std::string_view value) {
  const std::string shown = printable(std::string(name.substr(0, kMaxHeaderName)));
  if (name.size() > kMaxHeaderName || !egress::http::is_token(name)) {
    return wrong_network(fmt::format("'rules': '{}' is no name of a header", shown));
  }
  if (std::ranges::find(kReserved, egress::http::lower_case(name)) != kReserved.end()) {
    return wrong_network(fmt::format("'rules': header {} is not a rule's to set", shown));
  }
  const bool clean = std::ranges::all_of(
      value, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (value.empty() || value.size() > kMaxHeaderValue || !clean) {
    return wrong_network(
        fmt::format("'rules': the value of {} is empty, longer than {} or holds control "
                    "characters",
                    shown, kMaxHeaderValue));
  }
  return {};
}

// One secret in a value: it is what is masked in responses.
Status put_secret_in(HeaderRule& header, const SecretLookup& secrets) {
  const size_t begin = header.value.find(kAnyPlaceholder);
  if (begin == std::string::npos) {
    header.secret = egress::Secret(header.value);
    return {};
  }
  const std::string_view rest = std::string_view(header.value).substr(begin);
  const size_t end = rest.find('}');
  if (!rest.starts_with(kSecretPrefix) || end == std::string_view::npos) {
    return Error(Code::unsupported,
                 fmt::format("'rules': {} holds a placeholder that this server does not fill",
                             printable(header.name)))
        .set_remedy("use ${e2b.secrets.NAME}; workload identities are not built yet");
  }
  const std::string before = header.value.substr(0, begin);
  const std::string after(rest.substr(end + 1));
  if (after.find(kAnyPlaceholder) != std::string::npos ||
      (before + after).find(kSlot) != std::string::npos) {
    return Error(Code::unsupported,
                 fmt::format("'rules': {} holds more than one secret", printable(header.name)));
  }
  const std::string name(rest.substr(kSecretPrefix.size(), end - kSecretPrefix.size()));
  auto secret = secrets(name);
  if (!secret.ok()) {
    return wrong_network(
               fmt::format("'rules': {}: {}", printable(header.name), secret.error().describe()))
        .set_remedy("create the secret first (POST /secrets)");
  }
  header.secret = std::move(*secret);
  header.form = before + std::string(kSlot) + after;
  header.confidence = model::Confidence::secret;
  return {};
}

Status read_headers(const std::string& host, const object& rule, const SecretLookup& secrets,
                    NetworkRequest& out) {
  const auto transform = PD_TRY(object_field(rule, "transform"));
  if (!transform) return {};
  const auto headers = PD_TRY(map_field(*transform, "headers"));
  if (headers.size() > kMaxHeaders) {
    return wrong_network(
        fmt::format("'rules': more than {} headers for {}", kMaxHeaders, printable(host)));
  }
  for (const auto& [name, value] : headers) {
    PD_TRY(check_header(name, value));
    HeaderRule header{.host = host, .name = name, .value = value};
    PD_TRY(put_secret_in(header, secrets));
    out.headers.push_back(std::move(header));
  }
  return {};
}

// Sets of rules are not merged: the closest pattern alone counts. Here each counts, so two that
// cover one host cannot be told apart.
Status check_overlap(const std::vector<std::string>& hosts) {
  for (const std::string& wild : hosts) {
    if (!wild.starts_with("*.")) continue;
    for (const std::string& host : hosts) {
      if (host == wild || !host.ends_with(wild.substr(1))) continue;
      return Error(Code::unsupported, fmt::format("'rules': {} and {} cover the same hosts",
                                                  printable(wild), printable(host)));
    }
  }
  return {};
}

Status read_rules(const object& in, const SecretLookup& secrets, NetworkRequest& out) {
  const auto rules = PD_TRY(object_field(in, "rules"));
  if (!rules) return {};
  if (rules->size() > kMaxRuleHosts) {
    return wrong_network(fmt::format("'rules' names more than {} hosts", kMaxRuleHosts));
  }
  std::vector<std::string> hosts;
  for (const auto& [key, value] : *rules) {
    const std::string host = egress::http::lower_case(key);
    PD_TRY_CTX("'rules'", egress::HostPattern::parse(host, egress::SharedSuffix::refused));
    hosts.push_back(host);
    if (!value.is_array()) return wrong_network("'rules' must map hosts to lists of rules");
    if (value.get_array().size() > 1) {
      return wrong_network(fmt::format("'rules': more than one rule for {}", printable(host)));
    }
    for (const auto& rule : value.get_array()) {
      if (!rule.is_object()) return wrong_network("'rules': a rule must be an object");
      PD_TRY(read_headers(host, rule.get_object(), secrets, out));
    }
  }
  return check_overlap(hosts);
}

// ---- the whole

Status refuse_unbuilt_ways(const object& in) {
  const auto* proxy = in.if_contains("egressProxy");
  if (proxy != nullptr && !proxy->is_null()) {
    return Error(Code::unsupported, "'egressProxy': going out through a proxy is not built yet")
        .set_remedy("leave it out: what leaves goes through this host's gate");
  }
  const auto* ports = in.if_contains("httpsPorts");
  if (ports != nullptr && ports->is_array() && !ports->get_array().empty()) {
    return Error(Code::unsupported, "'httpsPorts': TLS to ports inside is not built yet")
        .set_remedy("serve plain HTTP inside");
  }
  return {};
}

Status read_egress(const object& in, std::optional<bool> internet, const SecretLookup& secrets,
                   NetworkRequest& out) {
  PD_TRY(refuse_unbuilt_ways(in));
  Lists lists{PD_TRY(text_list(in, "allowOut")), PD_TRY(text_list(in, "denyOut"))};
  if (internet == std::optional(false)) lists.deny.emplace_back(kEverything);
  PD_TRY(check_lists(lists));
  if (!lists.deny.empty()) out.narrowing = narrowing_of(std::move(lists));
  return read_rules(in, secrets, out);
}

// ---- words

// A field of ours in `network`, so that they are kept and told as what a client asked for is.
constexpr const char* kWords = "paddockRules";

Status read_words(const object& in, NetworkRequest& out) {
  const auto words = PD_TRY(object_field(in, kWords));
  if (!words) return {};
  for (const auto& [verb, name] : engine::kChangeVerbNames) {
    for (const std::string& host : PD_TRY(text_list(*words, name))) {
      PD_TRY_CTX(fmt::format("'{}'", kWords), engine::allowance_of(host));
      PD_TRY(engine::check_room(out.words, host));
      out.words[host] = verb;
    }
  }
  return {};
}

object to_json(const engine::HostWords& words) {
  object out;
  for (const auto& [verb, name] : engine::kChangeVerbNames) {
    array hosts;
    for (const auto& [host, said] : words) {
      if (said == verb) hosts.emplace_back(host);
    }
    out[name] = std::move(hosts);
  }
  return out;
}

// `asked` without what an answer must not say.
std::string shown(object asked) {
  return boost::json::serialize(asked);
}

}  // namespace

Result<NetworkRequest> network_of_create(const object& body, const SecretLookup& secrets) {
  NetworkRequest out;
  out.internet = PD_TRY(flag_field(body, "allow_internet_access"));
  const object network = PD_TRY(object_field(body, "network")).value_or(object());
  PD_TRY(read_egress(network, out.internet, secrets, out));
  PD_TRY(read_words(network, out));
  const auto open = PD_TRY(flag_field(network, "allowPublicTraffic"));
  if (open == std::optional(false)) out.traffic = engine::NetworkRequest::Traffic::with_token;
  out.host_mask = PD_TRY(text_field(network, "maskRequestHost")).value_or("");
  const bool clean =
      std::ranges::all_of(out.host_mask, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!clean || out.host_mask.size() > 255) return wrong_network("'maskRequestHost' is no host");
  if (!network.empty()) out.text = shown(network);
  return out;
}

Result<NetworkRequest> network_of_update(const object& body, const NetworkRequest& before,
                                         const SecretLookup& secrets) {
  NetworkRequest out;
  out.internet = PD_TRY(flag_field(body, "allow_internet_access"));
  PD_TRY(read_egress(body, out.internet, secrets, out));
  out.traffic = before.traffic;
  out.host_mask = before.host_mask;
  out.words = before.words;
  object asked = body;
  asked.erase("allow_internet_access");
  const object earlier = PD_TRY(parse_object(before.text));
  asked.erase(kWords);
  for (const char* kept : {"allowPublicTraffic", "maskRequestHost", kWords}) {
    if (const auto* value = earlier.if_contains(kept)) asked[kept] = *value;
  }
  if (!asked.empty()) out.text = shown(asked);
  return out;
}

Result<NetworkRequest> network_with_word(NetworkRequest before, const engine::ChangeRequest& said) {
  PD_TRY(engine::allowance_of(said.host));
  PD_TRY(engine::check_room(before.words, said.host));
  before.words[said.host] = said.verb;
  object asked;
  if (!before.text.empty()) asked = PD_TRY(parse_object(before.text));
  asked[kWords] = to_json(before.words);
  before.text = shown(std::move(asked));
  return before;
}

Result<NetworkRequest> network_of_record(const NetworkRequest& recorded,
                                         const SecretLookup& secrets) {
  object body;
  if (!recorded.text.empty()) body["network"] = PD_TRY(parse_object(recorded.text));
  if (recorded.internet) body["allow_internet_access"] = *recorded.internet;
  return network_of_create(body, secrets);
}

void add_network(object& detail, const engine::LiveSandbox& sandbox) {
  const NetworkRequest& asked = sandbox.network();
  detail["allowInternetAccess"] = nullptr;
  if (asked.internet) detail["allowInternetAccess"] = *asked.internet;
  if (!asked.text.empty()) {
    if (auto network = parse_object(asked.text); network.ok()) detail["network"] = *network;
  }
  // Ours: what was asked for is let out only as far as this goes.
  object egress;
  array granted, denials;
  for (const std::string& line : sandbox.setup().egress) granted.emplace_back(line);
  for (const model::Denial& denial : sandbox.denials()) denials.push_back(model::to_json(denial));
  egress["granted"] = std::move(granted);
  egress["denials"] = std::move(denials);
  detail["egress"] = std::move(egress);
}

}  // namespace paddock::api::e2b
