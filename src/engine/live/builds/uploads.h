// Archives that clients sent for COPY steps, below PADDOCK_HOME/uploads: a directory for each
// owner, a file for each hash. Nothing of them is unpacked here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/owner.h"
#include "model/paths.h"
#include "net/worker.h"
#include "sys/fd.h"

namespace paddock::engine {

struct UploadsOptions {
  uint64_t max_bytes = 1u << 30;  // of one; an owner's together may have four times as many
};

struct UploadName {
  model::Owner owner;
  std::string hash;  // is_files_hash(): what the client says that it is of
};

// Used on the loop's thread; what blocks runs on a thread of its own. One daemon at a time has the
// directory.
class Uploads {
 public:
  Uploads(const model::HostPath& home, UploadsOptions options)
      : directory_(home / "uploads"), options_(options) {}

  // Before anything else. Removes halves, and what nobody sent lately. Blocks.
  Status open();

  bool has(net::Task& task, const UploadName& name);
  uint64_t max_bytes() const { return options_.max_bytes; }

  // One on its way in; removed unless it is committed.
  class Writing {
   public:
    ~Writing();
    Status add(net::Task& task, std::string_view bytes);
    // From now on it is there, in the place of an earlier one.
    Status commit(net::Task& task);

   private:
    friend class Uploads;
    Writing(Uploads& uploads, model::HostPath to, uint64_t bytes)
        : uploads_(uploads), to_(std::move(to)), bytes_(bytes) {}

    Uploads& uploads_;
    model::HostPath to_;
    std::string temporary_;
    sys::FileFd file_;
    uint64_t bytes_;
  };
  // resource_exhausted: longer than one may be, or too many on their way. Older ones of the owner
  // go where there is no room for it.
  Result<std::unique_ptr<Writing>> begin(net::Task& task, const UploadName& name, uint64_t bytes);
  // not_found: it was not sent, or long ago.
  Result<sys::FileFd> read(net::Task& task, const UploadName& name);
  // The next piece of one that was opened by read(); empty at its end.
  Result<std::string> next_piece(net::Task& task, const sys::FileFd& file);

 private:
  model::HostPath directory_of(const model::Owner& owner) const;
  Status make_room(const model::HostPath& directory, uint64_t bytes) const;

  model::HostPath directory_;
  UploadsOptions options_;
  std::map<std::string, uint64_t> coming_;  // bytes on their way, by directory
  net::Worker worker_;
};

}  // namespace paddock::engine
