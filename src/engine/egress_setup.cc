#include "engine/egress_setup.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "wire/egress.h"

namespace paddock::engine {
namespace {

// egress/names/synthetic.h gives out addresses of these blocks only.
constexpr const char* kSynthetic[] = {"198.18.0.0/15", "2001:2::/96"};
constexpr const char* kEverything[] = {"0.0.0.0/0", "::/0"};
// Where the agent's proxy listens (agent/network_table.h).
constexpr const char* kProxy = "127.0.0.53:54";

void add(wire::Egress& setup, const model::Cidr& block) {
  wire::AddressBlock* added = setup.add_redirected();
  added->set_address(block.base().raw());
  added->set_prefix(block.prefix());
}

template <size_t N>
void add_all(wire::Egress& setup, const char* const (&blocks)[N]) {
  for (const char* text : blocks) add(setup, model::Cidr::parse(text).value());
}

}  // namespace

wire::Egress egress_setup(wire::Egress::Form form, const std::vector<model::Cidr>& literals) {
  wire::Egress setup;
  setup.set_form(form);
  if (form == wire::Egress::PROXY) return setup;
  const bool all = std::any_of(literals.begin(), literals.end(),
                               [](const model::Cidr& block) { return block.prefix() == 0; });
  if (all || literals.size() + std::size(kSynthetic) > wire::kMaxRedirected) {
    add_all(setup, kEverything);
    return setup;
  }
  add_all(setup, kSynthetic);
  for (const model::Cidr& block : literals) add(setup, block);
  return setup;
}

bool is_led_to_gate(const wire::Egress& setup, const model::Cidr& block) {
  if (setup.form() == wire::Egress::PROXY) return true;
  return std::any_of(
      setup.redirected().begin(), setup.redirected().end(), [&](const wire::AddressBlock& led) {
        const auto base = model::IpAddress::from_bytes(led.address());
        return base.ok() && led.prefix() <= block.prefix() &&
               model::Cidr::of(*base, static_cast<uint8_t>(led.prefix())).contains(block.base());
      });
}

Variables proxy_variables(wire::Egress::Form form) {
  if (form != wire::Egress::PROXY) return {};
  Variables variables;
  for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}) {
    variables.emplace_back(name, std::string("http://") + kProxy);
  }
  for (const char* name : {"all_proxy", "ALL_PROXY"}) {
    variables.emplace_back(name, std::string("socks5h://") + kProxy);
  }
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    variables.emplace_back(name, "localhost,127.0.0.0/8,::1");
  }
  return variables;
}

}  // namespace paddock::engine
