#include "view/bases/base_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "view/bases/base_format.h"
#include "view/bases/base_segments.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

Result<std::string> read_at(const sys::FileFd& fd, uint64_t at, uint64_t size) {
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    ssize_t n = ::pread(fd.get(), bytes.data() + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno(errno, "reading a base segment");
    if (n == 0) return Error(Code::data_corrupt, "the base segment ends early");
    done += static_cast<size_t>(n);
  }
  return bytes;
}

Result<std::string> read_index(const sys::FileFd& fd, const SegmentHeader& header) {
  off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < 0 || header.index_at > static_cast<uint64_t>(size) ||
      header.index_size > static_cast<uint64_t>(size) - header.index_at) {
    return Error(Code::data_corrupt, "the index lies outside of the base segment");
  }
  std::string index = PD_TRY(read_at(fd, header.index_at, header.index_size));
  if (sys::sha256_hex(index) == header.index_digest) return index;
  return Error(Code::data_corrupt, "the index of the base segment does not match its checksum");
}

}  // namespace

Result<Bases> Bases::load(const model::HostPath& dir) {
  Bases bases;
  for (const std::string& name : PD_TRY(list_segments(dir))) {
    std::string doing = "reading " + printable((dir / name).str());
    sys::FileFd fd = PD_TRY(sys::open_file((dir / name).str(), O_RDONLY | O_NOFOLLOW));
    std::string page = PD_TRY_CTX(doing, read_at(fd, 0, kSegmentPage));
    SegmentHeader header = PD_TRY_CTX(doing, decode_header(page));
    if (header.role == SegmentRole::replace) bases.records_.clear();
    std::string index = PD_TRY_CTX(doing, read_index(fd, header));
    for (auto& [path, record] : PD_TRY_CTX(doing, decode_index(index))) {
      record.segment = bases.segments_.size();
      bases.records_[path] = std::move(record);
    }
    bases.segments_.push_back(std::move(fd));
  }
  return bases;
}

const BaseRecord* Bases::find(const std::string& path) const {
  auto found = records_.find(path);
  return found == records_.end() ? nullptr : &found->second;
}

bool Bases::implies_absent(const std::string& path) const {
  for (std::string above = parent_of(path); !above.empty(); above = parent_of(above)) {
    const BaseRecord* record = find(above);
    if (record != nullptr) {
      return record->kind == BaseKind::state && !record->object.is(model::FileType::directory);
    }
  }
  return false;
}

Result<std::string> Bases::read_blob(const BaseRecord& record, uint64_t limit) const {
  if (record.object.state.size > limit) {
    return Error(Code::resource_exhausted, fmt::format("more than {} bytes", limit));
  }
  return read_at(segments_[record.segment], *record.blob_at, record.object.state.size);
}

}  // namespace paddock::view
