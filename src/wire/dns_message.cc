#include "wire/dns_message.h"

#include <fmt/core.h>

#include <algorithm>

namespace paddock::wire {
namespace {

constexpr size_t kHeader = 12;
constexpr size_t kMaxName = 255;  // of the encoded form
constexpr uint16_t kTypeOpt = 41;
constexpr uint16_t kOurUdpSize = 1232;
constexpr uint16_t kOptionExtendedError = 15;
constexpr uint16_t kProhibited = 18;
constexpr size_t kMaxReason = 160;
constexpr uint8_t kIsReply = 0x80;  // of the third byte
constexpr uint8_t kOperation = 0x78;
constexpr uint8_t kRecursionDesired = 0x01;
constexpr uint8_t kRecursionAvailable = 0x80;  // of the fourth
constexpr uint8_t kCheckingDisabled = 0x10;

Error corrupt(std::string_view why) {
  return Error(Code::data_corrupt, fmt::format("DNS question: {}", why));
}

uint8_t byte_at(std::string_view bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}
uint16_t u16_at(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

void put_u16(std::string& out, uint32_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}
void put_u32(std::string& out, uint32_t value) {
  put_u16(out, value >> 16);
  put_u16(out, value & 0xffff);
}

void put_label(std::string& name, std::string_view label) {
  if (!name.empty()) name += '.';
  for (char c : label) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '.' || c == '\\') {
      name += fmt::format("\\{:03}", byte);
    } else {
      name += c;
    }
  }
}

// A reader that never goes back: nothing before a question can be pointed at, so compression in it
// is refused rather than followed.
class Reader {
 public:
  Reader(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}

  size_t at() const { return at_; }
  bool has(size_t count) const { return bytes_.size() - at_ >= count; }

  Result<std::string> name() {
    const size_t start = at_;
    std::string out;
    while (true) {
      if (!has(1)) return corrupt("cut off in a name");
      const uint8_t length = byte_at(bytes_, at_);
      if (length > 63) return corrupt("compressed");
      if (!has(1u + length)) return corrupt("cut off in a label");
      if (at_ + 1 + length - start > kMaxName) return corrupt("a name of more than 255 bytes");
      if (length > 0) put_label(out, bytes_.substr(at_ + 1, length));
      at_ += 1u + length;
      if (length == 0) return out.empty() ? "." : out;
    }
  }

  Result<uint16_t> u16() {
    if (!has(2)) return corrupt("cut off");
    at_ += 2;
    return u16_at(bytes_, at_ - 2);
  }

  Status skip(size_t count) {
    if (!has(count)) return corrupt("cut off in a record");
    at_ += count;
    return {};
  }

