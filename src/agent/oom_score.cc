#include "agent/oom_score.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace paddock::agent {

OomScore::OomScore() : file_(::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC)) {
  std::array<char, 16> text{};
  if (file_.is_open()) (void)!::read(file_.get(), text.data(), text.size() - 1);
  own_ = std::atoi(text.data());
  if (own_ >= kOfCommands) file_.reset();
}

void OomScore::write(int value) const {
  if (!file_.is_open()) return;
  const std::string text = std::to_string(value);
  (void)!::pwrite(file_.get(), text.data(), text.size(), 0);
}

}  // namespace paddock::agent
