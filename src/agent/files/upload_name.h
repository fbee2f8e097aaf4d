// Names of files that are on their way to be the content of another one. What watches show of them
// is what a write in place would have shown.
#pragma once

#include <string>
#include <string_view>

namespace paddock::agent::files {

enum class Upload {
  none,       // some other name
  to_new,     // becomes a file that was not there
  to_present  // takes a file's place
};

std::string make_upload_name(Upload upload);
Upload upload_of(std::string_view name);

}  // namespace paddock::agent::files
