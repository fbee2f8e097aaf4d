// The contents behind a comparison's deltas.
#include <fmt/core.h>

#include "base/strings.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "view/bases/base_keep.h"
#include "view/changes/change_compare.h"

namespace paddock::view {
namespace {

Error not_kept(const std::string& path) {
  return Error(Code::failed_precondition,
               fmt::format("{}: the version that the view changed was not kept, and the host's is "
                           "another one by now",
                           printable(path)));
}

}  // namespace

Result<std::string> Comparison::before_bytes(const Delta& delta, uint64_t limit) const {
  if (!delta.before.is(model::FileType::regular)) return std::string();
  if (delta.record != nullptr && delta.record->blob_at) {
    return bases.read_blob(*delta.record, limit);
  }
  if (!delta.host.is(model::FileType::regular)) return not_kept(delta.path);
  sys::FileFd fd = PD_TRY(open_regular(stack.host(), delta.path));
  std::string bytes = PD_TRY(sys::read_all(fd, limit));
  if (same_identity(PD_TRY(examine_open(fd)), delta.before)) return bytes;
  const std::string& digest = delta.before.state.digest;
  if (!digest.empty() && sys::sha256_hex(bytes) == digest) return bytes;
  return not_kept(delta.path);
}

Result<std::string> Comparison::after_bytes(const Delta& delta, uint64_t limit) const {
  if (!delta.after.is(model::FileType::regular)) return std::string();
  sys::FileFd fd = PD_TRY(open_after(delta));
  return sys::read_all(fd, limit);
}

Status Comparison::digest_before(Delta& delta) const {
  model::FileState& before = delta.before.state;
  bool gone = !delta.host.readable || !same_identity(delta.before, delta.host);
  if (!before.digest.empty() || !delta.before.is(model::FileType::regular) || gone) return {};
  Result<sys::FileFd> host = open_regular(stack.host(), delta.path);
  if (host.ok()) before.digest = PD_TRY(sys::sha256_hex(*host));
  return {};
}

Status Comparison::digest_after(Delta& delta) const {
  model::FileState& after = delta.after.state;
  if (!after.digest.empty() || !delta.after.is(model::FileType::regular)) return {};
  sys::FileFd fd = PD_TRY(open_after(delta));
  after.digest = PD_TRY(sys::sha256_hex(fd));
  return {};
}

Result<sys::FileFd> Comparison::open_after(const Delta& delta) const {
  return open_regular(stack.layer(delta.layer), delta.path);
}

}  // namespace paddock::view
