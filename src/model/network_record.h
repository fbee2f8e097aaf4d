// Everything that one command asked of the gate, in the order in which it ended: allowed, denied
// and failed. Kept with the view's step (`paddock show VIEW --network`) and in `--outcome FILE`.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/egress_event.h"

namespace paddock::model {

struct NetworkRecord {
  std::vector<EgressEvent> events;
  uint64_t dropped = 0;  // beyond the bound

  bool empty() const { return events.empty() && dropped == 0; }
};

// docs/outcome.md documents the fields.
boost::json::object to_json(const EgressEvent& event);
boost::json::object to_json(const NetworkRecord& record);

// The stored form; empty text is an empty record. data_corrupt names the field that is wrong.
std::string encode(const NetworkRecord& record);
Result<NetworkRecord> decode_network_record(std::string_view text);

}  // namespace paddock::model
