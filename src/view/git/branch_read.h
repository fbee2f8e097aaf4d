// Refs of a git directory as a view shows it: its layers over the host's. Everything in the layers
// is hostile: bounded, regular files only, no symlink followed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::view {

// One directory of the view.
struct ShownDirectory {
  const std::vector<model::HostPath>& layers;  // newest first; one may be a whiteout or opaque
  const model::HostPath& host;
};

// nullopt: the view shows no such file. data_corrupt: it is there and no regular file.
Result<std::optional<std::string>> read_shown(const ShownDirectory& directory,
                                              const std::string& path, size_t limit);

// The object id that HEAD leads to; nullopt: an unborn branch. data_corrupt for what is no ref.
Result<std::optional<std::string>> resolve_head(const ShownDirectory& git_dir,
                                                const ShownDirectory& common_dir);

bool is_object_id(const std::string& text);

}  // namespace paddock::view
