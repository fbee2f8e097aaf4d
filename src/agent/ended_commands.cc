#include "agent/ended_commands.h"

#include <utility>

namespace paddock::agent {
namespace {

constexpr size_t kMaxCommands = 1024;
constexpr size_t kMaxBytes = 4u << 20;

}  // namespace

void EndedCommands::add(uint32_t id, std::unique_ptr<Command> command) {
  kept_bytes_ += command->kept_bytes();
  by_turn_.emplace(++last_turn_, id);
  by_id_.insert_or_assign(id, Entry{last_turn_, std::move(command)});
  bound();
}

void EndedCommands::bound() {
  while (by_id_.size() > kMaxCommands) (void)take(by_turn_.begin()->second);
  for (auto it = by_turn_.begin(); kept_bytes_ > kMaxBytes && it != by_turn_.end(); ++it) {
    Command& oldest = *by_id_.at(it->second).command;
    kept_bytes_ -= oldest.kept_bytes();
    oldest.drop_kept_output();
  }
}

std::unique_ptr<Command> EndedCommands::take(uint32_t id) {
  auto found = by_id_.extract(id);
  if (!found) return nullptr;
  by_turn_.erase(found.mapped().turn);
  kept_bytes_ -= found.mapped().command->kept_bytes();
  return std::move(found.mapped().command);
}

std::vector<const Command*> EndedCommands::all() const {
  std::vector<const Command*> out;
  for (const auto& [turn, id] : by_turn_) out.push_back(by_id_.at(id).command.get());
  return out;
}

}  // namespace paddock::agent
