#include "net/kept_authority.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/random.h"

namespace paddock::net {
namespace {

constexpr size_t kMaxKeptFile = 64 * 1024;

struct Files {
  std::string key, certificate;
};

Files files_in(const std::string& directory) {
  return {directory + "/key.pem", directory + "/cert.pem"};
}

void wipe(std::string& bytes) {
  OPENSSL_cleanse(bytes.data(), bytes.size());
}

std::string digits() {
  std::string out;
  for (const char byte : sys::random_bytes(4)) {
    out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

// The key is written last: where it is, both are whole.
Status make_files(const Files& files, AuthorityTerms terms) {
  PkeyPtr key = PD_TRY(make_key());
  terms.name += " " + digits();
  X509Ptr certificate = PD_TRY(make_authority(*key, terms));
  ::unlink(files.key.c_str());
  PD_TRY(sys::replace_file(files.certificate, to_pem(*certificate), 0644));
  std::string text = to_pem(*key);
  Status written = sys::replace_file(files.key, text, 0600);
  wipe(text);
  return written;
}

Result<X509Ptr> read_certificate(const Files& files) {
  const std::string pem = PD_TRY(sys::read_file(files.certificate, kMaxKeptFile));
  return PD_TRY_CTX("reading " + files.certificate, certificate_from_pem(pem));
}

// What cannot be read is not replaced: somebody may trust it.
Result<bool> must_be_made(const Files& files, time_t good_until) {
  if (!sys::exists(files.key)) return true;
  if (good_until == 0) return false;
  return end_of(*PD_TRY(read_certificate(files))) < good_until;
}

Status check_private(const std::string& path) {
  const struct stat info = PD_TRY(sys::lstat_path(path));
  if ((info.st_mode & 077) == 0) return {};
  return Error(Code::failed_precondition, fmt::format("{} can be read by others", path))
      .set_remedy("remove it: a new authority is made, and what is started from then on trusts it");
}

}  // namespace

Result<KeptAuthority> KeptAuthority::open(const std::string& directory,
                                          const KeptAuthorityOptions& options) {
  const Files files = files_in(directory);
  PD_TRY(sys::make_dirs(directory, 0700));
  {
    const sys::FileFd lock =
        PD_TRY(sys::lock_path(directory + "/lock", sys::LockMode::exclusive, sys::LockWait::yes));
    if (PD_TRY(must_be_made(files, options.good_until))) {
      PD_TRY_CTX("making the authority for " + options.purpose, make_files(files, options.terms));
    }
  }
  PD_TRY(check_private(files.key));
  KeptAuthority authority;
  std::string key = PD_TRY(sys::read_file(files.key, kMaxKeptFile));
  auto parsed = key_from_pem(key);
  wipe(key);
  authority.key_ = PD_TRY_CTX("reading " + files.key, std::move(parsed));
  authority.certificate_ = PD_TRY(read_certificate(files));
  authority.pem_ = to_pem(*authority.certificate_);
  if (X509_check_private_key(authority.certificate_.get(), authority.key_.get()) != 1) {
    return Error(Code::data_corrupt, files.certificate + " does not belong to " + files.key)
        .set_remedy("remove both: a new authority is made");
  }
  return authority;
}

}  // namespace paddock::net
