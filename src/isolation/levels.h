// Which isolation levels exist, and which of them are built.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "isolation/backend.h"
#include "model/level.h"

namespace paddock::isolation {

// unsupported, with reason and remedy, for a level that is not built.
Result<std::unique_ptr<Backend>> make_backend(model::Level level);

// Every level of the vocabulary, built or not, with its controls: for `paddock doctor`. Does the
// real things; takes milliseconds to seconds.
std::vector<Probe> probe_levels();

}  // namespace paddock::isolation
