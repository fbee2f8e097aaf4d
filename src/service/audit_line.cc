#include "service/audit_line.h"

#include <fmt/core.h>

#include <ctime>

#include "base/strings.h"
#include "model/json.h"
#include "sys/digest.h"

namespace paddock::service {
namespace {

constexpr std::string_view kBeforeHash = ",\"hash\":\"";
constexpr size_t kHashSize = 64;
constexpr size_t kTail = kBeforeHash.size() + kHashSize + 2;

std::string body_of(const AuditPoint& before, int64_t wall_ms, std::string_view event,
                    const boost::json::object& fields) {
  boost::json::object body;
  body["seq"] = before.seq + 1;
  body["time"] = rfc3339(wall_ms);
  body["event"] = event;
  for (const auto& [name, value] : fields) body.insert_or_assign(name, value);
  body["prev"] = before.hash;
  std::string text = model::json_text(body);
  text.pop_back();  // the brace, which comes behind the hash
  return text;
}

Error corrupt(std::string_view why) {
  return Error(Code::data_corrupt, std::string(why));
}

}  // namespace

std::string rfc3339(int64_t wall_ms) {
  const time_t seconds = wall_ms / 1000;
  struct tm utc {};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     wall_ms % 1000);
}

std::string audit_text(std::string_view text) {
  // Escapes make it longer: cut before, so that none is cut in the middle.
  std::string out = printable(text.substr(0, kMaxAuditText));
  if (text.size() > kMaxAuditText) out += "…";
  return out;
}

std::string make_audit_line(AuditPoint& point, int64_t wall_ms, std::string_view event,
                            const boost::json::object& fields) {
  std::string body = body_of(point, wall_ms, event, fields);
  if (body.size() + kTail > kMaxAuditLine) body = body_of(point, wall_ms, event, {{"cut", true}});
  ++point.seq;
  point.hash = sys::sha256_hex(body);
  return body.append(kBeforeHash).append(point.hash).append("\"}\n");
}

Result<AuditLine> read_audit_line(std::string_view line) {
  if (line.size() <= kTail) return corrupt("not a record");
  const std::string_view body = line.substr(0, line.size() - kTail);
  const std::string_view tail = line.substr(body.size());
  const std::string_view hash = tail.substr(kBeforeHash.size(), kHashSize);
  if (!tail.starts_with(kBeforeHash) || !tail.ends_with("\"}")) return corrupt("not a record");
  if (sys::sha256_hex(body) != hash) return corrupt("changed: its hash is not that of its bytes");
  const boost::json::value value = PD_TRY(model::parse_json(line));
  if (!value.is_object()) return corrupt("not a record");
  AuditLine out;
  out.fields = value.get_object();
  const auto* seq = out.fields.if_contains("seq");
  const auto* prev = out.fields.if_contains("prev");
  if (seq == nullptr || !seq->is_int64() || seq->get_int64() <= 0 || prev == nullptr ||
      !prev->is_string()) {
    return corrupt("a record without its place in the chain");
  }
  out.point = {static_cast<uint64_t>(seq->get_int64()), std::string(hash)};
  out.prev = std::string(prev->get_string());
  return out;
}

}  // namespace paddock::service
