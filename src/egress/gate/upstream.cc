#include "egress/gate/upstream.h"

#include <fmt/core.h>

#include "egress/names/address_class.h"

namespace paddock::egress {
namespace {

using model::IpAddress;

constexpr std::chrono::milliseconds kPatienceWithLast{15000};   // with the last address
constexpr std::chrono::milliseconds kPatienceWithOthers{3000};  // while there are others to try
constexpr size_t kMaxTried = 6;

Error refused(const Target& target, const IpAddress& address, std::string_view why) {
  const bool named = std::holds_alternative<HostName>(target.host);
  const std::string what =
      named ? fmt::format("{} resolves to {}", to_string(target.host), address.str())
            : address.str();
  return Error(Code::permission_denied, fmt::format("{}: {}", what, why))
      .set_remedy("an admin rule may name this exact address");
}

}  // namespace

Status Dialler::check(const Target& target, const IpAddress& address, const Policy& policy) {
  // A rule against the address holds for every name that leads to it.
  if (auto refusal = policy.refusal_of(Host(address), target.port)) {
    return refused(target, address, refusal->reason);
  }
  // What is not public, and the host's own even where a block of public ones holds it, must be
  // named by the administrator, alone.
  if (policy.names_exactly(target, address)) return {};
  const AddressClass kind = classify(address);
  if (kind != AddressClass::global) {
    return refused(target, address, fmt::format("a {} address", name_of(kAddressClassNames, kind)));
  }
  if (own_.contains(address)) return refused(target, address, "an address of this host");
  return {};
}

Result<std::vector<IpAddress>> Dialler::addresses_of(net::Task& task, const Target& target,
                                                     const Policy& policy) {
  std::vector<IpAddress> all;
  if (const auto* name = std::get_if<HostName>(&target.host)) {
    all = PD_TRY(resolver_->resolve(task, name->str()));
  } else {
    all.push_back(std::get<IpAddress>(target.host));
  }
  std::vector<IpAddress> allowed;
  Status last = Error(Code::not_found, "resolving " + to_string(target.host) + ": no address");
  for (const IpAddress& address : all) {
    Status checked = check(target, address, policy);
    if (checked.ok()) {
      allowed.push_back(address);
    } else {
      last = std::move(checked);
    }
  }
  if (allowed.empty()) return std::move(last).error();
  if (allowed.size() > kMaxTried) allowed.resize(kMaxTried);
  return allowed;
}

Result<Upstream> Dialler::dial(net::Task& task, const Target& target, const Policy& policy) {
  const std::vector<IpAddress> addresses = PD_TRY(addresses_of(task, target, policy));
  Error last(Code::unavailable, "dialling " + to_string(target.host) + ": no address");
  for (const IpAddress& address : addresses) {
    const auto patience = address == addresses.back() ? kPatienceWithLast : kPatienceWithOthers;
    auto stream = net::dial(task, address, target.port, patience);
    if (stream.ok()) return Upstream{std::move(*stream), address};
    last = std::move(stream).error();
  }
  return last;
}

}  // namespace paddock::egress
