// Whether a host's key is the one that the user of this machine knows.
#pragma once

#include <libssh/libssh.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::ssh {

// permission_denied: it is unknown, another one, or revoked. The session has the host, its port and
// the first two files set.
Status check_known(ssh_session session, const std::string& host,
                   const std::vector<std::string>& files);

}  // namespace paddock::ssh
