// The authority of this installation, that TLS is opened with. Its key never leaves the host.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "egress/names/host_name.h"
#include "net/tls_context.h"

namespace paddock::egress::tls {

// Thread-safe.
class Authority {
 public:
  // Reads "key.pem" and "cert.pem" in the directory, or makes both (directory 0700, key 0600). Two
  // processes that make it at once agree on one.
  static Result<std::unique_ptr<Authority>> open(const std::string& directory);

  const std::string& pem() const { return pem_; }

  // Settings of a server that is this host, made once and kept for the hosts used last.
  Result<std::shared_ptr<SSL_CTX>> server_for(const Host& host);

 private:
  static constexpr size_t kKept = 512;

  Authority() = default;

  net::X509Ptr certificate_;
  net::PkeyPtr key_;
  net::PkeyPtr leaf_key_;  // of every leaf: making one costs more than signing
  std::string pem_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<SSL_CTX>> kept_;
};

}  // namespace paddock::egress::tls
