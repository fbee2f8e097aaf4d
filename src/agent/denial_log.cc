#include "agent/denial_log.h"

#include "sys/clock.h"

namespace paddock::agent {

void DenialLog::note(const Denial& denial, uint64_t count) {
  news_ = true;
  auto found = tallies_.find(denial);
  if (found == tallies_.end()) {
    if (tallies_.size() >= limit_) {
      dropped_ += count;
      return;
    }
    found = tallies_.emplace(denial, Tally{}).first;
  }
  Tally& tally = found->second;
  if (tally.unreported == 0) tally.first_ms = sys::wall_clock_ms();
  tally.unreported += count;
}

void DenialLog::note_lost(uint64_t count) {
  news_ = true;
  dropped_ += count;
}

void DenialLog::report(wire::AgentChannel& channel) {
  if (!news_) return;
  news_ = false;
  wire::ToHost message;
  wire::Denied& denied = *message.mutable_denied();
  denied.set_dropped(dropped_);
  for (auto& [denial, tally] : tallies_) {
    if (tally.unreported == 0) continue;
    denied.set_kind(denial.kind);
    denied.set_what(denial.what);
    denied.set_pid(denial.pid);
    denied.set_process(denial.process);
    denied.set_count(tally.unreported);
    denied.set_first_ms(tally.first_ms);
    (void)channel.send(message).ok();  // far below the limit on messages
    tally = {};
    dropped_reported_ = dropped_;
  }
  if (dropped_reported_ == dropped_) return;
  denied.Clear();
  denied.set_dropped(dropped_);
  (void)channel.send(message).ok();
  dropped_reported_ = dropped_;
}

}  // namespace paddock::agent
