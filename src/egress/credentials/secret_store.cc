#include "egress/credentials/secret_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/random.h"

namespace paddock::egress {
namespace {

constexpr std::string_view kFormat = "paddock-secret-1\n";
constexpr std::string_view kSuffix = ".secret";
constexpr size_t kKeySize = 32, kNonceSize = 12, kTagSize = 16;
constexpr size_t kMaxFile = 64 * 1024;

struct CipherFree {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, CipherFree>;

// SAFETY: chars as bytes, both ways.
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

Status check_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (plain && !name.empty() && name.size() <= 64 && name.front() != '.') return {};
  return Error(Code::invalid_argument, fmt::format("'{}' is no name of a secret", printable(name)))
      .set_remedy("use letters, digits, '-', '_' and '.'");
}

// Nonce, ciphertext, tag.
Result<std::string> encrypt(const std::string& key, std::string_view name, std::string_view text) {
  const std::string nonce = sys::random_bytes(kNonceSize);
  std::string out(text.size(), '\0'), tag(kTagSize, '\0');
  CipherPtr cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                         bytes_of(nonce)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(name),
                        static_cast<int>(name.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), bytes_of(out), &size, bytes_of(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), bytes_of(out) + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagSize, tag.data()) == 1;
  if (!done) return Error(Code::internal, "encrypting a secret");
  return nonce + out + tag;
}

Result<std::string> decrypt(const std::string& key, std::string_view name,
                            std::string_view sealed) {
  const Error changed(Code::data_corrupt,
                      fmt::format("secret {}: it or its key was changed", name));
  if (sealed.size() < kNonceSize + kTagSize) return changed;
  const std::string_view nonce = sealed.substr(0, kNonceSize);
  const std::string_view text = sealed.substr(kNonceSize, sealed.size() - kNonceSize - kTagSize);
  std::string tag(sealed.substr(sealed.size() - kTagSize)), out(text.size(), '\0');
  CipherPtr cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                         bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(name),
                        static_cast<int>(name.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(out), &size, bytes_of(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagSize, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), bytes_of(out) + size, &size) == 1;
  if (done) return out;
  wipe(out);
  return changed;
}

Result<std::string> read_key(const std::string& path) {
  const struct stat info = PD_TRY(sys::lstat_path(path));
  if ((info.st_mode & 077) != 0) {
    return Error(Code::failed_precondition, path + " can be read by others")
        .set_remedy("chmod 600 it, and think of every secret in the store as known");
  }
  std::string key = PD_TRY(sys::read_file(path, kMaxFile));
  if (key.size() != kKeySize) return Error(Code::data_corrupt, path + " is no key");
  return key;
}

// Made when it is not there; two processes agree on one.
Result<std::string> make_key(const std::string& directory) {
  PD_TRY(sys::make_dirs(directory, 0700));
  const sys::FileFd lock =
      PD_TRY(sys::lock_path(directory + "/lock", sys::LockMode::exclusive, sys::LockWait::yes));
  const std::string path = directory + "/key";
  if (!sys::exists(path)) PD_TRY(sys::replace_file(path, sys::random_bytes(kKeySize), 0600));
  return read_key(path);
}

}  // namespace

Status SecretStore::put(const std::string& name, const Secret& secret) const {
  PD_TRY(check_name(name));
  std::string key = PD_TRY_CTX("opening the store of secrets", make_key(directory_));
  auto sealed = encrypt(key, name, secret.reveal());
  wipe(key);
  if (!sealed.ok()) return std::move(sealed).error();
  return sys::replace_file(directory_ + "/" + name + std::string(kSuffix),
                           std::string(kFormat) + *sealed, 0600)
      .with_context("keeping secret " + name);
}

Result<Secret> SecretStore::get(const std::string& name) const {
  PD_TRY(check_name(name));
  const std::string path = directory_ + "/" + name + std::string(kSuffix);
  if (!sys::exists(path)) {
    return Error(Code::not_found, fmt::format("there is no secret {} in Paddock's store", name))
        .set_remedy("paddock secret add " + name);
  }
  const std::string file = PD_TRY(sys::read_file(path, kMaxFile));
  if (!file.starts_with(kFormat))
    return Error(Code::data_corrupt, path + " is no secret of this version");
  std::string key = PD_TRY_CTX("opening the store of secrets", read_key(directory_ + "/key"));
  auto text = decrypt(key, name, std::string_view(file).substr(kFormat.size()));
  wipe(key);
  if (!text.ok()) return std::move(text).error();
  return Secret(std::move(*text));
}

Status SecretStore::remove(const std::string& name) const {
  PD_TRY(check_name(name));
  const std::string path = directory_ + "/" + name + std::string(kSuffix);
  if (unlink(path.c_str()) == 0) return {};
  if (errno == ENOENT)
    return Error(Code::not_found, fmt::format("there is no secret {} in Paddock's store", name));
  return Error::from_errno(errno, "removing secret " + name);
}

Result<std::vector<std::string>> SecretStore::names() const {
  std::vector<std::string> out;
  if (!sys::exists(directory_)) return out;
  const sys::DirFd dir = PD_TRY(sys::open_dir(directory_));
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(dir))) {
    if (entry.name.ends_with(kSuffix))
      out.push_back(entry.name.substr(0, entry.name.size() - kSuffix.size()));
  }
  return out;
}

}  // namespace paddock::egress
