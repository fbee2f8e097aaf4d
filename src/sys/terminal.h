// The caller's terminal.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace paddock::sys {

struct WindowSize {
  uint32_t rows = 24;
  uint32_t columns = 80;
};

bool is_terminal(int fd);
// nullopt when `fd` is no terminal or it does not know (0×0).
std::optional<WindowSize> window_size(int fd);

// Raw mode while it lives: bytes pass unchanged, keys make no signals. Restores what was before.
class RawMode {
 public:
  static Result<RawMode> enter(int fd);
  RawMode(RawMode&& other) noexcept;
  RawMode& operator=(RawMode&&) = delete;
  ~RawMode();

 private:
  RawMode(int fd, const termios& before) : fd_(fd), before_(before) {}
  int fd_;
  termios before_;
};

}  // namespace paddock::sys
