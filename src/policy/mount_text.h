// Host paths, mount and socket grants as policy writes them. Pure: nothing is looked up on disk.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/settings.h"

namespace paddock::policy {

// A grant of "/" would give everything and is refused; as a bound it is the widest there is.
enum class WholeTree { refuse, allow };

struct PathRules {
  std::string home;  // what "~/" stands for; empty: such a path is refused
  WholeTree whole_tree = WholeTree::refuse;
};

// Absolute, or "~/…"; no "..", "." or NUL. Repeated and trailing slashes are dropped.
Result<std::string> parse_host_path(std::string_view text, const PathRules& rules);

// "SRC:DST[:ro|:rw]", read-write unless it says otherwise. Neither path can hold a colon.
Result<model::MountGrant> parse_mount(std::string_view text, const PathRules& rules);
// The canonical text, which reads back to the same grant.
std::string format_mount(const model::MountGrant& grant);

// "SRC[:DST]", the same path inside unless it says otherwise. Neither can hold a colon.
Result<model::SocketGrant> parse_socket(std::string_view text, const PathRules& rules);
// The canonical text, "SRC:DST", which reads back to the same grant.
std::string format_socket(const model::SocketGrant& grant);

// `path` is `directory` or lies below it, by name. Both normalised.
bool lies_within(std::string_view path, std::string_view directory);

// No less is given by `wide`: source and target lie within its own and the access is no wider.
bool covers(const model::MountGrant& wide, const model::MountGrant& narrow);

}  // namespace paddock::policy
