#include "engine/live/workspace_views.h"

#include "view/view_store.h"

namespace paddock::engine {

Result<view::ViewStore*> WorkspaceViews::open() {
  if (!database_) {
    database_ = std::make_unique<store::Database>(
        PD_TRY(store::Database::open((home_ / "paddock.db").str())));
  }
  if (!store_) store_ = PD_TRY(view::open_view_store(home_, *database_));
  return store_.get();
}

WorkspaceViews::Held WorkspaceViews::hold(std::unique_ptr<view::OpenView> view) {
  return Held(view.release(),
              [this](view::OpenView* left) { worker_.post([left] { delete left; }); });
}

}  // namespace paddock::engine
