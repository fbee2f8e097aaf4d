// What may leave, as the agent is told before anything runs.
#pragma once

#include <vector>

#include "engine/egress_plan.h"
#include "model/ip_address.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// Redirected are the addresses that stand for names, and those that rules name. When these are more
// than the agent's table holds, every address: the gate decides on each anyway, and what it refuses
// is then a reset after the connect.
wire::Egress egress_setup(wire::Egress::Form form, const std::vector<model::Cidr>& literals);

// Whether programs' connections to every address of `block` come to the gate in a sandbox that was
// set up so.
bool is_led_to_gate(const wire::Egress& setup, const model::Cidr& block);

// Lead programs to the agent's proxy; none where connections are redirected.
Variables proxy_variables(wire::Egress::Form form);

}  // namespace paddock::engine
