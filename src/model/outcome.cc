#include "model/outcome.h"

namespace paddock::model {

int exit_status(const Outcome& outcome) {
  switch (outcome.ending) {
    case Ending::exited:
      return outcome.code;
    case Ending::signalled:
      return 128 + outcome.code;
    case Ending::timed_out:
      return 124;
    case Ending::setup_failed:
      return 125;
    case Ending::killed:
      return 128 + (outcome.code != 0 ? outcome.code : 9);
    case Ending::oom_killed:
    case Ending::violated:
      return 137;
  }
  return 125;
}

}  // namespace paddock::model
