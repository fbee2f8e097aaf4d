#include "engine/gate_endings.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::engine {

Result<std::shared_ptr<GateEndings>> GateEndings::make() {
  sys::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return Error::from_errno(errno, "making an eventfd");
  return std::make_shared<GateEndings>(std::move(event));
}

void GateEndings::note_aborted(wire::StreamId stream) {
  {
    std::lock_guard lock(mutex_);
    aborted_.push_back(stream);
  }
  const uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

std::vector<wire::StreamId> GateEndings::take() {
  uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  std::lock_guard lock(mutex_);
  return std::exchange(aborted_, {});
}

}  // namespace paddock::engine
