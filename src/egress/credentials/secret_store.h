// Paddock's own store of secrets: `paddock secret add|ls|rm`. One file for each, encrypted
// (AES-256-GCM, bound to its name) with a key that lies beside them, mode 0600: what is copied or
// backed up without the key says nothing, what can read the key can read them all.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "egress/credentials/secret.h"

namespace paddock::egress {

// Safe between processes: each change replaces one file as a whole.
class SecretStore {
 public:
  // The directory is made (0700) with the first secret.
  explicit SecretStore(std::string directory) : directory_(std::move(directory)) {}

  // Names are letters, digits, '-', '_' and '.', not beginning with a dot. Replaces one of that
  // name.
  Status put(const std::string& name, const Secret& secret) const;
  // not_found: there is none of that name. data_corrupt: it was changed, or the key was.
  Result<Secret> get(const std::string& name) const;
  Status remove(const std::string& name) const;
  Result<std::vector<std::string>> names() const;

 private:
  std::string directory_;
};

}  // namespace paddock::egress
