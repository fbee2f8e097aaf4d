// Who makes a request, by the API key that he shows.
#pragma once

#include <optional>

#include "base/result.h"
#include "model/owner.h"
#include "net/http/message.h"
#include "service/keys.h"

namespace paddock::api {

// Used on the loop's thread. Reading the keys is one look into a file that is mapped: it waits for
// nobody who writes.
class Doorkeeper {
 public:
  // `when_made`: any key is taken until the first one was made.
  enum class Rule { when_made, required };

  Doorkeeper(service::KeyRing& keys, Rule rule) : keys_(keys), rule_(rule) {}

  // Any key is taken: the server must be for this machine alone.
  Result<bool> takes_any();
  // nullopt: no key, or one that is not known or revoked. Errors: the keys cannot be read.
  Result<std::optional<model::Caller>> caller(const net::http::RequestHead& request);
  // Numbers of all callers are for a key of that scope, shown like any other or as a bearer token.
  Result<bool> may_read_metrics(const net::http::RequestHead& request);

 private:
  service::KeyRing& keys_;
  Rule rule_;
};

}  // namespace paddock::api
