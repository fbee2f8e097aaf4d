#include "view/git/git_index.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace paddock::view {
namespace {

// gitformat-index(5), versions 2 to 4.
constexpr size_t kIndexHeader = 12;
constexpr size_t kObjectId = 20;
constexpr size_t kFixed = 62;  // stat data, mode, owner, size, object, flags
constexpr size_t kMode = 24, kModeLength = 4;
constexpr size_t kObject = 40;
constexpr uint16_t kExtended = 0x4000;
constexpr uint16_t kNameLengthMask = 0x0fff;
// Caches, which git makes anew when they are gone.
constexpr std::array<std::string_view, 5> kCaches{"TREE", "UNTR", "FSMN", "EOIE", "IEOT"};

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

struct IndexEntry {
  std::string_view mode, object;
  uint32_t flags = 0;  // without the name's length
  std::string path;
  bool operator==(const IndexEntry&) const = default;
};

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  // The number of entries; nullopt: no index that we read.
  std::optional<uint32_t> open() {
    if (file_.size() < kIndexHeader + kObjectId || file_.substr(0, 4) != "DIRC")
      return std::nullopt;
    version_ = big_endian(file_.substr(4, 4));
    if (version_ < 2 || version_ > 4) return std::nullopt;
    at_ = kIndexHeader;
    end_ = file_.size() - kObjectId;  // its checksum
    return big_endian(file_.substr(8, 4));
  }

  std::optional<IndexEntry> next() {
    if (end_ - at_ < kFixed) return std::nullopt;
    std::string_view fixed = file_.substr(at_, kFixed);
    IndexEntry entry;
    entry.mode = fixed.substr(kMode, kModeLength);
    entry.object = fixed.substr(kObject, kObjectId);
    auto flags = static_cast<uint16_t>(big_endian(fixed.substr(kFixed - 2)));
    entry.flags = flags & ~uint32_t{kNameLengthMask};
    size_t start = at_;
    at_ += kFixed;
    if ((flags & kExtended) != 0) {
      if (version_ < 3 || end_ - at_ < 2) return std::nullopt;
      entry.flags |= big_endian(file_.substr(at_, 2)) << 16;
      at_ += 2;
    }
    if (!read_path(start)) return std::nullopt;
    entry.path = path_;
    return entry;
  }

  // True when all that follows the entries are caches.
  bool only_caches_follow() {
    while (at_ < end_) {
      if (end_ - at_ < 8) return false;
      std::string_view name = file_.substr(at_, 4);
      uint32_t size = big_endian(file_.substr(at_ + 4, 4));
      bool is_cache = false;
      for (std::string_view cache : kCaches) is_cache = is_cache || cache == name;
      if (!is_cache || size > end_ - at_ - 8) return false;
      at_ += 8 + size;
    }
    return true;
  }

 private:
  bool read_path(size_t entry_start) {
    size_t keep = 0;
    if (version_ == 4) {
      auto drop = read_varint();
      if (!drop || *drop > path_.size()) return false;
      keep = path_.size() - *drop;
    }
    size_t nul = file_.find('\0', at_);
    if (nul == std::string_view::npos || nul >= end_) return false;
    path_.resize(keep);
    path_ += file_.substr(at_, nul - at_);
    // Versions 2 and 3 pad the entry with 1 to 8 NULs to a multiple of 8.
    at_ = version_ == 4 ? nul + 1 : entry_start + (nul - entry_start + 8) / 8 * 8;
    return at_ <= end_;
  }

  // As git's varint.c: each continuation adds one.
  std::optional<uint64_t> read_varint() {
    uint64_t value = 0;
    for (int bytes = 0; bytes < 8 && at_ < end_; ++bytes) {
      auto byte = static_cast<unsigned char>(file_[at_++]);
      value = (bytes == 0 ? 0 : (value + 1) << 7) | (byte & 0x7f);
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  std::string_view file_;
  uint32_t version_ = 0;
  size_t at_ = 0;
  size_t end_ = 0;
  std::string path_;
};

}  // namespace

bool same_git_index(std::string_view a, std::string_view b) {
  if (a == b) return true;
  Reader left(a), right(b);
  auto count = left.open();
  auto other = right.open();
  if (!count || !other || *count != *other) return false;
  for (uint32_t i = 0; i < *count; ++i) {
    auto from_left = left.next();
    auto from_right = right.next();
    if (!from_left || !from_right || *from_left != *from_right) return false;
  }
  return left.only_caches_follow() && right.only_caches_follow();
}

}  // namespace paddock::view
