// What the gate says on its own threads, on its way to the one that carries connections.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "wire/frame.h"

namespace paddock::engine {

// Connections that the gate aborted. Thread-safe. Shared: the gate may outlive the carrier.
class GateEndings {
 public:
  static Result<std::shared_ptr<GateEndings>> make();

  // Readable when take() has something.
  const sys::Fd& event() const { return event_; }
  void note_aborted(wire::StreamId stream);
  std::vector<wire::StreamId> take();

  explicit GateEndings(sys::Fd event) : event_(std::move(event)) {}

 private:
  sys::Fd event_;
  std::mutex mutex_;
  std::vector<wire::StreamId> aborted_;
};

}  // namespace paddock::engine
