// What clients are told of a file. Pure.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "api/e2b/connect.h"
#include "base/error.h"
#include "wire/files.pb.h"

namespace paddock::api::e2b {

// JSON is text: bytes of a name that are none are shown escaped.
std::string text_of(const std::string& bytes);
// As Go prints a file's mode: "-rw-r--r--", "Lrwxrwxrwx", "dtrwxrwxrwx".
std::string permissions_of(uint32_t mode);
std::string base_name(const std::string& path);
// EntryInfo of filesystem.Filesystem.
boost::json::object to_json(const wire::FileEntry& entry);
boost::json::object metadata_of(const wire::FileEntry& entry);
// An error of inside about `path`, in the words and codes that clients know.
ConnectError file_error(const Error& error, const std::string& path);

}  // namespace paddock::api::e2b
