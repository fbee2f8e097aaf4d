// The conformance suite over virtio-serial, in an emulated machine with a kernel of its own.
#include "guest_agent.h"

#include "agent/testing/conformance.h"
#include "agent/testing/conformance_egress.h"
#include "agent/testing/conformance_reconnect.h"

namespace paddock::agent::testing {
namespace {

const auto kTransports = ::testing::Values(Transport{
    .name = "Emulated", .start = start_in_guest, .setup = setup_in_guest, .slowness = 20});

INSTANTIATE_TEST_SUITE_P(Guest, AgentLifetime, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Guest, AgentConformance, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Guest, EgressConformance, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Guest, ProxyConformance, kTransports, name_of_transport);

// Whoever starts the machine keeps its port: it has no socket to come back by.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AgentReconnect);

class GuestClock : public AgentLifetime {};
INSTANTIATE_TEST_SUITE_P(Guest, GuestClock, kTransports, name_of_transport);

TEST_P(GuestClock, IsSetToTheHostsWord) {
  wire::Setup setup = default_setup();
  setup.set_wall_clock_ns(1'000'000'000'000'000'000);  // 2001-09-09
  set_up(setup);
  auto result = client_->run({"date", "+%Y-%m-%d"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "2001-09-09\n");
}

}  // namespace
}  // namespace paddock::agent::testing
