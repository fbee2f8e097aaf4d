#include "view/apply/apply_check.h"

#include <unistd.h>

#include <utility>

#include "sys/digest.h"
#include "sys/files.h"
#include "view/bases/base_keep.h"

namespace paddock::view {
namespace {

using model::FileType;

constexpr uint64_t kMaxMerged = 16u << 20;  // what a base keeps bytes of

Verdict conflict(std::string reason) {
  return {ApplyResult::conflict, std::move(reason), {}};
}

class Check {
 public:
  Check(const Comparison& comparison, Delta& delta, TextMerger& merger)
      : comparison_(comparison), delta_(delta), merger_(merger) {}

  Result<Verdict> run() {
    if (PD_TRY(host_is_view())) return Verdict{ApplyResult::unchanged, "", {}};
    if (delta_.base == BaseOf::newer) {
      return conflict("the host changed it after the view was opened, and no base of it is known");
    }
    bool host_is_untouched = PD_TRY(host_is_base());
    if (host_is_untouched && !owned_by_us()) {
      return conflict("it belongs to another user, whom a replaced file would not belong to");
    }
    if (host_is_untouched) return Verdict{ApplyResult::applied, "", PD_TRY(as_in_view())};
    return merge();
  }

 private:
  static constexpr mode_t kModeBits = 0777;

  Result<Wanted> as_in_view() {
    Wanted wanted;
    wanted.state = delta_.after.state;
    bool regular = delta_.before.is(FileType::regular) && delta_.after.is(FileType::regular);
    // Only its mode or attributes changed: the host's own bytes stay.
    if (regular && !same_but_bytes(delta_.before.state, delta_.after.state) &&
        PD_TRY(same_bytes(delta_.before.state, delta_.after.state))) {
      wanted.content = Content::host;
    }
    return wanted;
  }

  Result<bool> host_is_view() {
    if (!same_but_bytes(delta_.host.state, delta_.after.state)) return false;
    return PD_TRY(same_bytes(delta_.host.state, delta_.after.state));
  }

  Result<bool> host_is_base() {
    if (same_identity(delta_.host, delta_.before)) return true;
    // A directory's mode is merged; here it counts that there still is one.
    bool directories = delta_.host.is(FileType::directory) && delta_.before.is(FileType::directory);
    if (directories && !delta_.after.is(FileType::directory)) return true;
    if (delta_.host.is(FileType::other)) return false;
    if (!same_but_bytes(delta_.host.state, delta_.before.state)) return false;
    return PD_TRY(same_bytes(delta_.host.state, delta_.before.state));
  }

  // Compares two of before, after and host. Unknown bytes are taken for different ones.
  Result<bool> same_bytes(model::FileState& a, model::FileState& b) {
    if (a.type != FileType::regular || b.type != FileType::regular) return true;
    if (a.size != b.size) return false;
    if (a.size == 0) return true;
    PD_TRY(read_digests());
    return !a.digest.empty() && a.digest == b.digest;
  }

  Status read_digests() {
    PD_TRY(comparison_.digest_before(delta_));
    PD_TRY(comparison_.digest_after(delta_));
    model::FileState& host = delta_.host.state;
    if (!host.digest.empty() || host.type != FileType::regular || !delta_.host.readable) return {};
    sys::FileFd fd = PD_TRY(open_regular(comparison_.stack.host(), delta_.path));
    host.digest = PD_TRY(sys::sha256_hex(fd));
    return {};
  }

  // A replaced file keeps its owner, which only root can give.
  bool owned_by_us() const {
    bool replaces = delta_.host.exists() && delta_.after.exists();
    return !replaces || ::geteuid() == 0 || delta_.host.uid == ::geteuid();
  }

  Result<Verdict> merge() {
    if (!delta_.host.exists()) {
      return conflict(delta_.before.exists() ? "the host deleted it, the view changed it"
                                             : "the host has it no more");
    }
    if (!delta_.after.exists()) return conflict("the view deleted it, the host changed it");
    if (!delta_.before.exists()) return conflict("both made it, differently");
    bool regular = all_are(FileType::regular), directory = all_are(FileType::directory);
    if (!regular && !directory) return conflict("both changed what it is");
    if (!owned_by_us()) return conflict("both changed it, and it belongs to another user");
    return PD_TRY(merge_states(regular));
  }

  bool all_are(FileType type) const {
    return delta_.before.is(type) && delta_.after.is(type) && delta_.host.is(type);
  }

  Result<Verdict> merge_states(bool regular) {
    const model::FileState& before = delta_.before.state;
    const model::FileState& host = delta_.host.state;
    const model::FileState& after = delta_.after.state;
    auto mode = merge_modes(before.mode & kModeBits, host.mode & kModeBits, after.mode & kModeBits);
    if (!mode) return conflict("both changed its mode");
    auto xattrs = merge_attributes(before.xattrs, host.xattrs, after.xattrs);
    if (!xattrs) return conflict("both changed the same attribute of it");
    Verdict verdict{ApplyResult::merged, "", Wanted{}};
    if (regular) verdict = PD_TRY(merge_bytes());
    if (!verdict.wanted) return verdict;
    verdict.wanted->state.type = after.type;
    verdict.wanted->state.mode = *mode;
    verdict.wanted->state.xattrs = std::move(*xattrs);
    bool keeps_bytes = !regular || verdict.wanted->content == Content::host;
    if (keeps_bytes && same_but_bytes(verdict.wanted->state, host))
      return Verdict{ApplyResult::unchanged, "", {}};
    return verdict;
  }

  Result<Verdict> merge_bytes() {
    Verdict verdict{ApplyResult::merged, "", Wanted{}};
    if (PD_TRY(same_bytes(delta_.before.state, delta_.after.state)) ||
        PD_TRY(same_bytes(delta_.host.state, delta_.after.state))) {
      verdict.wanted->content = Content::host;
      return verdict;
    }
    if (PD_TRY(same_bytes(delta_.host.state, delta_.before.state))) return verdict;
    bool large = delta_.host.state.size > kMaxMerged || delta_.after.state.size > kMaxMerged;
    Result<std::string> base = comparison_.before_bytes(delta_, kMaxMerged);
    if (large || !base.ok()) return conflict("both changed it, and it is too large to merge");
    std::string view = PD_TRY(comparison_.after_bytes(delta_, kMaxMerged));
    sys::FileFd fd = PD_TRY(open_regular(comparison_.stack.host(), delta_.path));
    std::string host = PD_TRY(sys::read_all(fd, kMaxMerged));
    delta_.host.state.digest = sys::sha256_hex(host);
    std::optional<std::string> merged = PD_TRY(merger_.merge({*base, host, view}));
    if (!merged) return conflict("both changed it, in the same place or not as text");
    verdict.wanted->content = Content::merged;
    verdict.wanted->merged = std::move(*merged);
    return verdict;
  }

  const Comparison& comparison_;
  Delta& delta_;
  TextMerger& merger_;
};

}  // namespace

Result<Verdict> check_delta(const Comparison& comparison, Delta& delta, TextMerger& merger) {
  return Check(comparison, delta, merger).run();
}

}  // namespace paddock::view
