// A view whose trees are really mounted, by util-linux in namespaces of its own, with the options
// that sandboxes use.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "model/paths.h"
#include "store/database.h"
#include "sys/testing/temp_dir.h"
#include "view/view_store.h"

namespace paddock::view::testing {

struct Said {
  int exit_code = -1;
  std::string out;  // both streams
};

// The guard that the tests are about, and its absence.
enum class MaskLayer { mounted, left_out };

class OverlayTest : public ::testing::Test {
 protected:
  OverlayTest();
  void SetUp() override;

  const std::string& root() const { return root_; }
  model::HostPath workspace() const { return model::HostPath(root_ + "/ws"); }
  ViewStore& store() { return *store_; }
  OpenOptions options() const;
  // A file of the host, relative to root(), with its directories.
  void write(const std::string& path, const std::string& text);
  std::string read(const std::string& path) const;

  // Mounts the trees of `view` at their own paths and runs `script` by sh in the workspace, seen by
  // nobody else. For the user: as root of a user namespace.
  Said run(const OpenView& view, const std::string& script, MaskLayer mask = MaskLayer::mounted);
  // The same, which must succeed.
  std::string output_of(const OpenView& view, const std::string& script,
                        MaskLayer mask = MaskLayer::mounted);

  // One command in a view: the new view of the workspace, or the next step of `id`.
  model::ViewId step(const std::string& script);
  void step(const model::ViewId& id, const std::string& script);

 private:
  sys::testing::TempDir dir_;
  std::string root_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<ViewStore> store_;
};

}  // namespace paddock::view::testing
