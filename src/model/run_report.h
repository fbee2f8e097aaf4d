// What `paddock run` hands back about one command: the document that `--outcome FILE` writes.
#pragma once

#include <optional>

#include "model/change.h"
#include "model/decision.h"
#include "model/ids.h"
#include "model/network_record.h"
#include "model/outcome.h"

namespace paddock::model {

struct RunReport {
  Outcome outcome;
  std::optional<Decision> decision;     // none when the run failed before there was one
  ViewId view;                          // empty: nothing changed, or no view was asked for
  std::optional<ChangeCounts> changes;  // of the view by now; none without a view
  NetworkRecord network;
};

}  // namespace paddock::model
