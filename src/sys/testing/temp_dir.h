// A directory that lives as long as its owner. For tests.
#pragma once

#include <cstdlib>
#include <string>

#include "sys/files.h"

namespace paddock::sys::testing {

class TempDir {
 public:
  explicit TempDir(const std::string& parent = "/tmp") : path_(parent + "/paddock-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TempDir() { (void)remove_tree(path_).ok(); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace paddock::sys::testing
