// What stands for a secret inside a sandbox: text of the same shape, so that programs that check
// their tokens accept it, and of no use anywhere but in this sandbox.
#pragma once

#include <string>
#include <string_view>

namespace paddock::egress {

// Letters become other letters of the same case, digits other digits; every other byte, and a
// prefix that tells what the token is ("ghp_", "sk-", "AKIA"), stays. Of a JSON Web Token the
// header stays and the claims say nothing but that it does not expire. A secret with too little to
// vary (a short password) gets a text of another shape instead, or it would turn up by chance in
// other traffic.
//
// The same key and name give the same text: every sandbox, and every fork, has a key of its own.
std::string make_placeholder(std::string_view secret, std::string_view key, std::string_view name);

}  // namespace paddock::egress
