// No reading of a path gets round a rule: what a grant takes, no server can read as something else.
#include <algorithm>

#include "base/strings.h"
#include "base/testing/fuzz.h"
#include "egress/git/operation.h"
#include "egress/git/push_request.h"
#include "egress/rules/http_match.h"
#include "egress/rules/path_forms.h"

namespace paddock::egress {
namespace {

using testing::require;

// A server that decodes once (or twice), knows backslashes and resolves dot segments.
std::string as_a_server_reads(std::string path, int decodings) {
  for (int i = 0; i < decodings; ++i) path = percent_decoded(path);
  std::vector<std::string> kept;
  std::replace(path.begin(), path.end(), '\\', '/');
  for (const std::string& segment : split(path, '/')) {
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") kept.push_back(segment);
  }
  return "/" + join(kept, "/");
}

bool is_below(const std::string& path, const std::string& top) {
  return path == top || path.starts_with(top + "/");
}

void check(std::string_view target) {
  static const HttpMatch open = HttpMatch::compile({.paths = {{"/public/**"}}}).value();
  static const HttpMatch closed = HttpMatch::compile({.paths = {{"/admin", "/admin/**"}}}).value();
  const http::Request request{
      .method = "GET", .target = std::string(target), .authority = "a.example", .fields = {}};
  const bool granted = open.grants(request);
  const bool refused = closed.refuses(request);
  require(!(granted && refused));
  if (!request.target.starts_with('/')) return;
  for (int decodings = 0; decodings <= 2; ++decodings) {
    const std::string read = as_a_server_reads(std::string(request.path()), decodings);
    if (is_below(read, "/admin")) require(!granted && refused);
    if (granted) require(is_below(read, "/public"));
  }
  query_parameters(request.query());
}

}  // namespace
}  // namespace paddock::egress

PD_FUZZ_TARGET(request_match) {
  paddock::egress::check(bytes);
  for (const char* method : {"GET", "POST"}) {
    paddock::egress::find_git_operation(
        {.method = method, .target = std::string(bytes), .authority = {}, .fields = {}});
  }
  (void)paddock::egress::git::parse_push_request(bytes);
}
