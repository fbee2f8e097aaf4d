#include "egress/ssh/agent_protocol.h"

#include <cstdint>

#include "base/base64.h"
#include "base/strings.h"
#include "egress/ssh/encoding.h"
#include "sys/digest.h"

namespace paddock::egress::ssh {
namespace {

constexpr char kFailure = 5;
constexpr char kListKeys = 11;
constexpr char kKeys = 12;
constexpr char kSign = 13;
constexpr char kUserauthRequest = 50;  // of ssh itself: what a login signs
constexpr std::string_view kSha256 = "SHA256:";
constexpr size_t kMaxKeys = 256;

uint32_t number_at(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Error malformed() {
  return Error(Code::data_corrupt, "a message of the ssh agent that is none");
}

// What ssh writes: bytes, numbers, texts with their length in front.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  Result<char> byte() {
    if (rest_.empty()) return malformed();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  Result<uint32_t> number() {
    if (rest_.size() < 4) return malformed();
    const uint32_t value = number_at(rest_);
    rest_.remove_prefix(4);
    return value;
  }
  Result<std::string_view> text() {
    const uint32_t size = PD_TRY(number());
    if (rest_.size() < size) return malformed();
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Error not_a_login() {
  return Error(Code::permission_denied,
               "the ssh agent signs logins to this host alone, and was asked for something else");
}

// RFC 4252, section 7: what is signed to log in by a public key.
Status check_login(std::string_view data, std::string_view blob, const std::string& user) {
  Reader in(data);
  (void)PD_TRY(in.text());  // the session
  if (PD_TRY(in.byte()) != kUserauthRequest) return not_a_login();
  if (PD_TRY(in.text()) != user || PD_TRY(in.text()) != "ssh-connection") return not_a_login();
  if (PD_TRY(in.text()) != "publickey" || PD_TRY(in.byte()) != 1) return not_a_login();
  (void)PD_TRY(in.text());  // the algorithm
  if (PD_TRY(in.text()) != blob || !in.is_done()) return not_a_login();
  return {};
}

int nibble(char hex) {
  return hex <= '9' ? hex - '0' : hex - 'a' + 10;
}

bool may_use(std::string_view blob, const AgentLeave& leave) {
  return leave.key.empty() || fingerprint(blob) == leave.key;
}

}  // namespace

Result<std::optional<std::string>> take_agent_message(std::string& bytes) {
  if (bytes.size() < 4) return std::optional<std::string>();
  const size_t size = number_at(bytes);
  if (size == 0 || size > kMaxAgentMessage) return malformed();
  if (bytes.size() - 4 < size) return std::optional<std::string>();
  std::string body = bytes.substr(4, size);
  bytes.erase(0, 4 + size);
  return std::optional(std::move(body));
}

std::string encode_agent_message(std::string_view body) {
  return encoded(body);
}

Status check_request(std::string_view body, const AgentLeave& leave) {
  Reader in(body);
  const char kind = PD_TRY(in.byte());
  if (kind == kListKeys) return in.is_done() ? Status() : Status(malformed());
  if (kind != kSign) return not_a_login();
  const std::string_view blob = PD_TRY(in.text());
  const std::string_view data = PD_TRY(in.text());
  (void)PD_TRY(in.number());  // flags: which hash RSA uses
  if (!in.is_done()) return malformed();
  if (!may_use(blob, leave)) return not_a_login();
  return check_login(data, blob, leave.user);
}

Result<std::vector<AgentKey>> parse_keys(std::string_view body) {
  Reader in(body);
  if (PD_TRY(in.byte()) != kKeys) return malformed();
  const uint32_t count = PD_TRY(in.number());
  if (count > kMaxKeys) return malformed();
  std::vector<AgentKey> keys;
  for (uint32_t i = 0; i < count; ++i) {
    AgentKey key;
    key.blob = PD_TRY(in.text());
    key.comment = PD_TRY(in.text());
    keys.push_back(std::move(key));
  }
  if (!in.is_done()) return malformed();
  return keys;
}

std::string encode_keys(const std::vector<AgentKey>& keys) {
  std::string out = kKeys + encoded(keys.size());
  for (const AgentKey& key : keys) out += encoded(key.blob) + encoded(key.comment);
  return out;
}

std::string list_request() {
  return std::string(1, kListKeys);
}

std::string failure_answer() {
  return std::string(1, kFailure);
}

bool is_key_answer(std::string_view body) {
  return body.starts_with(kKeys);
}

Result<std::string> narrow_answer(std::string_view body, const AgentLeave& leave) {
  if (!is_key_answer(body)) return std::string(body);
  std::vector<AgentKey> keys = PD_TRY(parse_keys(body));
  std::erase_if(keys, [&](const AgentKey& key) { return !may_use(key.blob, leave); });
  return encode_keys(keys);
}

std::string fingerprint(std::string_view blob) {
  const std::string hex = sys::sha256_hex(blob);
  std::string digest;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    digest += static_cast<char>(nibble(hex[i]) << 4 | nibble(hex[i + 1]));
  }
  std::string encoded = base64_encode(digest);
  while (encoded.ends_with('=')) encoded.pop_back();
  return std::string(kSha256) + encoded;
}

bool is_fingerprint(std::string_view given) {
  if (!given.starts_with(kSha256) || given.size() != kSha256.size() + 43) return false;
  return base64_decode(std::string(given.substr(kSha256.size())) + "=").ok();
}

}  // namespace paddock::egress::ssh
