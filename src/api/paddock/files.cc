// Files of our own surface: one in, one out, in flat memory.
#include <optional>
#include <utility>

#include "api/paddock/request.h"
#include "engine/live/guest_files.h"

namespace paddock::api::own {
namespace {

using engine::FileCommand;

struct Target {
  std::shared_ptr<engine::LiveSandbox> sandbox;
  std::optional<engine::GuestUser> user = std::nullopt;  // the sandbox's own
  std::string path;

  engine::Inside inside() const { return {*sandbox, user}; }
};

Result<Target> target_of(const Request& request) {
  Target target;
  target.sandbox = PD_TRY(awake_sandbox_of(request));
  const std::string path = request.query("path");
  if (path.empty()) return Error(Code::invalid_argument, "'path' is missing in the query");
  target.path = PD_TRY(engine::guest_path(path, target.sandbox->setup().home,
                                          target.sandbox->setup().start_directory()));
  return target;
}

Status send(const Request& request, FileCommand& reading, uint64_t size) {
  const net::http::Response head{200, {{"Content-Type", "application/octet-stream"}}, ""};
  // A file without a size may have bytes all the same (/proc).
  const auto length = size == 0 ? std::nullopt : std::optional(size);
  PD_TRY(request.exchange.begin(request.task, head, length));
  for (uint64_t left = length.value_or(UINT64_MAX); left > 0;) {
    std::string piece = PD_TRY(reading.more(request.task));
    if (piece.empty()) break;
    piece.resize(std::min<uint64_t>(piece.size(), left));  // it has grown since
    left -= piece.size();
    PD_TRY(request.exchange.write(request.task, piece));
  }
  return request.exchange.finish(request.task);
}

Status take_body(const Request& request, FileCommand& writing) {
  while (true) {
    char piece[16384];
    const size_t count = PD_TRY(request.exchange.read_body(request.task, piece));
    if (count == 0) return {};
    PD_TRY(writing.send(request.task, {piece, count}));
  }
}

Status take(const Request& request, const Target& target) {
  auto writing = PD_TRY(engine::begin_write(request.task, target.inside(), {target.path, {}}));
  const Status sent = take_body(request, *writing);
  // A client that left within its request must leave no file; why a write was not taken any more
  // is in the reply.
  const bool left = !sent.ok() && (sent.error().code() == Code::unavailable ||
                                   sent.error().code() == Code::timed_out);
  if (left) return sent;
  if (sent.ok()) (void)writing->commit(request.task).ok();
  (void)PD_TRY(writing->reply(request.task));
  return sent;
}

}  // namespace

Status read_file(const Request& request) {
  auto target = target_of(request);
  if (!target.ok()) return answer_error(request, target.error());
  auto reading = engine::begin_read(request.task, target->inside(), target->path);
  if (!reading.ok()) return answer_error(request, reading.error());
  auto reply = (*reading)->reply(request.task);
  if (!reply.ok()) return answer_error(request, reply.error());
  const uint64_t size = reply->entries_size() == 1 ? reply->entries(0).size() : 0;
  return send(request, **reading, size);
}

Status write_file(const Request& request) {
  auto target = target_of(request);
  if (!target.ok()) return answer_error(request, target.error());
  const Status taken = take(request, *target);
  return taken.ok() ? answer_nothing(request) : answer_error(request, taken.error());
}

}  // namespace paddock::api::own
