// The authority of this installation that TLS is opened with.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "egress/names/host_name.h"
#include "net/kept_authority.h"
#include "net/tls_context.h"

namespace paddock::egress::tls {

// Thread-safe.
class Authority {
 public:
  // Reads it from the directory, or makes it there.
  static Result<std::unique_ptr<Authority>> open(const std::string& directory);

  const std::string& pem() const { return kept_.pem(); }

  // Settings of a server that is this host, made once and kept for the hosts used last.
  Result<std::shared_ptr<SSL_CTX>> server_for(const Host& host);

 private:
  static constexpr size_t kKept = 512;

  Authority(net::KeptAuthority kept, net::PkeyPtr leaf_key)
      : kept_(std::move(kept)), leaf_key_(std::move(leaf_key)) {}

  const net::KeptAuthority kept_;
  const net::PkeyPtr leaf_key_;  // of every leaf: making one costs more than signing
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<SSL_CTX>> servers_;
};

}  // namespace paddock::egress::tls
