// The slots of a staging directory: what is in them tells which ops were done.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "view/apply/apply_types.h"

namespace paddock::view {

std::string slot_name(uint64_t slot);

enum class SlotState { not_done, done };

// Not of set_directory, which may be repeated at will.
Result<SlotState> slot_state(const sys::DirFd& stage, const Op& op);

}  // namespace paddock::view
