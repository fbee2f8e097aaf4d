// Templates that are directories of the host: named by whoever runs the daemon, never written to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"
#include "store/database.h"

namespace paddock::engine {

struct DirectoryTemplate {
  std::string name;
  model::HostPath directory;  // canonical
  int64_t created_ms = 0;
};

// Whether sandboxes can stand on it; its canonical path. invalid_argument, permission_denied with a
// remedy: not absolute, not a directory, it holds Paddock's state or lies in it, others than root
// and the caller could change it, it has no shell.
Result<model::HostPath> check_template_directory(const std::string& path,
                                                 const model::HostPath& home);

// Table directory_template. Used by the thread that uses the database.
class DirectoryTemplates {
 public:
  explicit DirectoryTemplates(store::Database& database) : database_(database) {}

  // already_exists: the name is taken.
  Status add(const DirectoryTemplate& added);
  Result<std::vector<DirectoryTemplate>> list();  // by name
  Result<std::optional<DirectoryTemplate>> find(const std::string& name);
  Status remove(const std::string& name);

 private:
  store::Database& database_;
};

}  // namespace paddock::engine
