#include "view/bases/base_keep.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/clock.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "view/changes/change_object.h"

namespace paddock::view {
namespace {

constexpr uint64_t kMaxKeptFile = 16u << 20;  // bytes of one file that are copied
constexpr uint64_t kMaxSegment = 512u << 20;  // of one segment
constexpr uint64_t kMaxHashed = 4ull << 30;   // bytes read for digests, of one segment
constexpr uint64_t kMaxDeletedFile = 1u << 20;
constexpr uint64_t kMaxHashedOfDeleted = 64u << 20;

// Two ticks at the slowest rate that Linux is built with, 100 Hz.
constexpr int64_t kTicks = 20'000'000;

}  // namespace

bool same_identity(const Object& a, const Object& b) {
  return a.state.type == b.state.type && a.state.mode == b.state.mode &&
         a.state.size == b.state.size && a.ino == b.ino && a.mtime_ns == b.mtime_ns &&
         a.ctime_ns == b.ctime_ns;
}

bool may_share_times(const Object& object) {
  return std::max(object.mtime_ns, object.ctime_ns) > sys::wall_clock_ns() - kTicks;
}

Status BaseKeeper::keep(const sys::DirFd& root, const std::string& path, KeepBytes bytes,
                        BaseWriter& writer, BaseRecord& record) {
  Result<sys::FileFd> fd = open_regular(root, path);
  if (!fd.ok()) {
    int error = fd.error().errno_value();
    if (error == EACCES || error == EPERM) return {};  // the view cannot have read it either
    record.kind = BaseKind::newer;
    return {};
  }
  if (!same_identity(PD_TRY(examine_open(*fd)), record.object)) {
    record.kind = BaseKind::newer;
    return {};
  }
  PD_TRY(keep_open(*fd, bytes, writer, record));
  if (!same_identity(PD_TRY(examine_open(*fd)), record.object)) {
    record.kind = BaseKind::newer;
    record.blob_at.reset();
    record.object.state.digest.clear();
  } else if (may_share_times(record.object) && !record.object.state.digest.empty()) {
    record.object.ino = 0;  // never taken for the same by its identity, only by its digest
  }
  return {};
}

Status BaseKeeper::keep_open(const sys::Fd& fd, KeepBytes bytes, BaseWriter& writer,
                             BaseRecord& record) {
  uint64_t size = record.object.state.size;
  if (bytes == KeepBytes::yes) {
    return size <= kMaxKeptFile ? keep_small(fd, writer, record) : keep_large(fd, writer, record);
  }
  if (size > kMaxDeletedFile || hashed_of_deleted_ + size > kMaxHashedOfDeleted) return {};
  hashed_of_deleted_ += size;
  record.object.state.digest = PD_TRY(sys::sha256_hex(fd));
  return {};
}

Status BaseKeeper::keep_small(const sys::Fd& fd, BaseWriter& writer, BaseRecord& record) {
  record.blob_at = PD_TRY(writer.clone_blob(fd));
  bool shared = record.blob_at.has_value();
  Result<std::string> content = sys::read_all(fd, kMaxKeptFile);
  if (!content.ok()) {
    // It grew: the caller sees that it changed.
    if (content.error().code() == Code::resource_exhausted) return {};
    return std::move(content).error();
  }
  record.object.state.digest = sys::sha256_hex(*content);
  if (shared || stored_ + content->size() > kMaxSegment) return {};
  stored_ += content->size();
  record.blob_at = PD_TRY(writer.write_blob(*content));
  return {};
}

Status BaseKeeper::keep_large(const sys::Fd& fd, BaseWriter& writer, BaseRecord& record) {
  record.blob_at = PD_TRY(writer.clone_blob(fd));
  if (hashed_ + record.object.state.size > kMaxHashed) return {};
  hashed_ += record.object.state.size;
  record.object.state.digest = PD_TRY(sys::sha256_hex(fd));
  return {};
}

}  // namespace paddock::view
