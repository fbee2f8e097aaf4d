// Held pushes on disk: a directory for each, with `push.json` (what it is) and `request` (commands
// and pack, as the program sent them). Mode 0700 and 0600. Bounded in number and size, so that no
// sandbox fills the disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/pushes/held_push.h"
#include "sys/fd.h"

namespace paddock::egress {

struct PushLimits {
  uint64_t bytes = 64u << 20;    // of one push
  size_t of_sandbox = 16;        // held at one time
  size_t of_installation = 128;  // held at one time; of released ones as many records are kept
};

// A push that is being written. Removed unless it is finished.
class PushWriter {
 public:
  PushWriter(PushWriter&&) noexcept = default;
  PushWriter& operator=(PushWriter&&) = delete;
  ~PushWriter();

  // resource_exhausted: more than one push may have.
  Status add(std::string_view bytes);
  // On disk for good. Once.
  Result<HeldPush> finish();

 private:
  friend class PushStore;
  PushWriter(std::string directory, std::string scratch, HeldPush about, uint64_t limit)
      : directory_(std::move(directory)),
        scratch_(std::move(scratch)),
        about_(std::move(about)),
        limit_(limit) {}

  std::string directory_;
  std::string scratch_;  // empty: moved from or finished
  HeldPush about_;
  uint64_t limit_;
  sys::FileFd file_;
};

// Safe between threads and processes: pushes appear and change as a whole.
class PushStore {
 public:
  explicit PushStore(std::string directory, PushLimits limits = {})
      : directory_(std::move(directory)), limits_(limits) {}

  // `about` gets an id and a time. resource_exhausted: too many are held already.
  Result<PushWriter> begin(HeldPush about) const;
  // One that this sandbox has pushed before in the same words, still held.
  Result<std::optional<HeldPush>> find_same(const HeldPush& about) const;

  // Oldest first.
  Result<std::vector<HeldPush>> all() const;
  // By an unambiguous prefix of four or more.
  Result<HeldPush> find(const std::string& prefix) const;
  // Held by whoever releases or drops it. failed_precondition: somebody else does.
  Result<sys::FileFd> lock(const model::PushId& id) const;
  Status save(const HeldPush& push) const;
  // The commands and the pack; not_found once it was released.
  Result<sys::FileFd> open_request(const model::PushId& id) const;
  std::string request_path(const model::PushId& id) const;
  // Keeps the record that it was released, without its bytes.
  Status forget_request(const model::PushId& id) const;
  Status remove(const model::PushId& id) const;

 private:
  std::string place_of(const model::PushId& id) const { return directory_ + "/" + id.str(); }
  Status make_room(const HeldPush& about) const;

  std::string directory_;
  PushLimits limits_;
};

}  // namespace paddock::egress
