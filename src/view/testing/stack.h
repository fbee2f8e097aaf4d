// A stack of layers on disk, below a temporary directory. For tests.
#pragma once

#include <string>

#include "sys/clock.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "view/changes.h"
#include "view/testing/tree.h"

namespace paddock::view::testing {

// Owns the directory that holds host, layers, bases and journal.
class StackOnDisk {
 public:
  explicit StackOnDisk(const Tree& host = {}, const std::string& parent = "/tmp") : tmp_(parent) {
    write_tree(host_dir(), host);
    stack.host = model::HostPath(host_dir());
    stack.bases = model::HostPath(tmp_.path() + "/base");
    stack.opened_ns = sys::wall_clock_ns() + kLater;
  }

  std::string host_dir() const { return tmp_.path() + "/host"; }
  std::string path(const std::string& name) const { return tmp_.path() + "/" + name; }
  std::string in_host(const std::string& name) const { return host_dir() + "/" + name; }
  Tree host() const { return read_tree(host_dir()); }

  // An empty layer on top; returns its directory.
  std::string add_layer() {
    std::string dir = tmp_.path() + "/layer" + std::to_string(stack.layers.size());
    (void)sys::make_dir(dir, 0755).ok();
    stack.layers.insert(stack.layers.begin(), model::HostPath(dir));
    return dir;
  }
  std::string add_layer(const Tree& tree) {
    std::string dir = add_layer();
    write_tree(dir, tree);
    return dir;
  }
  // What the host changes from now on is newer than the view.
  void close_the_past() { stack.opened_ns = sys::wall_clock_ns(); }

  LayerStack stack;

 private:
  // Tests write both sides within one tick of the clock that stamps files.
  static constexpr int64_t kLater = 3'600'000'000'000;

  sys::testing::TempDir tmp_;
};

}  // namespace paddock::view::testing
