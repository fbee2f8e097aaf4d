// The keys by which one leaves a command that goes on: Ctrl-P Ctrl-Q, as docker has them.
#pragma once

#include <string>
#include <string_view>

namespace paddock::cmd {

// What is typed, on its way to the command. Pure.
class DetachKeys {
 public:
  // Which of `typed` is for the command. A Ctrl-P waits for what follows it.
  std::string pass(std::string_view typed);
  // Both were typed, one behind the other: nothing goes to the command any more.
  bool were_typed() const { return were_typed_; }

 private:
  bool first_waits_ = false;
  bool were_typed_ = false;
};

}  // namespace paddock::cmd
