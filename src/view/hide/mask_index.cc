#include "view/hide/mask_index.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace paddock::view {
namespace {

constexpr uint64_t kMaskMagic = 0x31786469'6b73616dull;  // "maskidx1"

struct Header {
  uint64_t magic = kMaskMagic;
  uint64_t checksum = 0;  // of the header with this field 0, and of all that follows
  uint64_t dirs = 0;
  uint64_t hidden = 0;
  uint64_t names = 0;
};

// Written and read as they lie in memory: no padding, no pointers.
template <typename T>
concept Plain = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;
static_assert(Plain<Header> && Plain<IndexedDir> && Plain<IndexedName>);

// Against torn and rotten files, not against attackers: PADDOCK_HOME is private.
uint64_t checksum(uint64_t hash, std::string_view bytes) {
  while (!bytes.empty()) {
    uint64_t word = 0;
    size_t taken = std::min(sizeof word, bytes.size());
    std::memcpy(&word, bytes.data(), taken);
    bytes.remove_prefix(taken);
    hash = (hash ^ word) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  }
  return hash;
}

uint64_t checksum(Header header, std::string_view body) {
  header.checksum = 0;
  // SAFETY: Header is Plain.
  std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
  return checksum(checksum(0x9e3779b97f4a7c15ull, head), body);
}

template <Plain T>
void append(std::string& out, const std::vector<T>& items) {
  if (items.empty()) return;
  // SAFETY: Plain types have no padding, so every byte read is initialised.
  out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
}

template <Plain T>
std::vector<T> take(std::string_view& bytes, uint64_t count) {
  std::vector<T> items(count);
  if (count != 0) std::memcpy(items.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return items;
}

bool names_in_range(const MaskIndex& index) {
  auto in_range = [&](const IndexedName& name) {
    return name.offset <= index.names.size() && name.length <= index.names.size() - name.offset;
  };
  return std::all_of(index.hidden.begin(), index.hidden.end(), in_range) &&
         std::all_of(index.dirs.begin(), index.dirs.end(), [&](const IndexedDir& dir) {
           return in_range(dir.name) && dir.first_hidden <= index.hidden.size() &&
                  dir.hidden_count <= index.hidden.size() - dir.first_hidden;
         });
}

// Each directory's descendants end within its parent's.
bool is_nested(const MaskIndex& index) {
  std::vector<uint64_t> ends;
  for (uint64_t i = 0; i < index.dirs.size(); ++i) {
    while (!ends.empty() && ends.back() == i) ends.pop_back();
    uint64_t end = i + 1 + index.dirs[i].descendants;
    if (end > index.dirs.size() || (!ends.empty() && end > ends.back())) return false;
    if (i > 0 && ends.empty()) return false;
    ends.push_back(end);
  }
  return !index.dirs.empty();
}

Error damaged() {
  return Error(Code::data_corrupt, "the index of hidden files is damaged");
}

void append_hidden(const MaskIndex& index, uint32_t dir, const std::string& prefix,
                   std::vector<std::string>& paths) {
  const IndexedDir& record = index.dirs[dir];
  if (!record.is_mirrored()) return;
  for (uint32_t i = 0; i < record.hidden_count; ++i) {
    paths.push_back(prefix + std::string(index.text(index.hidden[record.first_hidden + i])));
  }
  for (uint32_t child = dir + 1; child <= dir + record.descendants;
       child += 1 + index.dirs[child].descendants) {
    append_hidden(index, child, prefix + std::string(index.text(index.dirs[child].name)) + "/",
                  paths);
  }
}

}  // namespace

DirIdentity DirIdentity::of(const struct stat& st) {
  auto ns = [](const timespec& time) {
    return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
  };
  return {st.st_dev, st.st_ino, ns(st.st_mtim), ns(st.st_ctim)};
}

std::string encode(const MaskIndex& index) {
  Header header;
  header.dirs = index.dirs.size();
  header.hidden = index.hidden.size();
  header.names = index.names.size();
  std::string out(sizeof header, '\0');
  append(out, index.dirs);
  append(out, index.hidden);
  out += index.names;
  header.checksum = checksum(header, std::string_view(out).substr(sizeof header));
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

Result<MaskIndex> decode_mask_index(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return damaged();
  std::memcpy(&header, bytes.data(), sizeof header);
  std::string_view body = bytes.substr(sizeof header);
  bool counts_fit = header.dirs <= body.size() / sizeof(IndexedDir) &&
                    header.hidden <= body.size() / sizeof(IndexedName) &&
                    header.names <= body.size();
  if (header.magic != kMaskMagic || !counts_fit ||
      header.dirs * sizeof(IndexedDir) + header.hidden * sizeof(IndexedName) + header.names !=
          body.size()) {
    return damaged();
  }
  if (checksum(header, body) != header.checksum) return damaged();
  MaskIndex index;
  index.dirs = take<IndexedDir>(body, header.dirs);
  index.hidden = take<IndexedName>(body, header.hidden);
  index.names = body;
  if (!names_in_range(index) || !is_nested(index)) return damaged();
  return index;
}

std::vector<std::string> hidden_paths(const MaskIndex& index) {
  std::vector<std::string> paths;
  append_hidden(index, 0, "", paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace paddock::view
