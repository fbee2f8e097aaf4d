#include "view/apply/apply_journal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "view/bases/base_store.h"
#include "view/byte_codec.h"

namespace paddock::view {
namespace {

constexpr std::string_view kApplyMagic = "paddock apply 1\n";
constexpr size_t kMaxJournal = 1u << 30;
constexpr std::string_view kLock = "lock";
constexpr std::string_view kKept = "kept-";

Status unlink_file(const model::HostPath& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return Error::from_errno(errno, "removing " + printable(path.str()));
}

}  // namespace

bool JournalDir::was_cut() const {
  return sys::exists((dir_ / "intent").str()) || sys::exists((dir_ / "journal").str());
}

Result<sys::FileFd> JournalDir::lock() const {
  PD_TRY(sys::make_dirs(dir_.str(), 0700));
  Result<sys::FileFd> lock = sys::lock_path((dir_ / std::string(kLock)).str(),
                                            sys::LockMode::exclusive, sys::LockWait::no);
  if (lock.ok() || lock.error().code() != Code::failed_precondition) return lock;
  return Error(Code::failed_precondition, "another apply to this workspace is under way")
      .set_remedy("wait until it has ended");
}

Status JournalDir::write_intent(const Intent& intent) const {
  ByteWriter writer;
  writer.put_bytes(intent.bases.str());
  writer.put_bytes(intent.stage.str());
  return sys::replace_file((dir_ / "intent").str(), seal_record(kApplyMagic, writer.bytes()), 0600);
}

Result<std::optional<Intent>> JournalDir::read_intent() const {
  Result<std::string> sealed = sys::read_file((dir_ / "intent").str());
  if (!sealed.ok()) {
    if (sealed.error().code() == Code::not_found) return std::optional<Intent>();
    return std::move(sealed).error();
  }
  std::string bytes = PD_TRY(open_record(kApplyMagic, *sealed));
  ByteReader reader(bytes);
  Intent intent;
  intent.bases = model::HostPath(PD_TRY(reader.get_bytes()));
  intent.stage = model::HostPath(PD_TRY(reader.get_bytes()));
  return std::optional(std::move(intent));
}

Status JournalDir::commit(const Journal& journal) const {
  return sys::replace_file((dir_ / "journal").str(), encode_journal(journal), 0600);
}

Result<std::optional<Journal>> JournalDir::read() const {
  Result<std::string> sealed = sys::read_file((dir_ / "journal").str(), kMaxJournal);
  if (!sealed.ok()) {
    if (sealed.error().code() == Code::not_found) return std::optional<Journal>();
    return std::move(sealed).error();
  }
  std::string doing = "reading " + printable((dir_ / "journal").str());
  return std::optional(PD_TRY_CTX(doing, decode_journal(*sealed)));
}

Status JournalDir::mark_abort() const {
  return sys::replace_file((dir_ / "abort").str(), "", 0600);
}

bool JournalDir::has_abort() const {
  return sys::exists((dir_ / "abort").str());
}

Status JournalDir::remove_journal() const {
  PD_TRY(unlink_file(dir_ / "journal"));
  PD_TRY(sync());
  sys::fault_point("apply.journal_removed");
  return unlink_file(dir_ / "abort");
}

Status JournalDir::remove_leftovers() const {
  if (std::optional<Intent> intent = PD_TRY(read_intent())) {
    PD_TRY(remove_unpublished(intent->bases));
    if (!intent->stage.empty()) PD_TRY(sys::remove_tree(intent->stage.str()));
    sys::fault_point("apply.stage_removed");
  }
  sys::DirFd dir = PD_TRY(sys::open_dir(dir_.str()));
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(dir))) {
    bool stays = entry.name == kLock || entry.name.compare(0, kKept.size(), kKept) == 0;
    if (!stays) PD_TRY(sys::remove_tree_at(dir, entry.name));
  }
  return {};
}

Status JournalDir::sync() const {
  sys::DirFd dir = PD_TRY(sys::open_dir(dir_.str()));
  if (::fsync(dir.get()) == 0) return {};
  return Error::from_errno(errno, "syncing " + printable(dir_.str()));
}

}  // namespace paddock::view
