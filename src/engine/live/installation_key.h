// The secret of this PADDOCK_HOME, from which the access tokens of its sandboxes follow.
#pragma once

#include <string>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::engine {

// 32 bytes, made on first use; its file is nobody else's to read. permission_denied: it is open to
// others. data_corrupt: it is not what was written.
Result<std::string> installation_key(const model::HostPath& home);

}  // namespace paddock::engine
