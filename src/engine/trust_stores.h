// How programs inside come to trust the authority that the gate opens TLS with.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/egress_plan.h"
#include "model/mounts.h"
#include "model/paths.h"

namespace paddock::engine {

struct TrustRequest {
  std::string bundle;         // PEM: the authority, and what the host trusts
  model::HostPath state_dir;  // of the sandbox: files are kept there
  std::string root;           // directory that is `/` inside; empty: the host's own
};

// Writes the bundle and, where the root has a Java, a store for it, and shows them where programs
// look: at a place of ours, in the system's bundle, in each Java's `cacerts`. Returns the variables
// that name the bundle. Nothing is shown where the root has nothing.
Result<Variables> show_trust(const TrustRequest& request, model::FileSystem& files);

// Paths inside of the trust stores of the Javas in `root`, resolved; for what `files` shows.
std::vector<std::string> java_stores(const std::string& root, const model::FileSystem& files);

}  // namespace paddock::engine
