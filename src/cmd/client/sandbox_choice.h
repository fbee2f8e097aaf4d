// Which sandbox of the daemon's is meant, and reading what it answers.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::cmd {

// By an id, or an unambiguous prefix of four or more. not_found, conflict.
Result<std::string> find_sandbox(const model::HostPath& home, const std::string& name);

// Of an answer that another build may have made: what is not there, or null, is empty.
std::string text_field(const boost::json::object& from, std::string_view name);
uint64_t number_field(const boost::json::object& from, std::string_view name);
std::vector<boost::json::object> list_field(const boost::json::object& from, std::string_view name);

}  // namespace paddock::cmd
