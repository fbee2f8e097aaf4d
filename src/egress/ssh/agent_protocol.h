// The protocol of ssh agents (draft-miller-ssh-agent), as far as one login needs it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::egress::ssh {

inline constexpr size_t kMaxAgentMessage = 256 * 1024;

// A message with its length in front, taken off the front of `bytes`. nullopt: not all of it is
// there. data_corrupt: longer than any agent takes.
Result<std::optional<std::string>> take_agent_message(std::string& bytes);
std::string encode_agent_message(std::string_view body);

// What one login may ask of the agent: which keys there are, and signatures of a login.
struct AgentLeave {
  std::string key;   // "SHA256:…" as ssh-keygen -l shows it; empty: every one
  std::string user;  // whom we log in as
};

// Whether a request of the ssh client may go to the agent. permission_denied: anything but listing
// keys and signing, with the key, a login of the user by public key (RFC 4252, section 7).
Status check_request(std::string_view body, const AgentLeave& leave);

struct AgentKey {
  std::string blob;
  std::string comment;
};
// An agent's answer to a request for its keys. data_corrupt: it is none.
Result<std::vector<AgentKey>> parse_keys(std::string_view body);
std::string encode_keys(const std::vector<AgentKey>& keys);
std::string list_request();
std::string failure_answer();

bool is_key_answer(std::string_view body);
// The keys that a login may see. Other answers are left as they are.
Result<std::string> narrow_answer(std::string_view body, const AgentLeave& leave);

std::string fingerprint(std::string_view blob);
bool is_fingerprint(std::string_view text);

}  // namespace paddock::egress::ssh
