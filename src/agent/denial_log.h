// What the sandbox was refused, merged and bounded, on its way to the host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "wire/channel.h"

namespace paddock::agent {

// Keeps `limit` different records; equal ones only raise a count, and those beyond are counted as
// dropped. Not thread-safe.
class DenialLog {
 public:
  void set_limit(uint64_t limit) { limit_ = limit; }

  struct Denial {
    wire::Denied::Kind kind;
    std::string what;
    int32_t pid = 0;
    std::string process;
    auto operator<=>(const Denial&) const = default;
  };
  void note(const Denial& denial, uint64_t count);
  // Refusals of which nothing else is known: a queue in between was full.
  void note_lost(uint64_t count);

  bool has_news() const { return news_; }
  // Sends every record that changed since the last time, with its count since then.
  void report(wire::AgentChannel& channel);

 private:
  struct Tally {
    uint64_t unreported = 0;
    int64_t first_ms = 0;  // of the unreported ones
  };

  uint64_t limit_ = 0;
  std::map<Denial, Tally> tallies_;
  uint64_t dropped_ = 0;
  uint64_t dropped_reported_ = 0;
  bool news_ = false;
};

}  // namespace paddock::agent
