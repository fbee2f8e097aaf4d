// What a host says before and after a push: either is understood or refused, and a push that the
// host does not speak of is never taken for done.
#include "base/testing/fuzz.h"
#include "egress/git/advertisement.h"
#include "egress/git/push_report.h"

PD_FUZZ_TARGET(git_answers) {
  using namespace paddock::egress::git;
  using paddock::testing::require;
  if (const auto refs = parse_advertisement(bytes); refs.ok() && refs->has_value()) {
    for (const auto& [ref, id] : **refs) require(ref.starts_with("refs/") && id.size() >= 40);
  }
  for (const char* band : {"side-band-64k", "quiet"}) {
    const PushRequest request{.changes = {{std::string(40, '0'), std::string(40, 'a'), "refs/x"}},
                              .capabilities = {"report-status", band},
                              .size = 0};
    const auto report = parse_push_report(request, bytes);
    if (!report.ok() || !report->ok()) continue;
    require(bytes.find("ok refs/x") != std::string_view::npos ||
            std::string_view(band) == "side-band-64k");
  }
}
