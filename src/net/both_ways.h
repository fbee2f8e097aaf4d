// Two coroutines that carry the two directions of a connection; for units of this folder.
#pragma once

#include <utility>

#include "net/event.h"
#include "net/stream.h"

namespace paddock::net {

// Runs `forth` here and `back` in a coroutine of its own, until both ended. When one fails both
// streams are aborted.
template <typename Forth, typename Back>
Status both_ways(Task& task, Stream& a, Stream& b, Forth forth, Back back) {
  const auto give_up = [&] {
    a.abort();
    b.abort();
  };
  Event done(loop_of(task));
  Status other_status;
  // The other coroutine ends before this frame does, so it may refer to it.
  loop_of(task).spawn([&](Task& other) {
    other_status = back(other);
    if (!other_status.ok()) give_up();
    done.set();
  });
  Status status = forth(task);
  if (!status.ok()) give_up();
  done.wait_surely(task);
  return status.ok() ? std::move(other_status) : std::move(status);
}

}  // namespace paddock::net
