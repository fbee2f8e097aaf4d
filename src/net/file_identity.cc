#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/crypto.h>
#include <sys/stat.h>

#include <tuple>
#include <utility>

#include "base/strings.h"
#include "net/server_identity.h"
#include "sys/files.h"

namespace paddock::net {
namespace {

constexpr size_t kMaxIdentityFile = 1u << 20;

// Which file it is, and which bytes are in it, as far as the kernel tells.
using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

Result<Stamp> stamp_of(const std::string& path) {
  const struct stat st = PD_TRY(sys::stat_path(path));
  return Stamp{st.st_dev, st.st_ino, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
}

Result<std::string> read_regular(const std::string& path) {
  const sys::FileFd file = PD_TRY(sys::open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat st {};
  if (::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return Error(Code::invalid_argument, "not a regular file");
  }
  return sys::read_all(file, kMaxIdentityFile);
}

Status check_not_public(const std::string& path) {
  const struct stat st = PD_TRY(sys::stat_path(path));
  if ((st.st_mode & 0007) == 0) return {};
  return Error(Code::failed_precondition, fmt::format("{} can be read by everybody", path))
      .set_remedy(fmt::format("chmod o= {}; and take another key where it was used already", path));
}

Error no_pem(const std::string& path, std::string_view what) {
  return Error(Code::invalid_argument, fmt::format("{}: {}", printable(path), what));
}

struct Loaded {
  SslContextPtr context;
  X509Ptr leaf;
};

Result<PkeyPtr> load_key(const std::string& path) {
  std::string pem = PD_TRY(read_regular(path));
  auto key = key_from_pem(pem);
  OPENSSL_cleanse(pem.data(), pem.size());
  if (!key.ok()) {
    return no_pem(path, "no private key in PEM without a passphrase")
        .set_remedy(fmt::format("openssl pkey -in {} -out FILE", path));
  }
  PD_TRY(check_not_public(path));
  return key;
}

Result<Loaded> load(const CertificateFiles& files, time_t now) {
  const std::string pem = PD_TRY(read_regular(files.certificate));
  auto chain = certificates_from_pem(pem);
  if (!chain.ok() || chain->empty()) return no_pem(files.certificate, "no certificate in PEM");
  PkeyPtr key = PD_TRY(load_key(files.key));
  X509Ptr leaf = std::move(chain->front());
  if (X509_check_private_key(leaf.get(), key.get()) != 1) {
    return no_pem(files.key, "not the key of " + files.certificate)
        .set_remedy("the server's own certificate comes first in its file");
  }
  if (end_of(*leaf) <= now) {
    return Error(Code::failed_precondition,
                 fmt::format("{}: the certificate is over", files.certificate))
        .set_remedy("renew it; a server that runs takes the new one by itself");
  }
  std::vector<X509*> issuers;
  for (size_t i = 1; i < chain->size(); ++i) issuers.push_back((*chain)[i].get());
  SslContextPtr context = PD_TRY(make_server_context(*leaf, *key, issuers));
  return Loaded{std::move(context), std::move(leaf)};
}

class FileIdentity : public ServerIdentity {
 public:
  explicit FileIdentity(CertificateFiles files) : files_(std::move(files)) {}

  Result<SslPtr> session() override { return make_server(*loaded_.context, "http/1.1"); }

  // What was found wrong is said once for each state of the files.
  Result<Refreshed> refresh(time_t now) override {
    const std::pair stamps{PD_TRY_CTX("reading the certificate", stamp_of(files_.certificate)),
                           PD_TRY_CTX("reading the certificate's key", stamp_of(files_.key))};
    if (stamps == stamps_) return Refreshed::as_before;
    stamps_ = stamps;
    loaded_ = PD_TRY_CTX("reading the certificate", load(files_, now));
    return Refreshed::renewed;
  }

  bool is_good_for(const std::string& host) const override { return is_for(*loaded_.leaf, host); }
  time_t good_until() const override { return end_of(*loaded_.leaf); }

 private:
  const CertificateFiles files_;
  std::pair<Stamp, Stamp> stamps_;
  Loaded loaded_;
};

}  // namespace

Result<std::unique_ptr<ServerIdentity>> read_identity(CertificateFiles files, time_t now) {
  auto identity = std::make_unique<FileIdentity>(std::move(files));
  PD_TRY(identity->refresh(now));
  return std::unique_ptr<ServerIdentity>(std::move(identity));
}

}  // namespace paddock::net
