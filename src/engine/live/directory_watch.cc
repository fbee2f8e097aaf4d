#include "engine/live/directory_watch.h"

#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "sys/random.h"

namespace paddock::engine {
namespace {

constexpr std::chrono::seconds kWatchPatience{60};
// What one answer carries; a watch that nobody asks keeps no more than its stream's credit.
constexpr size_t kMaxWatchEvents = 20'000;
constexpr size_t kMaxKept = 64;

std::string letters_of(const WatchRequest& request) {
  std::string letters = "-";
  if (request.reach == WatchRequest::Reach::tree) letters += 'r';
  if (request.entries == WatchRequest::Entries::yes) letters += 'e';
  if (request.network == WatchRequest::Network::allow) letters += 'n';
  return letters;
}

Error end_of(const wire::WatchEvents& last) {
  const std::string why = printable(last.message().substr(0, 500));
  if (last.error() != EOVERFLOW) return Error::from_errno(last.error(), why);
  return Error(Code::resource_exhausted, "events were lost: " + why)
      .set_remedy("watch again, and list what is there");
}

}  // namespace

Result<std::unique_ptr<DirectoryWatch>> DirectoryWatch::start(net::Task& task, const Inside& inside,
                                                              const WatchRequest& request) {
  auto command = PD_TRY(FileCommand::start(
      task, inside, {"watch", letters_of(request), request.path}, ProcessRequest::Input::open));
  (void)PD_TRY(command->reply(task));
  return std::unique_ptr<DirectoryWatch>(
      new DirectoryWatch(net::loop_of(task), std::move(command)));
}

Result<bool> DirectoryWatch::receive(net::Task& task, std::chrono::milliseconds patience) {
  if (ended_) return *ended_;
  auto frame = command_->next_frame(task, patience);
  if (!frame.ok()) {
    ended_ = frame.error();
    return *ended_;
  }
  if (!*frame) return false;
  wire::WatchEvents events;
  if (!events.ParseFromString(**frame)) {
    ended_ = Error(Code::data_corrupt, "the sandbox's file program was disturbed");
    return *ended_;
  }
  for (wire::WatchEvent& event : *events.mutable_events()) events_.push_back(std::move(event));
  answered_ += events.answered();
  if (events.error() != 0) ended_ = end_of(events);
  return true;
}

Result<std::optional<WatchEvents>> DirectoryWatch::next(net::Task& task,
                                                        std::chrono::milliseconds patience) {
  const auto turn = turns_.enter(task);
  // An answer brings no event, and is no silence either.
  while (events_.empty()) {
    if (!PD_TRY(receive(task, patience))) return std::optional<WatchEvents>();
  }
  return std::optional(std::exchange(events_, {}));
}

Result<WatchEvents> DirectoryWatch::take_until_now(net::Task& task) {
  const auto turn = turns_.enter(task);
  if (!ended_) {
    const Status sent = command_->send_raw(task, ".");
    if (sent.ok()) ++asked_;  // else its end is in what comes
  }
  while (answered_ < asked_ && events_.size() < kMaxWatchEvents && !ended_) {
    auto came = receive(task, kWatchPatience);
    if (!came.ok()) break;
    if (!*came) return Error(Code::timed_out, "the sandbox's file program does not answer");
  }
  if (events_.empty() && ended_) return *ended_;
  return std::exchange(events_, {});
}

// ---- kept ones

Result<std::string> KeptWatches::keep(std::unique_ptr<DirectoryWatch> watch) {
  if (watches_.size() >= kMaxKept) {
    return Error(Code::resource_exhausted, "too many watches in one sandbox")
        .set_remedy("remove some");
  }
  std::string name = "w";
  for (unsigned char byte : sys::random_bytes(12)) name += fmt::format("{:02x}", byte);
  watches_.emplace(name, std::move(watch));
  return name;
}

std::shared_ptr<DirectoryWatch> KeptWatches::find(const std::string& name) const {
  const auto found = watches_.find(name);
  return found == watches_.end() ? nullptr : found->second;
}

KeptWatches::Forgotten KeptWatches::forget(const std::string& name) {
  return watches_.erase(name) != 0 ? Forgotten::yes : Forgotten::was_unknown;
}

}  // namespace paddock::engine
