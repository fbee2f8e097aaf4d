#include "engine/trust_stores.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "egress/tls/java_store.h"
#include "engine/passing_file.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

using model::GuestPath;
using model::HostPath;

constexpr const char* kTrustInside = "/run/paddock/ca.pem";
constexpr const char* kSystemBundle = "/etc/ssl/certs/ca-certificates.crt";
// Where packages put Javas, each in a directory of its own, and where distributions keep one store
// for all of them.
constexpr const char* kJavaHomes[] = {"/usr/lib/jvm", "/usr/java", "/opt", "/opt/java"};
constexpr const char* kStoresOfAJava[] = {"/lib/security/cacerts", "/jre/lib/security/cacerts"};
constexpr const char* kSharedStores[] = {"/etc/ssl/certs/java/cacerts",
                                         "/etc/pki/ca-trust/extracted/java/cacerts"};

// A regular file that is reached without a link. A root may be anybody's: its links would be looked
// up on the host here, and inside they would lead the mount elsewhere.
bool is_file_below(const HostPath& tree, const std::string& rest) {
  if (rest.empty()) {  // the tree is a file, bound by itself
    const auto st = sys::lstat_path(tree.str());
    return st.ok() && S_ISREG(st->st_mode);
  }
  const auto directory = sys::open_dir(tree.str());
  if (!directory.ok()) return false;
  const auto file = sys::open_beneath(*directory, rest.substr(1), O_PATH | O_NOFOLLOW);
  struct stat st {};
  return file.ok() && ::fstat(file->get(), &st) == 0 && S_ISREG(st.st_mode);
}

// Whether programs find a file at `path` that may be mounted on: what covers it most closely has
// it, or nothing does. What a view keeps is the project's.
bool is_file(const GuestPath& path, const model::FileSystem& files) {
  GuestPath nearest;
  std::vector<HostPath> sources;
  auto consider = [&](const GuestPath& at, const std::vector<HostPath>& trees) {
    if (!at.contains(path) || at.str().size() < nearest.str().size()) return;
    nearest = at;
    sources = trees;
  };
  for (const model::OverlayTree& tree : files.overlays)
    consider(tree.at, tree.upper ? std::vector<HostPath>() : tree.lowers);
  for (const model::BindTree& bind : files.binds) consider(bind.at, {bind.source});
  const std::string rest = path.str().substr(nearest.str() == "/" ? 0 : nearest.str().size());
  return std::any_of(sources.begin(), sources.end(),
                     [&](const HostPath& source) { return is_file_below(source, rest); });
}

std::vector<std::string> candidates(const std::string& root) {
  std::vector<std::string> paths(std::begin(kSharedStores), std::end(kSharedStores));
  for (const char* home : kJavaHomes) {
    const auto dir = sys::open_dir(root + home);
    if (!dir.ok()) continue;
    const auto entries = sys::list_dir(*dir);
    if (!entries.ok()) continue;
    for (const sys::DirEntry& entry : *entries) {
      for (const char* store : kStoresOfAJava)
        paths.push_back(std::string(home) + "/" + entry.name + store);
    }
  }
  return paths;
}

}  // namespace

std::vector<std::string> java_stores(const std::string& root, const model::FileSystem& files) {
  std::set<std::string> stores;
  for (std::string path : candidates(root)) {
    // Links of the host lead where they lead inside. Those of another root are not followed here.
    if (root.empty()) {
      auto resolved = sys::real_path(path);
      if (!resolved.ok()) continue;
      path = std::move(*resolved);
    }
    if (is_file(GuestPath(path), files)) stores.insert(path);
  }
  return {stores.begin(), stores.end()};
}

Result<Variables> show_trust(const TrustRequest& request, model::FileSystem& files) {
  const auto show = [&](const std::string& at, const HostPath& source) {
    files.binds.push_back({GuestPath(at), source, model::Access::read_only});
  };
  const std::vector<std::string> javas = java_stores(request.root, files);
  const HostPath bundle = request.state_dir / "ca.pem";
  PD_TRY(write_passing_file(bundle, request.bundle));
  if (is_file(GuestPath(kSystemBundle), files)) show(kSystemBundle, bundle);
  show(kTrustInside, bundle);
  if (!javas.empty()) {
    const HostPath store = request.state_dir / "cacerts";
    const std::string bytes = PD_TRY(egress::tls::java_trust_store(request.bundle));
    PD_TRY(write_passing_file(store, bytes));
    for (const std::string& java : javas) show(java, store);
  }
  return trust_variables(kTrustInside);
}

}  // namespace paddock::engine
