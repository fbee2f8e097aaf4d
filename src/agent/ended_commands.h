// Commands that have ended, kept for a host that comes back and asks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "agent/command.h"

namespace paddock::agent {

// Bounded: the one that ended first goes first. What of their output is kept is bounded, too: the
// oldest lose theirs before anything is forgotten. Lives in the agent's loop.
class EndedCommands {
 public:
  void add(uint32_t id, std::unique_ptr<Command> command);
  // Takes it out; nullptr: there is none.
  std::unique_ptr<Command> take(uint32_t id);
  bool has(uint32_t id) const { return by_id_.contains(id); }
  std::vector<const Command*> all() const;  // in the order in which they ended

 private:
  void bound();

  uint64_t last_turn_ = 0;
  std::map<uint64_t, uint32_t> by_turn_;
  struct Entry {
    uint64_t turn;
    std::unique_ptr<Command> command;
  };
  std::map<uint32_t, Entry> by_id_;
  size_t kept_bytes_ = 0;
};

}  // namespace paddock::agent
