// `paddock-agent files watch HOW PATH`; the protocol is in wire/files.proto.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::agent::files {

// Returns only when it could not begin; else the program ends with its input.
Status watch(const std::string& how, const std::string& path, const sys::Fd& input,
             const sys::Fd& output);

}  // namespace paddock::agent::files
