// Views of the workspaces of live sandboxes, and all others of this PADDOCK_HOME.
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"
#include "model/paths.h"
#include "net/worker.h"
#include "store/database.h"
#include "view/workspace.h"

namespace paddock::engine {

// A store of views with a connection to the database and a thread of its own: looking at a
// workspace may take long. Opened when first asked for.
class WorkspaceViews {
 public:
  explicit WorkspaceViews(model::HostPath home) : home_(std::move(home)) {}

  // Runs `use` (ViewStore& → Result) on that thread.
  template <typename F>
  auto run(net::Task& task, F use) -> decltype(use(std::declval<view::ViewStore&>())) {
    return worker_.run(task, [&]() -> decltype(use(std::declval<view::ViewStore&>())) {
      return use(*PD_TRY(open()));
    });
  }

  // Whoever holds it may let go on any thread.
  using Held = std::shared_ptr<view::OpenView>;
  Held hold(std::unique_ptr<view::OpenView> view);

  // The connection of that thread, for use on it.
  store::Database& database() { return *database_; }

 private:
  Result<view::ViewStore*> open();

  model::HostPath home_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<view::ViewStore> store_;
  net::Worker worker_;  // last: its thread uses the others
};

}  // namespace paddock::engine
