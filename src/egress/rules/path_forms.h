// The readings of a request's path. Servers decode, fold and resolve paths differently, so that one
// text names several resources: "/public/%2e%2e/admin", "/public%2f..%2fadmin",
// "/public;/../admin",
// "//admin", "/public\..\admin". A rule that grants must hold for every reading; a rule that
// refuses is met by any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::egress {

// Readings of a raw path (no query), the nearest to the text first: as written with needless
// escapes undone, decoded and resolved, the same without ";parameters", and decoded again while it
// changes. invalid_argument: not a path, or still changing after the third decoding.
Result<std::vector<std::string>> path_forms(std::string_view raw);

// %XX undone once, everywhere; a broken escape stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace paddock::egress
