// Names to addresses, as this host resolves them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ip_address.h"
#include "net/task.h"

namespace paddock::net {

class Resolver {
 public:
  virtual ~Resolver() = default;
  // In the order in which they should be tried; never empty. not_found: no such name. unavailable:
  // no answer for now.
  virtual Result<std::vector<model::IpAddress>> resolve(Task& task, const std::string& name) = 0;
};

// The host's own: its hosts file for exact names, then getaddrinfo(3), in threads of its own since
// that one blocks. No search list takes part: the name that was decided on is the one that is asked
// for. Answers are kept for a few seconds. Thread-safe.
std::unique_ptr<Resolver> make_system_resolver();

// Addresses of a name in the text of a hosts(5) file.
std::vector<model::IpAddress> find_in_hosts_file(std::string_view text, std::string_view name);

}  // namespace paddock::net
