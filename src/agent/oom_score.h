// Which processes the kernel takes when memory runs out.
#pragma once

#include <string>

#include "sys/fd.h"

namespace paddock::agent {

// Commands go before the agent, which may be larger than each process of a bomb. A child cannot say
// so itself: until it executes a program it shares the agent's closed memory, and with it the
// agent's /proc files. So the agent raises its own score while it forks. Best effort: without the
// file, or with a higher score already, all stay equal.
class OomScore {
 public:
  // Opens the file; before the process is closed to inspection.
  OomScore();

  // While it lives, children inherit the higher score.
  class Raised {
   public:
    explicit Raised(const OomScore& score) : score_(score) { score_.write(kOfCommands); }
    ~Raised() { score_.write(score_.own_); }
    Raised(const Raised&) = delete;
    Raised& operator=(const Raised&) = delete;

   private:
    const OomScore& score_;
  };

 private:
  static constexpr int kOfCommands = 200;
  void write(int value) const;

  sys::Fd file_;
  int own_ = 0;
};

}  // namespace paddock::agent
