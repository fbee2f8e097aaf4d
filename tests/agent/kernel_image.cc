#include "kernel_image.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::agent::testing {
namespace {

constexpr std::string_view kLz4Magic("\x02\x21\x4c\x18", 4);

Error corrupt(const char* what) {
  return Error(Code::data_corrupt, what);
}

uint32_t read_u32(std::string_view bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// One LZ4 block (lz4_Block_format.md), appended to `out`.
class BlockReader {
 public:
  BlockReader(std::string_view in, std::string& out) : in_(in), out_(out), begin_(out.size()) {}

  Status run() {
    while (at_ < in_.size()) {
      const auto token = static_cast<uint8_t>(in_[at_++]);
      const size_t literals = length(token >> 4);
      if (literals > in_.size() - at_) return corrupt("LZ4: literals beyond the block");
      out_.append(in_.substr(at_, literals));
      at_ += literals;
      if (at_ == in_.size()) return {};  // the last sequence has no match
      if (at_ + 2 > in_.size()) return corrupt("LZ4: cut offset");
      const size_t offset = static_cast<uint8_t>(in_[at_]) |
                            static_cast<size_t>(static_cast<uint8_t>(in_[at_ + 1])) << 8;
      at_ += 2;
      const size_t match = length(token & 0xf) + 4;
      if (offset == 0 || offset > out_.size() - begin_) return corrupt("LZ4: offset out of range");
      for (size_t i = 0; i < match; ++i) out_.push_back(out_[out_.size() - offset]);
    }
    return {};
  }

 private:
  size_t length(size_t first) {
    size_t total = first;
    for (uint8_t more = first == 15 ? 255 : 0; more == 255 && at_ < in_.size();) {
      more = static_cast<uint8_t>(in_[at_++]);
      total += more;
    }
    return total;
  }

  std::string_view in_;
  std::string& out_;
  size_t begin_;
  size_t at_ = 0;
};

}  // namespace

Result<Kernel> find_cloud_kernel() {
  auto boot = sys::open_dir("/boot");
  std::vector<Kernel> found;
  if (boot.ok()) {
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*boot))) {
      if (!entry.name.starts_with("vmlinuz-") || !entry.name.ends_with("-cloud-amd64")) continue;
      const std::string release = entry.name.substr(8);
      found.push_back({release, "/boot/" + entry.name, "/lib/modules/" + release});
    }
  }
  if (found.empty()) {
    return Error(Code::unsupported,
                 "needs cloud-kernel: no /boot/vmlinuz-*-cloud-amd64 (package "
                 "linux-image-cloud-amd64)");
  }
  return found.back();  // list_dir() sorts
}

Result<std::string> unpack_kernel(std::string_view vmlinuz) {
  const size_t magic = vmlinuz.find(kLz4Magic);
  if (magic == std::string_view::npos) return corrupt("the kernel is not compressed by LZ4");
  std::string elf;
  std::string_view rest = vmlinuz.substr(magic + kLz4Magic.size());
  // Blocks until the rest is no block any more: the kernel's own size and other sections follow.
  while (rest.size() > 4) {
    const uint32_t size = read_u32(rest);
    if (size == 0 || size > rest.size() - 4) break;
    const size_t before = elf.size();
    if (!BlockReader(rest.substr(4, size), elf).run().ok()) {
      elf.resize(before);
      break;
    }
    rest.remove_prefix(4 + size);
  }
  if (!elf.starts_with("\x7f"
                       "ELF"))
    return corrupt("no ELF file inside of the kernel");
  return elf;
}

Result<std::vector<std::string>> order_modules(std::string_view dependencies,
                                               const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> lines;  // name → path, then what it needs
  for (const std::string& line : split(dependencies, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string path = line.substr(0, colon);
    const size_t slash = path.rfind('/') + 1;
    auto& entry = lines[path.substr(slash, path.find('.', slash) - slash)];
    entry = {path};
    for (const std::string& need : split(line.substr(colon + 1), ' ')) {
      if (!need.empty()) entry.push_back(need);
    }
  }
  std::vector<std::string> order;
  for (const std::string& name : names) {
    auto found = lines.find(name);
    if (found == lines.end()) return Error(Code::not_found, "no module " + name);
    // modules.dep lists what is needed with the deepest last.
    for (auto path = found->second.rbegin(); path != found->second.rend(); ++path) {
      if (std::ranges::find(order, *path) == order.end()) order.push_back(*path);
    }
  }
  return order;
}

}  // namespace paddock::agent::testing
