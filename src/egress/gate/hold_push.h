// Keeping a push for review instead of sending it on.
#pragma once

#include "egress/http/body_source.h"
#include "egress/pushes/push_store.h"
#include "model/egress_event.h"
#include "net/task.h"

namespace paddock::egress {

// `about` says what it is, its changes and size aside; `bytes` are all that the program sends, from
// the first command to the end of the pack. One that the sandbox has pushed before is not kept
// twice. resource_exhausted: too much is held. data_corrupt: its pack is not whole.
Result<HeldPush> hold_push(net::Task& task, const PushStore& store, HeldPush about,
                           const git::PushRequest& push, http::BodySource& bytes);

// Says in the event of the refusal what became of the push.
void note_held(model::EgressEvent& event, const Result<HeldPush>& held);

}  // namespace paddock::egress
