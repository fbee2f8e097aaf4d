// Who may do what with one sandbox: its access token, and signed URLs of its files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::api::e2b {

// The same length, compared in the same time whatever differs.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Tokens follow from a key of the server and the sandbox's id; they need no table.
class AccessTokens {
 public:
  explicit AccessTokens(std::string key) : key_(std::move(key)) {}
  std::string of(std::string_view sandbox_id) const;
  // For its ports, where they are not public.
  std::string of_traffic(std::string_view sandbox_id) const;

 private:
  std::string key_;
};

struct SignedUrl {
  std::string path;       // as it stands in the query
  std::string operation;  // "read" or "write"
  std::string user;
  std::optional<int64_t> expires;  // unix seconds
};
// "v1_…"
std::string signature_of(const SignedUrl& url, std::string_view token);

}  // namespace paddock::api::e2b