 private:
  std::string_view bytes_;
  size_t at_;
};

// One record of the additional section: OPT is read, others are passed over.
Status read_additional(Reader& reader, DnsQuery& query) {
  const std::string owner = PD_TRY(reader.name());
  const uint16_t type = PD_TRY(reader.u16());
  const uint16_t udp_size = PD_TRY(reader.u16());
  PD_TRY(reader.skip(4));
  const uint16_t length = PD_TRY(reader.u16());
  PD_TRY(reader.skip(length));
  if (type != kTypeOpt) return {};
  if (query.has_edns || owner != ".") return corrupt("two OPT records, or one of a name");
  query.has_edns = true;
  query.udp_size = std::max<uint16_t>(udp_size, 512);
  return {};
}

Status check_header(std::string_view message) {
  if (message.size() < kHeader) return corrupt("shorter than a header");
  if (message.size() > kMaxDnsQuestion) return corrupt("too long");
  if ((byte_at(message, 2) & (kIsReply | kOperation)) != 0) return corrupt("not a query");
  if (u16_at(message, 4) != 1) return corrupt("not one question");
  if (u16_at(message, 6) != 0 || u16_at(message, 8) != 0) return corrupt("holds answers");
  if (u16_at(message, 10) > 2) return corrupt("too many additional records");
  return {};
}

std::string header(uint16_t id, uint8_t flags, uint8_t more_flags) {
  std::string out;
  put_u16(out, id);
  out += static_cast<char>(flags);
  out += static_cast<char>(more_flags);
  return out;
}

// OPT with the reason; the reason is cut between UTF-8 sequences.
std::string opt_record(std::string_view reason) {
  reason = reason.substr(0, kMaxReason);
  while (reason.size() == kMaxReason && (byte_at(reason, reason.size() - 1) & 0x80) != 0) {
    reason.remove_suffix(1);
  }
  std::string data;
  if (!reason.empty()) {
    put_u16(data, kOptionExtendedError);
    put_u16(data, static_cast<uint32_t>(2 + reason.size()));
    put_u16(data, kProhibited);
    data += reason;
  }
  std::string out(1, '\0');
  put_u16(out, kTypeOpt);
  put_u16(out, kOurUdpSize);
  put_u32(out, 0);
  put_u16(out, static_cast<uint32_t>(data.size()));
  return out + data;
}

std::string address_record(const DnsQuery& query, const std::string& address, uint32_t ttl) {
  std::string out("\xc0\x0c", 2);  // the question's name
  put_u16(out, query.type);
  put_u16(out, kDnsClassIn);
  put_u32(out, ttl);
  put_u16(out, static_cast<uint32_t>(address.size()));
  return out + address;
}

size_t address_size(uint16_t type) {
  return type == kDnsTypeA ? 4 : type == kDnsTypeAaaa ? 16 : 0;
}

}  // namespace

Result<DnsQuery> parse_dns_query(std::string_view message) {
  PD_TRY(check_header(message));
  DnsQuery query{.id = u16_at(message, 0)};
  query.recursion_desired = (byte_at(message, 2) & kRecursionDesired) != 0;
  query.checking_disabled = (byte_at(message, 3) & kCheckingDisabled) != 0;
  Reader reader(message, kHeader);
  query.name = PD_TRY(reader.name());
  query.type = PD_TRY(reader.u16());
  query.klass = PD_TRY(reader.u16());
  query.question = message.substr(kHeader, reader.at() - kHeader);
  for (uint16_t i = u16_at(message, 10); i > 0; --i) PD_TRY(read_additional(reader, query));
  if (reader.has(1)) return corrupt("bytes after its end");
  return query;
}

std::string build_dns_reply(const DnsQuery& query, const DnsReply& reply) {
  const auto flags =
      static_cast<uint8_t>(kIsReply | (query.recursion_desired ? kRecursionDesired : 0));
  const auto more =
      static_cast<uint8_t>(kRecursionAvailable | (query.checking_disabled ? kCheckingDisabled : 0) |
                           static_cast<uint8_t>(reply.code));
  const std::string opt = query.has_edns ? opt_record(reply.reason) : "";
  std::string records;
  uint32_t count = 0;
  for (const std::string& address : reply.addresses) {
    if (address.size() != address_size(query.type)) continue;
    const std::string record = address_record(query, address, reply.ttl);
    const size_t size =
        kHeader + query.question.size() + records.size() + record.size() + opt.size();
    if (size > std::min(query.udp_size, kOurUdpSize)) break;  // any of the addresses will do
    records += record;
    ++count;
  }
  std::string out = header(query.id, flags, more);
  put_u16(out, 1);
  put_u16(out, count);
  put_u16(out, 0);
  put_u16(out, query.has_edns ? 1 : 0);
  return out + query.question + records + opt;
}

std::string dns_format_error(std::string_view message) {
  if (message.size() < kHeader || (byte_at(message, 2) & kIsReply) != 0) return {};
  const bool other_operation = (byte_at(message, 2) & kOperation) != 0;
  const auto code = other_operation ? DnsCode::not_implemented : DnsCode::format_error;
  const auto flags =
      static_cast<uint8_t>(kIsReply | (byte_at(message, 2) & (kOperation | kRecursionDesired)));
  return header(u16_at(message, 0), flags,
                static_cast<uint8_t>(kRecursionAvailable | static_cast<uint8_t>(code))) +
         std::string(8, '\0');
}

}  // namespace paddock::wire
