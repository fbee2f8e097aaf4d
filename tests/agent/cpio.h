// Initial RAM file systems (cpio, "newc" format). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::agent::testing {

class CpioArchive {
 public:
  void add_dir(std::string_view name, uint32_t permissions);
  void add_file(std::string_view name, uint32_t permissions, std::string_view bytes);
  void add_link(std::string_view name, std::string_view target);
  // Ends the archive.
  std::string take();

 private:
  void add(std::string_view name, uint32_t mode, std::string_view bytes);
  std::string bytes_;
  uint32_t inode_ = 1;
};

}  // namespace paddock::agent::testing
