// Entropy of the kernel.
#pragma once

#include <cstddef>
#include <string>

namespace paddock::sys {

// `count` bytes of getrandom(2). The call cannot fail after boot; a failure aborts.
std::string random_bytes(size_t count);

}  // namespace paddock::sys
