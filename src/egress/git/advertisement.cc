#include "egress/git/advertisement.h"

#include "base/strings.h"
#include "egress/git/packet.h"

namespace paddock::egress::git {
namespace {

constexpr size_t kMaxRefs = 64u << 20;
constexpr std::string_view kService = "# service=git-receive-pack";

Error corrupt_refs(std::string_view why) {
  return Error(Code::data_corrupt, "reading the host's refs: " + std::string(why));
}

Status take_line(std::string_view line, Refs& refs) {
  if (line.starts_with("version ") || line.starts_with("shallow ")) return {};
  if (line.starts_with("ERR ")) {
    return Error(Code::unavailable, "the host: " + printable(trim(line.substr(4))));
  }
  line = line.substr(0, line.find('\0'));
  const size_t blank = line.find(' ');
  if (blank != 40 && blank != 64) {
    return corrupt_refs("'" + printable(line.substr(0, 80)) + "' names no ref");
  }
  const std::string_view name = line.substr(blank + 1);
  // ".have" is an object, "capabilities^{}" stands where there is no ref.
  if (name.starts_with("refs/")) refs[std::string(name)] = line.substr(0, blank);
  return {};
}

}  // namespace

Result<std::optional<Refs>> parse_advertisement(std::string_view bytes) {
  if (bytes.size() > kMaxRefs) return corrupt_refs("it is too long");
  Refs refs;
  bool service = false;
  while (true) {
    const auto taken = PD_TRY(take_packet(bytes));
    if (!taken) return std::optional<Refs>();
    if (taken->flush && !service) return std::optional(std::move(refs));
    const bool first = taken->text() == kService;
    if (!taken->flush && !first) PD_TRY(take_line(taken->text(), refs));
    service = first;  // its flush does not end the list
  }
}

}  // namespace paddock::egress::git
