// Whether two git index files say the same about the repository, without git: either may be
// anybody's.
#pragma once

#include <string_view>

namespace paddock::view {

// True when both list the same paths with the same modes, objects and flags, and differ at most in
// what git caches beside them (stat data, cached trees, untracked cache): `git status` rewrites an
// index like that. False when in doubt: another format, a split or sparse index, SHA-256 objects.
bool same_git_index(std::string_view a, std::string_view b);

}  // namespace paddock::view
