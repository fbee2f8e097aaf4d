#include "cpio.h"

#include <sys/stat.h>

#include <array>
#include <cstdio>

namespace paddock::agent::testing {

void CpioArchive::add(std::string_view name, uint32_t mode, std::string_view bytes) {
  // Magic, then inode mode uid gid links mtime size device(2) rdevice(2) name-length checksum.
  std::array<char, 128> head{};
  std::snprintf(head.data(), head.size(),
                "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", inode_++, mode, 0u,
                0u, 1u, 0u, static_cast<unsigned>(bytes.size()), 0u, 0u, 0u, 0u,
                static_cast<unsigned>(name.size() + 1), 0u);
  auto pad = [&] { bytes_.append((4 - bytes_.size() % 4) % 4, '\0'); };
  bytes_.append(head.data()).append(name).push_back('\0');
  pad();
  bytes_.append(bytes);
  pad();
}

void CpioArchive::add_dir(std::string_view name, uint32_t permissions) {
  add(name, S_IFDIR | permissions, {});
}

void CpioArchive::add_file(std::string_view name, uint32_t permissions, std::string_view bytes) {
  add(name, S_IFREG | permissions, bytes);
}

void CpioArchive::add_link(std::string_view name, std::string_view target) {
  add(name, S_IFLNK | 0777, target);
}

std::string CpioArchive::take() {
  add("TRAILER!!!", 0, {});
  return std::move(bytes_);
}

}  // namespace paddock::agent::testing
