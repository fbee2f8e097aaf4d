#include "egress/tls/authority.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include "egress/credentials/hmac.h"
#include "egress/credentials/secret.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/random.h"

namespace paddock::egress::tls {
namespace {

constexpr size_t kMaxFile = 64 * 1024;

struct Files {
  std::string key, certificate;
};

Files files_in(const std::string& directory) {
  return {directory + "/key.pem", directory + "/cert.pem"};
}

// The key is written last: where it is, both are whole.
Status make_files(const Files& files) {
  net::PkeyPtr key = PD_TRY(net::make_key());
  const std::string name = "Paddock sandbox authority " + to_hex(sys::random_bytes(4));
  net::X509Ptr certificate = PD_TRY(net::make_authority(*key, name));
  PD_TRY(sys::replace_file(files.certificate, net::to_pem(*certificate), 0644));
  std::string text = net::to_pem(*key);
  Status written = sys::replace_file(files.key, text, 0600);
  wipe(text);
  return written;
}

Status check_private(const std::string& path) {
  const struct stat info = PD_TRY(sys::lstat_path(path));
  if ((info.st_mode & 077) == 0) return {};
  return Error(Code::failed_precondition, fmt::format("{} can be read by others", path))
      .set_remedy(
          "remove it: a new authority is made, and sandboxes started from then on trust it");
}

}  // namespace

Result<std::unique_ptr<Authority>> Authority::open(const std::string& directory) {
  const Files files = files_in(directory);
  PD_TRY(sys::make_dirs(directory, 0700));
  {
    const sys::FileFd lock =
        PD_TRY(sys::lock_path(directory + "/lock", sys::LockMode::exclusive, sys::LockWait::yes));
    if (!sys::exists(files.key)) PD_TRY_CTX("making the authority for TLS", make_files(files));
  }
  PD_TRY(check_private(files.key));
  std::unique_ptr<Authority> authority(new Authority);
  std::string key = PD_TRY(sys::read_file(files.key, kMaxFile));
  auto parsed = net::key_from_pem(key);
  wipe(key);
  authority->key_ = PD_TRY_CTX("reading " + files.key, std::move(parsed));
  authority->pem_ = PD_TRY(sys::read_file(files.certificate, kMaxFile));
  authority->certificate_ =
      PD_TRY_CTX("reading " + files.certificate, net::certificate_from_pem(authority->pem_));
  if (X509_check_private_key(authority->certificate_.get(), authority->key_.get()) != 1) {
    return Error(Code::data_corrupt, files.certificate + " does not belong to " + files.key)
        .set_remedy("remove both: a new authority is made");
  }
  authority->leaf_key_ = PD_TRY(net::make_key());
  return authority;
}

Result<std::shared_ptr<SSL_CTX>> Authority::server_for(const Host& host) {
  const std::string name = to_string(host);
  std::lock_guard lock(mutex_);
  if (const auto kept = kept_.find(name); kept != kept_.end()) return kept->second;
  net::X509Ptr leaf = PD_TRY(net::make_leaf({name, *leaf_key_, *certificate_, *key_}));
  auto context = PD_TRY(net::make_server_context(*leaf, *leaf_key_, certificate_.get()));
  if (kept_.size() >= kKept) kept_.clear();
  std::shared_ptr<SSL_CTX> shared(std::move(context));
  kept_.emplace(name, shared);
  return shared;
}

}  // namespace paddock::egress::tls
