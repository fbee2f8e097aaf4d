// The error of whoever breaks the rules of the stream.
#pragma once

#include <string>

#include "base/result.h"

namespace paddock::wire {

inline Error protocol_violation(const std::string& what) {
  return Error(Code::data_corrupt, "protocol violation: " + what);
}

}  // namespace paddock::wire
