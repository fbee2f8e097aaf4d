// A request that was let through, on its way.
#pragma once

#include <memory>
#include <optional>

#include "egress/credentials/aws_chunks.h"
#include "egress/credentials/credential_set.h"
#include "egress/credentials/scanner.h"
#include "egress/gate/budget.h"
#include "egress/gate/guard.h"
#include "egress/git/operation.h"
#include "egress/http/request_guard.h"

namespace paddock::egress {

struct Admission {
  const Inspected& connection;
  http::Request asked;  // before credentials were put on
  std::optional<GitOperation> git;
  std::shared_ptr<const Policy> policy;  // that let it through
  model::EgressEvent event;
  Metering metering;
  std::shared_ptr<const CredentialSet> credentials;  // nullptr: none
  bool masks = false;                                // the host may hold a secret of ours
  bool injected = false;                             // this request carries one
  std::optional<SigV4Signature> chunk_seed;
};

std::unique_ptr<http::AdmittedRequest> admit(Admission admission);

}  // namespace paddock::egress
