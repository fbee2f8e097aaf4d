#include "view/apply/apply_slots.h"

#include <fmt/core.h>

#include "view/changes/change_object.h"

namespace paddock::view {

std::string slot_name(uint64_t slot) {
  return fmt::format("{}", slot);
}

Result<SlotState> slot_state(const sys::DirFd& stage, const Op& op) {
  Object object = PD_TRY(examine(stage, slot_name(op.slot)));
  bool done = false;
  if (op.kind == OpKind::create) done = !object.exists();
  if (op.kind == OpKind::remove) done = object.exists();
  if (op.kind == OpKind::exchange) done = object.ino != op.staged.ino;
  return done ? SlotState::done : SlotState::not_done;
}

}  // namespace paddock::view
