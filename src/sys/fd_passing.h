// Descriptors over a SOCK_SEQPACKET socket, one with each record.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Sends one byte and a copy of `fd`. Async-signal-safe: -1 and errno on failure.
int raw_send_fd(int socket, int fd);

struct Record {
  size_t size = 0;  // 0: the other side is gone
  Fd fd;            // not open when none came
};

// Waits for a record, of which at most `capacity` bytes are put into `buffer`.
Result<Record> receive_record(const Fd& socket, void* buffer, size_t capacity);

}  // namespace paddock::sys
