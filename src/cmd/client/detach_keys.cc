#include "cmd/client/detach_keys.h"

namespace paddock::cmd {
namespace {

constexpr char kFirst = '\x10';   // Ctrl-P
constexpr char kSecond = '\x11';  // Ctrl-Q

}  // namespace

std::string DetachKeys::pass(std::string_view typed) {
  std::string out;
  for (const char key : typed) {
    if (were_typed_) break;
    if (first_waits_ && key == kSecond) {
      were_typed_ = true;
      continue;
    }
    if (first_waits_) out += kFirst;
    first_waits_ = key == kFirst;
    if (!first_waits_) out += key;
  }
  return out;
}

}  // namespace paddock::cmd
