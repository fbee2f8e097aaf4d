// The conformance suite over a unix socket, in namespaces made here.
#include "namespace_agent.h"

#include "agent/testing/conformance.h"
#include "agent/testing/conformance_egress.h"
#include "agent/testing/conformance_reconnect.h"

namespace paddock::agent::testing {
namespace {

Transport in_namespaces(const char* name, Mapping mapping) {
  return {.name = name,
          .start = [mapping] { return start_in_namespaces(mapping); },
          .setup = [mapping] { return setup_in_namespaces(mapping); },
          .slowness = 1};
}

const auto kTransports = ::testing::Values(in_namespaces("SingleId", Mapping::single_id),
                                           in_namespaces("IdRange", Mapping::id_range));

INSTANTIATE_TEST_SUITE_P(Namespaces, AgentLifetime, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Namespaces, AgentReconnect, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Namespaces, AgentConformance, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Namespaces, EgressConformance, kTransports, name_of_transport);
INSTANTIATE_TEST_SUITE_P(Namespaces, ProxyConformance, kTransports, name_of_transport);

}  // namespace
}  // namespace paddock::agent::testing
