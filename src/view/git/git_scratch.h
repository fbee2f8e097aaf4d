// A bare repository for one calculation.
#pragma once

#include <string>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::view {

// How a repository names its objects; data_corrupt for a format that is not known.
enum class ObjectFormat { sha1, sha256 };
Result<ObjectFormat> object_format_of(const model::HostPath& common_dir);

// Owns a new directory below `parent` with an empty bare repository in it: no templates, no hooks,
// no configuration but what git itself writes. Removed with its owner.
class ScratchRepository {
 public:
  static Result<ScratchRepository> create(const model::HostPath& parent, ObjectFormat format);
  ScratchRepository(ScratchRepository&&) = default;
  ScratchRepository& operator=(ScratchRepository&&) = delete;
  ~ScratchRepository();

  model::HostPath git_dir() const { return directory_ / "git"; }
  // For files that are no part of the repository.
  model::HostPath file(const std::string& name) const { return directory_ / name; }

 private:
  explicit ScratchRepository(model::HostPath directory) : directory_(std::move(directory)) {}

  model::HostPath directory_;
};

}  // namespace paddock::view
