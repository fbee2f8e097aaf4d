#include "egress/ssh/host_key.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include <memory>

#include "base/base64.h"
#include "base/strings.h"
#include "egress/ssh/encoding.h"
#include "net/certificate.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/random.h"

namespace paddock::egress::ssh {
namespace {

constexpr std::string_view kType = "ssh-ed25519";
constexpr size_t kKey = 32;
constexpr size_t kBlock = 8;
constexpr size_t kLine = 70;
constexpr size_t kMaxFile = 64 * 1024;

struct KeyPair {
  std::string secret, open;  // 32 bytes each
};

Result<KeyPair> make_key_pair() {
  KeyPair pair{sys::random_bytes(kKey), std::string(kKey, '\0')};
  // SAFETY: bytes as unsigned chars, kKey of them each.
  const net::PkeyPtr key(EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(pair.secret.data()), kKey));
  size_t size = kKey;
  if (key == nullptr ||
      EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(pair.open.data()),
                                  &size) != 1) {
    return Error(Code::internal, "making an ed25519 key");
  }
  return pair;
}

std::string public_blob(const KeyPair& pair) {
  return encoded(kType) + encoded(pair.open);
}

// PROTOCOL.key of OpenSSH, without a passphrase.
std::string private_file(const KeyPair& pair) {
  const std::string check = sys::random_bytes(4);
  std::string secret =
      check + check + public_blob(pair) + encoded(pair.secret + pair.open) + encoded("paddock");
  for (char pad = 1; secret.size() % kBlock != 0; ++pad) secret += pad;
  std::string blob = std::string("openssh-key-v1\0", 15) + encoded("none") + encoded("none") +
                     encoded("") + encoded(1) + encoded(public_blob(pair)) + encoded(secret);
  const std::string encoded = base64_encode(blob);
  std::string out = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (size_t at = 0; at < encoded.size(); at += kLine) out += encoded.substr(at, kLine) + "\n";
  wipe(secret);
  wipe(blob);
  return out + "-----END OPENSSH PRIVATE KEY-----\n";
}

// The private file is written last: where it is, both are whole.
Status make_files(const std::string& path) {
  KeyPair pair = PD_TRY(make_key_pair());
  const std::string open = std::string(kType) + " " + base64_encode(public_blob(pair));
  std::string file = private_file(pair);
  wipe(pair.secret);
  Status written = sys::replace_file(path + ".pub", open + "\n", 0644);
  if (written.ok()) written = sys::replace_file(path, file, 0600);
  wipe(file);
  return written;
}

}  // namespace

Result<HostKey> open_host_key(const std::string& directory) {
  const std::string path = directory + "/ssh_host_ed25519_key";
  PD_TRY(sys::make_dirs(directory, 0700));
  {
    const sys::FileFd lock =
        PD_TRY(sys::lock_path(directory + "/lock", sys::LockMode::exclusive, sys::LockWait::yes));
    if (!sys::exists(path)) PD_TRY_CTX("making the host key for ssh", make_files(path));
  }
  const struct stat info = PD_TRY(sys::lstat_path(path));
  if ((info.st_mode & 077) != 0) {
    return Error(Code::failed_precondition, fmt::format("{} can be read by others", path))
        .set_remedy("remove it: a new key is made, and sandboxes started from then on know it");
  }
  const std::string open = PD_TRY(sys::read_file(path + ".pub", kMaxFile));
  return HostKey{.private_key = Secret(PD_TRY(sys::read_file(path, kMaxFile))),
                 .public_key = std::string(trim(open))};
}

}  // namespace paddock::egress::ssh
