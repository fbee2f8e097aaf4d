#include "egress/tls/authority.h"

namespace paddock::egress::tls {

Result<std::unique_ptr<Authority>> Authority::open(const std::string& directory) {
  net::KeptAuthority kept =
      PD_TRY(net::KeptAuthority::open(directory, {{"Paddock sandbox authority"}, "TLS"}));
  net::PkeyPtr leaf_key = PD_TRY(net::make_key());
  return std::unique_ptr<Authority>(new Authority(std::move(kept), std::move(leaf_key)));
}

Result<std::shared_ptr<SSL_CTX>> Authority::server_for(const Host& host) {
  const std::string name = to_string(host);
  std::lock_guard lock(mutex_);
  if (const auto made = servers_.find(name); made != servers_.end()) return made->second;
  net::X509Ptr leaf =
      PD_TRY(net::make_leaf({{name}, *leaf_key_, kept_.certificate(), kept_.key()}));
  auto context = PD_TRY(net::make_server_context(*leaf, *leaf_key_, {&kept_.certificate()}));
  if (servers_.size() >= kKept) servers_.clear();
  std::shared_ptr<SSL_CTX> shared(std::move(context));
  servers_.emplace(name, shared);
  return shared;
}

}  // namespace paddock::egress::tls
