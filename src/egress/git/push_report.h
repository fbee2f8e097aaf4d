// The answer of git-receive-pack to a push, written and read: in packets, inside of git's side band
// where the client asked for one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "egress/git/push_request.h"

namespace paddock::egress::git {

// Refuses every ref of the push with the reason, and says it on the client's stderr too. Empty: the
// client asked for no report, so that nothing can be told this way.
std::string refuse_push(const PushRequest& request, std::string_view reason);

struct RefResult {
  std::string ref;
  std::string problem;  // empty: done
};
struct PushReport {
  std::string unpack_problem;  // empty: the pack was taken
  std::vector<RefResult> refs;
  std::string messages;  // of the host, for people

  bool ok() const;
};

// The whole answer to this push. data_corrupt: it is none.
Result<PushReport> parse_push_report(const PushRequest& request, std::string_view answer);

}  // namespace paddock::egress::git
