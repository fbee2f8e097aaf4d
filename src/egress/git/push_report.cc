#include "egress/git/push_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/git/packet.h"

namespace paddock::egress::git {
namespace {

constexpr char kData = '\1', kText = '\2', kFatal = '\3';
constexpr size_t kSmallBand = 995;  // bytes of a packet of "side-band"
constexpr size_t kMaxReason = 600;

// Bytes of one packet behind its band; 0: the client knows no bands.
size_t band_room(const PushRequest& request) {
  if (request.has("side-band-64k")) return kMaxPacket - 5;
  return request.has("side-band") ? kSmallBand : 0;
}

std::string banded(char band, std::string_view bytes, size_t room) {
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(room, bytes.size()))) {
    out += packet(std::string(1, band) + std::string(bytes.substr(0, room)));
  }
  return out;
}

Error corrupt_report(std::string_view why) {
  return Error(Code::data_corrupt, fmt::format("reading the answer to a push: {}", why));
}

// The report within the bands; what they say to people goes to `messages`.
Result<std::string> unband(std::string_view answer, std::string& messages) {
  std::string report;
  while (!answer.empty()) {
    const auto taken = PD_TRY(take_packet(answer));
    if (!taken) return corrupt_report("it is cut off");
    if (taken->flush) break;
    const char band = taken->bytes[0];  // packets are never empty
    const std::string_view bytes = taken->bytes.substr(1);
    if (band == kFatal) return Error(Code::unavailable, "the host: " + printable(trim(bytes)));
    if (band != kData && band != kText) return corrupt_report("an unknown band");
    (band == kData ? report : messages) += bytes;
  }
  return report;
}

Status take_line(std::string_view line, PushReport& report) {
  const std::vector<std::string> words = split(line, ' ');
  const auto rest = [&](size_t from) {
    return std::string(line.substr(std::min(line.size(), from)));
  };
  if (words[0] == "unpack") {
    if (rest(7) != "ok") report.unpack_problem = rest(7);
  } else if (words[0] == "ok" && words.size() >= 2) {
    report.refs.push_back({words[1], ""});
  } else if (words[0] == "ng" && words.size() >= 2) {
    const std::string why = rest(4 + words[1].size());
    report.refs.push_back({words[1], why.empty() ? "refused" : why});
  } else if (words[0] != "option") {  // of report-status-v2
    return corrupt_report("'" + printable(line.substr(0, 80)) + "' is no line of it");
  }
  return {};
}

}  // namespace

std::string refuse_push(const PushRequest& request, std::string_view reason) {
  if (!request.has("report-status") && !request.has("report-status-v2")) return {};
  const std::string why = printable(reason.substr(0, kMaxReason));
  std::string report = packet("unpack ok\n");
  for (const RefChange& change : request.changes) {
    report += packet(fmt::format("ng {} {}\n", change.ref, why));
  }
  report += kFlush;
  const size_t room = band_room(request);
  if (room == 0) return report;
  return banded(kText, fmt::format("paddock: {}\n", why), room) + banded(kData, report, room) +
         std::string(kFlush);
}

bool PushReport::ok() const {
  return unpack_problem.empty() &&
         std::all_of(refs.begin(), refs.end(),
                     [](const RefResult& result) { return result.problem.empty(); });
}

Result<PushReport> parse_push_report(const PushRequest& request, std::string_view answer) {
  PushReport report;
  std::string unbanded;
  if (band_room(request) != 0) {
    unbanded = PD_TRY(unband(answer, report.messages));
    answer = unbanded;
  }
  while (true) {
    const auto taken = PD_TRY(take_packet(answer));
    if (!taken) return corrupt_report("it is cut off");
    if (taken->flush) break;
    PD_TRY(take_line(taken->text(), report));
  }
  // What the host does not speak of was not done.
  for (const RefChange& change : request.changes) {
    const bool told = std::any_of(report.refs.begin(), report.refs.end(),
                                  [&](const auto& result) { return result.ref == change.ref; });
    if (!told) report.refs.push_back({change.ref, "the host said nothing of it"});
  }
  return report;
}

}  // namespace paddock::egress::git
