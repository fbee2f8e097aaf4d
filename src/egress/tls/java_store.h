// Trusted certificates in the form that every Java reads.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::egress::tls {

// A key store of type JKS, version 2, with each certificate of `pem` as a trusted entry and the
// password that Java's own store has. Java 8 to 25 read it at their `lib/security/cacerts`,
// whatever type they write themselves (keystore.type.compat). data_corrupt: a block that is no
// base64, or none at all. Pure.
Result<std::string> java_trust_store(std::string_view pem);

}  // namespace paddock::egress::tls
