// What live sandboxes wrote, on disk: layers, one over the other, shared by snapshots and forks.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/template_settings.h"
#include "model/paths.h"
#include "store/database.h"

namespace paddock::engine {

// A layer is a directory PADDOCK_HOME/layers/<id> with `<place>/fs` for each place that was written
// to (writable_places.h) and a row that names its parent, the layer below. It is written to while
// it is the top one of a sandbox; from the moment that another layer or a snapshot names it, never
// again. Used by the thread that uses the database; one daemon at a time has the directory.
class Layers {
 public:
  Layers(const model::HostPath& home, store::Database& database)
      : directory_(home / "layers"), database_(database) {}

  model::HostPath directory_of(const std::string& id) const { return directory_ / id; }
  // Before anything else: forgets what nothing uses, and finds what is half-made or half-removed,
  // for whoever removes it. unsupported, with the remedy: the file system cannot hold what an
  // overlay writes.
  Result<std::vector<model::HostPath>> begin();

  // A place for one: a directory without a row, which begin() removes. Thread-safe.
  static Result<std::string> make_directory(const model::HostPath& home);
  // Puts it on record over `parent` (empty: nothing of ours lies below). `settings`: what is said
  // of sandboxes that are made over it (template_settings.h); empty: what the parent says.
  Status add(const std::string& id, const std::string& parent, const std::string& settings = "");
  // What the top-most of a stack says that says something.
  Result<TemplateSettings> settings_of(const std::vector<std::string>& stack);
  // `id`, then what lies below it, top first. resource_exhausted: more than an overlay takes.
  Result<std::vector<std::string>> stack_of(const std::string& id);
  // Forgets those that no living sandbox, no snapshot, no build, no done step of one and nothing in
  // `pinned` leads to. What is
  // left of them on disk, for whoever removes it.
  Result<std::vector<model::HostPath>> collect(const std::multiset<std::string>& pinned);

 private:
  model::HostPath directory_;
  store::Database& database_;
};

}  // namespace paddock::engine
