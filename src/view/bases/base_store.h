// Base versions on disk: what the host had at the paths a view touches, when its commands ended.
//
// A directory of segments `<number>.base`, each written once: a page with the header, then blobs,
// each at a page of its own so that it may share blocks with the file it came from, then the index.
// A later segment's record of a path replaces an earlier one's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"
#include "sys/fd.h"
#include "view/changes/change_object.h"

namespace paddock::view {

// newer: the host's object was changed after the command began, so what the command saw is not
// known.
enum class BaseKind { state, newer };
// What else a record says of a directory: with `listed`, everything below had a record made when
// the directory was lost, so what has none came later.
enum class BaseChildren { unlisted, listed };

struct BaseRecord {
  BaseKind kind = BaseKind::state;
  BaseChildren children = BaseChildren::unlisted;
  Object object;                    // absent: the host had nothing there
  std::optional<uint64_t> blob_at;  // where the segment has its bytes, object.state.size of them
  size_t segment = 0;
};

// All records of one directory. Owns a descriptor of each segment. Immutable after load().
class Bases {
 public:
  // A missing directory holds nothing. data_corrupt when a segment is not what was written.
  static Result<Bases> load(const model::HostPath& dir);

  const BaseRecord* find(const std::string& path) const;
  // A directory above `path` is recorded as absent or as no directory.
  bool implies_absent(const std::string& path) const;
  const std::map<std::string, BaseRecord>& records() const { return records_; }
  size_t segment_count() const { return segments_.size(); }
  // Of a record with blob_at. resource_exhausted beyond `limit`.
  Result<std::string> read_blob(const BaseRecord& record, uint64_t limit) const;

 private:
  std::map<std::string, BaseRecord> records_;
  std::vector<sys::FileFd> segments_;
};

// add: on top of what is there. replace: instead of it (the older segments are removed).
enum class SegmentRole { add, replace };

// Writes one segment; nothing is visible to Bases before publish(). Destroyed without it, it
// removes what it wrote.
class BaseWriter {
 public:
  // Makes the directory when absent.
  static Result<BaseWriter> create(const model::HostPath& dir, SegmentRole role);
  BaseWriter(BaseWriter&&) = default;
  BaseWriter& operator=(BaseWriter&&) = delete;
  ~BaseWriter();

  // A blob for the record that is added next: shared blocks, or nullopt where they cannot be
  // shared.
  Result<std::optional<uint64_t>> clone_blob(const sys::Fd& from);
  Result<uint64_t> write_blob(std::string_view bytes);
  void add(const std::string& path, const BaseRecord& record);
  size_t count() const { return count_; }

  // Syncs and gives the segment its number.
  Status publish();
  // Syncs and leaves it under a name of its own, which publish_parked() or remove_parked() take.
  Result<std::string> park();

 private:
  BaseWriter(model::HostPath dir, SegmentRole role) : dir_(std::move(dir)), role_(role) {}
  Status complete();

  model::HostPath dir_;
  SegmentRole role_;
  std::string temporary_;  // name in dir_; empty when it is no longer ours to remove
  sys::FileFd fd_;
  uint64_t end_ = 0;
  uint64_t count_ = 0;
  std::string index_;
};

// Both are success when there is no such name any more: they may be repeated after a crash.
Status publish_parked(const model::HostPath& dir, const std::string& name);
Status remove_parked(const model::HostPath& dir, const std::string& name);

// Removes what killed writers left in `dir`. Nobody writes there meanwhile.
Status remove_unpublished(const model::HostPath& dir);

}  // namespace paddock::view
