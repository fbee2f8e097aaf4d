// Names of pushes that are held for review.
#pragma once

#include "model/ids.h"

namespace paddock::model {

struct PushTag {};
using PushId = Id<PushTag>;

}  // namespace paddock::model
