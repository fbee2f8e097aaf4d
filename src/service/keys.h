// API keys: made, listed and revoked on the command line, checked by the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "model/owner.h"
#include "store/database.h"

namespace paddock::service {

// What a key is good for: a scraper's opens no sandbox.
enum class KeyScope { sandboxes, metrics };
inline constexpr EnumNames<KeyScope, 2> kKeyScopeNames{
    {{KeyScope::sandboxes, "sandboxes"}, {KeyScope::metrics, "metrics"}}};

struct ApiKey {
  model::KeyId id;
  std::string label;
  KeyScope scope = KeyScope::sandboxes;
  int64_t created_ms = 0;
  int64_t revoked_ms = 0;  // 0: it is good
};

struct NewKey {
  ApiKey key;
  std::string secret;  // what clients send; kept nowhere
};

// The table of keys. Only hashes of secrets are on record. A revoked key keeps its row: once there
// was a key, a server never again takes any. Used by the thread that uses the database.
class Keys {
 public:
  explicit Keys(store::Database& database) : database_(database) {}

  // invalid_argument: a label that is empty, longer than 64 bytes, or has control characters.
  Result<NewKey> create(const std::string& label, KeyScope scope);
  // Newest first, revoked ones included.
  Result<std::vector<ApiKey>> list();
  // `name` is an id, an unambiguous prefix of four or more characters of one, or the label of one
  // good key. not_found, conflict: none or several; failed_precondition: it is revoked already.
  Result<ApiKey> revoke(const std::string& name);

 private:
  store::Database& database_;
};

// What the daemon checks requests with. Each check sees what other processes have committed until
// then, so a revoked key stops at once. One thread; the connection is its own.
class KeyRing {
 public:
  explicit KeyRing(store::Database database) : database_(std::move(database)) {}

  // Whether there ever was a key.
  Result<bool> has_keys();
  // The good key of that secret, found in a time that does not depend on where secrets differ.
  Result<std::optional<ApiKey>> find(std::string_view secret);

 private:
  struct Entry {
    ApiKey key;
    std::string hash;
  };
  // Reads the table again if another connection has written since.
  Status refresh();

  store::Database database_;
  int64_t version_ = -1;
  std::vector<Entry> entries_;
};

}  // namespace paddock::service
