// AWS Signature Version 4: a request that was signed inside with placeholders is signed again with
// the real key. What the signature covers (headers, scope, time, hash of the payload) stays as the
// program chose it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "egress/credentials/secret.h"
#include "egress/http/message.h"

namespace paddock::egress {

struct AwsKey {
  Secret id;
  Secret key;
};

enum class SigV4Place { header, query };  // a presigned URL

// What a request says of its own signature.
struct SigV4Claim {
  SigV4Place place = SigV4Place::header;
  std::string key_id;
  std::string date, region, service;  // the scope
  std::string time;                   // "20130524T000000Z"
  std::vector<std::string> signed_headers;

  std::string scope() const { return date + "/" + region + "/" + service + "/aws4_request"; }
};

// nullopt: not signed this way. data_corrupt: signed in a way that cannot be repeated.
Result<std::optional<SigV4Claim>> find_sigv4(const http::Request& request);

// How the payload takes part.
enum class SigV4Payload {
  declared,   // by x-amz-content-sha256, or not at all (presigned)
  of_body,    // its hash must be given: the body must be read before the head is sent
  in_chunks,  // each chunk is signed (AwsChunkSigner)
};
SigV4Payload payload_of(const http::Request& request, const SigV4Claim& claim);

// What further signatures of the same request are made from.
struct SigV4Signature {
  std::string hex;
  std::string signing_key;
  std::string time;
  std::string scope;
};

// Replaces the signature in `request`, whose authority is signed as Host. `body_hash` (hex) is used
// with SigV4Payload::of_body only.
SigV4Signature sign_again(http::Request& request, const SigV4Claim& claim, const AwsKey& key,
                          std::string_view body_hash);

}  // namespace paddock::egress
