// Whatever alias of a denied host is asked for, it is denied; and no text makes two names of one.
#include <arpa/inet.h>

#include <algorithm>

#include "base/testing/fuzz.h"
#include "egress/rules/policy.h"

namespace paddock::egress {
namespace {

using testing::require;

std::shared_ptr<const Policy> open_but_for_evil() {
  model::EgressRule evil;
  evil.hosts = model::TextList{"evil.example", "*.evil.example"};
  model::EgressRule numbers;
  numbers.addresses = model::TextList{"9.9.9.9"};
  model::EgressRule open;
  open.action = model::EgressAction::allow;
  open.every_public_host = true;
  open.ports = model::TextList{"*"};
  model::EgressRule block;
  block.action = model::EgressAction::allow;
  block.addresses = model::TextList{"9.9.9.0/24"};
  block.ports = model::TextList{"*"};
  return Policy::compile({{{evil, numbers, open, block}}}).value();
}

// As a resolver compares names, whatever else stands around it: in any case, the root's dot aside.
bool resolvers_see_evil(std::string text) {
  text = text.substr(0, text.find('\0'));
  while (text.ends_with('.')) text.pop_back();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "evil.example" || text.ends_with(".evil.example");
}

// As inet_aton(3), which many programs and resolvers ask first.
bool reads_as_number(const std::string& text) {
  in_addr ignored{};
  return inet_aton(text.c_str(), &ignored) != 0;
}

void check(const std::string& text) {
  static const std::shared_ptr<const Policy> policy = open_but_for_evil();
  auto host = parse_host(text);
  if (!host.ok()) return;
  require(parse_host(to_string(*host)).value() == *host);
  const Verdict verdict = policy->decide({*host, 443}, {});
  const bool allowed = verdict.answer == Answer::allow;
  if (const auto* name = std::get_if<HostName>(&*host)) {
    require(!reads_as_number(text) && !reads_as_number(name->str()));
    require(allowed == (policy->resolve(*name).answer == Answer::allow));
    require(allowed != resolvers_see_evil(text));
  } else {
    require(allowed == (to_string(*host).starts_with("9.9.9.") && to_string(*host) != "9.9.9.9"));
  }
}

}  // namespace
}  // namespace paddock::egress

PD_FUZZ_TARGET(policy) {
  paddock::egress::check(std::string(bytes));
  if (auto authority = paddock::egress::parse_authority(bytes); authority.ok()) {
    paddock::egress::check(to_string(authority->host));
  }
}
