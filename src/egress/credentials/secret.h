// Bytes that must not be printed, copied by accident, or left behind in freed memory.
#pragma once

#include <openssl/crypto.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::egress {

// Shared and immutable: copies refer to the same bytes, wiped when the last is gone. No formatter,
// no stream operator, no comparison.
class Secret {
 public:
  explicit Secret(std::string bytes) : bytes_(new std::string(std::move(bytes)), Wipe()) {}

  // For the call that puts it on the wire. Do not keep it, do not log it.
  std::string_view reveal() const { return *bytes_; }

 private:
  struct Wipe {
    void operator()(std::string* bytes) const {
      OPENSSL_cleanse(bytes->data(), bytes->size());
      delete bytes;
    }
  };

  std::shared_ptr<const std::string> bytes_;
};

// Wipes a string that held a secret for a while.
inline void wipe(std::string& bytes) {
  OPENSSL_cleanse(bytes.data(), bytes.size());
  bytes.clear();
}

}  // namespace paddock::egress
