#include "egress/gate/core.h"

namespace paddock::egress {

Result<tls::Authority*> Core::authority() {
  std::lock_guard lock(mutex_);
  if (authority_ == nullptr) authority_ = PD_TRY(tls::Authority::open(state_dir_ + "/egress-ca"));
  return authority_.get();
}

Result<ssh::HostKey> Core::ssh_host_key() {
  std::lock_guard lock(mutex_);
  return ssh::open_host_key(state_dir_ + "/egress-ca");
}

Result<SSL_CTX*> Core::client_context() {
  std::lock_guard lock(mutex_);
  if (client_context_ == nullptr) client_context_ = PD_TRY(net::make_client_context(trusted_pem_));
  return client_context_.get();
}

}  // namespace paddock::egress
