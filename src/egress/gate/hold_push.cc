#include "egress/gate/hold_push.h"

#include <optional>

#include "egress/git/pack_end.h"
#include "net/worker.h"

namespace paddock::egress {

Result<HeldPush> hold_push(net::Task& task, const PushStore& store, HeldPush about,
                           const git::PushRequest& push, http::BodySource& bytes) {
  about.changes = push.changes;
  if (auto same = PD_TRY(store.find_same(about))) return std::move(*same);
  PushWriter writer = PD_TRY(store.begin(std::move(about)));
  std::optional<git::PackEnd> end;
  if (push.brings_pack()) end.emplace(push.changes.front().new_id.size());
  for (size_t commands = push.size;;) {
    const std::string more = PD_TRY(bytes.read(task));
    if (more.empty()) break;
    PD_TRY(writer.add(more));
    const size_t before_pack = std::min(commands, more.size());
    commands -= before_pack;
    if (end) end->feed(std::string_view(more).substr(before_pack));
  }
  if (end && !end->is_whole()) {
    return Error(Code::data_corrupt, "the pack of the push is not whole");
  }
  net::Worker disk;  // waiting for it would hold up other connections
  return disk.run(task, [&] { return writer.finish(); });
}

void note_held(model::EgressEvent& event, const Result<HeldPush>& held) {
  if (held.ok()) {
    event.reason += ": held as " + held->id.str();
    event.remedy = "paddock pushes release " + held->id.str();
  } else {
    event.reason += ", and it could not be held: " + held.error().describe();
    event.remedy = held.error().remedy();
  }
}

}  // namespace paddock::egress
