// The refs that a host says it has, before a push.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::egress::git {

using Refs = std::map<std::string, std::string>;  // ref → id

// At the start of what git-receive-pack sends, over ssh or (with its service line) over HTTP.
// nullopt: it goes on, read more. data_corrupt: it is no such list. unavailable: the host says why
// it gives none.
Result<std::optional<Refs>> parse_advertisement(std::string_view bytes);

}  // namespace paddock::egress::git
