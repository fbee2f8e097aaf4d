#include "egress/gate/core.h"

namespace paddock::egress {

Result<tls::Authority*> Core::authority() {
  std::lock_guard lock(mutex_);
  if (authority_ == nullptr) authority_ = PD_TRY(tls::Authority::open(state_dir_ + "/egress-ca"));
  return authority_.get();
}

Result<SSL_CTX*> Core::client_context() {
  std::lock_guard lock(mutex_);
  if (client_context_ == nullptr) client_context_ = PD_TRY(net::make_client_context(trusted_pem_));
  return client_context_.get();
}

}  // namespace paddock::egress
