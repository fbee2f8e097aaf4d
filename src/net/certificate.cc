#include "net/certificate.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>

#include "model/ip_address.h"

namespace paddock::net {
namespace {

constexpr const char* kFrom = "20000101000000Z";
constexpr const char* kUntil = "20491231235959Z";

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, BioFree>;

Error failed(std::string_view doing) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return Error(Code::internal,
               std::string(doing) + ": " + (reason != nullptr ? reason : "OpenSSL failed"));
}

bool add_extension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(&certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// 127 random bits, positive (RFC 5280 section 4.1.2.2).
bool set_serial(X509& certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);
  std::unique_ptr<BIGNUM, decltype(&BN_free)> number(BN_bin2bn(bytes.data(), bytes.size(), nullptr),
                                                     BN_free);
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_basics(X509& certificate, EVP_PKEY& key, const std::string& name) {
  // SAFETY: chars as bytes.
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  return X509_set_version(&certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
         ASN1_TIME_set_string(X509_getm_notBefore(&certificate), kFrom) == 1 &&
         ASN1_TIME_set_string(X509_getm_notAfter(&certificate), kUntil) == 1 &&
         X509_set_pubkey(&certificate, &key) == 1 &&
         X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_UTF8, text,
                                    -1, -1, 0) == 1;
}

}  // namespace

Result<PkeyPtr> make_key() {
  PkeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return failed("making a key");
  return key;
}

Result<X509Ptr> make_authority(EVP_PKEY& key, const std::string& name) {
  X509Ptr made(X509_new());
  const bool done =
      made != nullptr && set_basics(*made, key, name) &&
      X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1 &&
      add_extension(*made, *made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      add_extension(*made, *made, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      add_extension(*made, *made, NID_subject_key_identifier, "hash") &&
      X509_sign(made.get(), &key, EVP_sha256()) > 0;
  if (!done) return failed("making the authority's certificate");
  return made;
}

Result<X509Ptr> make_leaf(const LeafRequest& request) {
  // A common name holds 64 bytes; clients look at the alternative name anyway.
  const bool is_address = model::IpAddress::parse(request.host).ok();
  const std::string alternative = (is_address ? "IP:" : "DNS:") + request.host;
  X509& authority = request.authority;
  X509Ptr made(X509_new());
  const bool done = made != nullptr && set_basics(*made, request.key, request.host.substr(0, 64)) &&
                    X509_set_issuer_name(made.get(), X509_get_subject_name(&authority)) == 1 &&
                    add_extension(*made, authority, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(*made, authority, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(*made, authority, NID_ext_key_usage, "serverAuth") &&
                    add_extension(*made, authority, NID_subject_key_identifier, "hash") &&
                    add_extension(*made, authority, NID_authority_key_identifier, "keyid") &&
                    add_extension(*made, authority, NID_subject_alt_name, alternative) &&
                    X509_sign(made.get(), &request.authority_key, EVP_sha256()) > 0;
  if (!done) return failed("making a certificate for " + request.host);
  return made;
}

std::string to_pem(X509& certificate) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), &certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string to_pem(EVP_PKEY& key) {
  BioPtr bio(BIO_new(BIO_s_secmem()));
  PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

Result<X509Ptr> certificate_from_pem(std::string_view pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return failed("reading a certificate");
  return certificate;
}

Result<PkeyPtr> key_from_pem(std::string_view pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  PkeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr) return failed("reading a key");
  return key;
}

}  // namespace paddock::net
