#include "egress/pushes/push_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "base/strings.h"
#include "model/json.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/random.h"

namespace paddock::egress {
namespace {

constexpr size_t kMaxRecord = 4u << 20;
constexpr size_t kMinPrefix = 4;
constexpr std::string_view kScratch = ".writing-";
constexpr int64_t kStaleMs = 3600 * 1000;  // nobody writes one push for so long

Status write_record(const std::string& place, const HeldPush& push) {
  return sys::replace_file(place + "/push.json", model::pretty_json(to_json(push)), 0600);
}

bool same_words(const HeldPush& a, const HeldPush& b) {
  return a.state == PushState::held && a.sandbox == b.sandbox && a.host == b.host &&
         a.port == b.port && a.path == b.path && a.transport == b.transport &&
         a.changes == b.changes;
}

// What a writer left that was killed.
void remove_stale(const std::string& directory, const sys::DirFd& opened,
                  const sys::DirEntry& entry) {
  if (!entry.name.starts_with(kScratch)) return;
  const auto info = sys::lstat_at(opened, entry.name);
  if (info.ok() && sys::wall_clock_ms() - info->st_mtime * 1000 > kStaleMs) {
    (void)sys::remove_tree(directory + "/" + entry.name);
  }
}

Error too_many(std::string_view whose, size_t limit) {
  return Error(Code::resource_exhausted,
               fmt::format("{} pushes of {} are held already", limit, whose))
      .set_remedy("paddock pushes release ID, or paddock pushes drop ID");
}

}  // namespace

PushWriter::~PushWriter() {
  if (!scratch_.empty()) (void)sys::remove_tree(scratch_);
}

Status PushWriter::add(std::string_view bytes) {
  about_.bytes += bytes.size();
  if (about_.bytes > limit_) {
    return Error(Code::resource_exhausted,
                 fmt::format("a push of more than {} is not held", format_bytes(limit_)));
  }
  return sys::write_all(file_, bytes).with_context("holding a push");
}

Result<HeldPush> PushWriter::finish() {
  if (::fsync(file_.get()) != 0) return Error::from_errno(errno, "holding a push");
  PD_TRY_CTX("holding a push", write_record(scratch_, about_));
  const std::string place = directory_ + "/" + about_.id.str();
  if (::rename(scratch_.c_str(), place.c_str()) != 0) {
    return Error::from_errno(errno, "holding a push");
  }
  scratch_.clear();
  const sys::DirFd directory = PD_TRY(sys::open_dir(directory_));
  if (::fsync(directory.get()) != 0) return Error::from_errno(errno, "holding a push");
  return about_;
}

// Held ones are never removed for room.
Status PushStore::make_room(const HeldPush& about) const {
  std::vector<HeldPush> known = PD_TRY(all());
  const auto released = std::stable_partition(known.begin(), known.end(), [](const HeldPush& push) {
    return push.state != PushState::released;
  });
  for (auto old = released;
       static_cast<size_t>(known.end() - old) >= limits_.of_installation && old != known.end();
       ++old) {
    PD_TRY(remove(old->id));
  }
  known.erase(released, known.end());
  if (known.size() >= limits_.of_installation) {
    return too_many("this installation", limits_.of_installation);
  }
  const auto own = std::count_if(known.begin(), known.end(), [&](const HeldPush& push) {
    return push.sandbox == about.sandbox;
  });
  if (static_cast<size_t>(own) >= limits_.of_sandbox) {
    return too_many("this sandbox", limits_.of_sandbox);
  }
  return {};
}

Result<PushWriter> PushStore::begin(HeldPush about) const {
  PD_TRY_CTX("holding a push", sys::make_dirs(directory_, 0700));
  const sys::FileFd lock =
      PD_TRY(sys::lock_path(directory_ + "/lock", sys::LockMode::exclusive, sys::LockWait::yes));
  PD_TRY(make_room(about));
  about.id = model::PushId::from_entropy(sys::random_bytes(8));
  about.held_ms = sys::wall_clock_ms();
  std::string scratch = directory_ + "/" + std::string(kScratch) + about.id.str();
  PD_TRY_CTX("holding a push", sys::make_dir(scratch, 0700));
  PushWriter writer(directory_, std::move(scratch), std::move(about), limits_.bytes);
  writer.file_ = PD_TRY_CTX("holding a push", sys::open_file(writer.scratch_ + "/request",
                                                             O_WRONLY | O_CREAT | O_EXCL, 0600));
  return writer;
}

Result<std::optional<HeldPush>> PushStore::find_same(const HeldPush& about) const {
  const std::vector<HeldPush> known = PD_TRY(all());
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const HeldPush& push) { return same_words(push, about); });
  return found == known.end() ? std::optional<HeldPush>() : std::optional(*found);
}

Result<std::vector<HeldPush>> PushStore::all() const {
  std::vector<HeldPush> out;
  if (!sys::exists(directory_)) return out;
  const sys::DirFd directory = PD_TRY(sys::open_dir(directory_));
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(directory))) {
    remove_stale(directory_, directory, entry);
    const auto id = model::PushId::parse(entry.name);
    if (!id.ok()) continue;
    auto text = sys::read_file(place_of(*id) + "/push.json", kMaxRecord);
    if (!text.ok() && text.error().code() == Code::not_found) continue;  // dropped just now
    if (!text.ok()) return std::move(text).error();
    out.push_back(PD_TRY_CTX("reading held push " + id->str(), parse_held_push(*text)));
  }
  std::sort(out.begin(), out.end(), [](const HeldPush& a, const HeldPush& b) {
    return a.held_ms != b.held_ms ? a.held_ms < b.held_ms : a.id < b.id;
  });
  return out;
}

Result<HeldPush> PushStore::find(const std::string& prefix) const {
  if (prefix.size() < kMinPrefix) {
    return Error(Code::invalid_argument,
                 fmt::format("'{}' is too short: four letters or more", printable(prefix)));
  }
  std::optional<HeldPush> found;
  for (HeldPush& push : PD_TRY(all())) {
    if (!push.id.str().starts_with(prefix)) continue;
    if (found) {
      return Error(Code::invalid_argument,
                   fmt::format("'{}' is the beginning of several ids", printable(prefix)));
    }
    found = std::move(push);
  }
  if (found) return std::move(*found);
  return Error(Code::not_found, fmt::format("no push {} is held", printable(prefix)))
      .set_remedy("paddock pushes lists them");
}

Result<sys::FileFd> PushStore::lock(const model::PushId& id) const {
  return sys::lock_path(place_of(id) + "/lock", sys::LockMode::exclusive, sys::LockWait::no)
      .with_context("push " + id.str() + " is being released or dropped");
}

Status PushStore::save(const HeldPush& push) const {
  return write_record(place_of(push.id), push).with_context("keeping push " + push.id.str());
}

std::string PushStore::request_path(const model::PushId& id) const {
  return place_of(id) + "/request";
}

Result<sys::FileFd> PushStore::open_request(const model::PushId& id) const {
  return sys::open_file(request_path(id), O_RDONLY | O_NOFOLLOW)
      .with_context("reading held push " + id.str());
}

Status PushStore::forget_request(const model::PushId& id) const {
  if (::unlink(request_path(id).c_str()) == 0 || errno == ENOENT) return {};
  return Error::from_errno(errno, "removing the pack of push " + id.str());
}

Status PushStore::remove(const model::PushId& id) const {
  return sys::remove_tree(place_of(id)).with_context("removing push " + id.str());
}

}  // namespace paddock::egress
