#include "net/certificate.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "model/ip_address.h"
#include "net/openssl_error.h"

namespace paddock::net {
namespace {

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, BioFree>;

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

struct Basics {
  const std::string& name;
  EVP_PKEY& key;
  const Validity& validity;
};
bool set_basics(X509& certificate, const Basics& basics) {
  const std::string& name = basics.name;
  // SAFETY: chars as bytes.
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  return X509_set_version(&certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
         ASN1_TIME_set(X509_getm_notBefore(&certificate), basics.validity.from) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(&certificate), basics.validity.until) != nullptr &&
         X509_set_pubkey(&certificate, &basics.key) == 1 &&
         X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_UTF8, text,
                                    -1, -1, 0) == 1;
}

// The text goes into OpenSSL's own little language, where a comma begins another name.
bool is_dns_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

Result<std::string> alternative_names(const std::vector<std::string>& hosts) {
  std::string out;
  for (const std::string& host : hosts) {
    const bool is_address = model::IpAddress::parse(host).ok();
    const std::string_view name = std::string_view(host).substr(host.starts_with("*.") ? 2 : 0);
    if (!is_address && !is_dns_name(name)) {
      return Error(Code::invalid_argument, "no host for a certificate: " + printable(host));
    }
    out.append(out.empty() ? "" : ",").append(is_address ? "IP:" : "DNS:").append(host);
  }
  return out;
}

Result<std::string> name_constraints(const std::vector<std::string>& names) {
  std::string out = "critical";
  for (const std::string& name : names) {
    if (!is_dns_name(name)) {
      return Error(Code::invalid_argument, "no name for an authority: " + printable(name));
    }
    out.append(",permitted;DNS:").append(name);
  }
  return out;
}

// 64 bytes at most; clients look at the alternative names. An address would be taken for a DNS name
// by those who hold names against an authority's constraints.
std::string common_name(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "";
  const std::string& first = hosts.front();
  return (model::IpAddress::parse(first).ok() ? "address " + first : first).substr(0, 64);
}

// Nobody is asked for a passphrase at a terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

Result<PkeyPtr> make_key() {
  PkeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return openssl_error("making a key");
  return key;
}

Result<X509Ptr> make_authority(EVP_PKEY& key, const AuthorityTerms& terms) {
  const std::string constraints = PD_TRY(name_constraints(terms.only_for));
  X509Ptr made(X509_new());
  const bool done =
      made != nullptr && set_basics(*made, {terms.name, key, terms.validity}) &&
      X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1 &&
      add_extension(*made, *made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      add_extension(*made, *made, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      add_extension(*made, *made, NID_subject_key_identifier, "hash") &&
      (terms.only_for.empty() || add_extension(*made, *made, NID_name_constraints, constraints)) &&
      X509_sign(made.get(), &key, EVP_sha256()) > 0;
  if (!done) return openssl_error("making the authority's certificate");
  return made;
}

Result<X509Ptr> make_leaf(const LeafRequest& request) {
  const std::string alternatives = PD_TRY(alternative_names(request.hosts));
  const std::string common = common_name(request.hosts);
  X509& authority = request.authority;
  X509Ptr made(X509_new());
  const bool done = made != nullptr && set_basics(*made, {common, request.key, request.validity}) &&
                    X509_set_issuer_name(made.get(), X509_get_subject_name(&authority)) == 1 &&
                    add_extension(*made, authority, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(*made, authority, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(*made, authority, NID_ext_key_usage, "serverAuth") &&
                    add_extension(*made, authority, NID_subject_key_identifier, "hash") &&
                    add_extension(*made, authority, NID_authority_key_identifier, "keyid") &&
                    add_extension(*made, authority, NID_subject_alt_name, alternatives) &&
                    X509_sign(made.get(), &request.authority_key, EVP_sha256()) > 0;
  if (!done) return openssl_error("making a certificate for " + common);
  return made;
}

bool is_for(X509& certificate, const std::string& host) {
  if (model::IpAddress::parse(host).ok()) {
    return X509_check_ip_asc(&certificate, host.c_str(), 0) == 1;
  }
  return X509_check_host(&certificate, host.data(), host.size(),
                         X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
}

time_t end_of(X509& certificate) {
  struct tm parts {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) != 1) return 0;
  return ::timegm(&parts);
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
  if (certificate == nullptr) return openssl_error("reading a certificate");
  return certificate;
}

Result<std::vector<X509Ptr>> certificates_from_pem(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  std::vector<X509Ptr> out;
  for (size_t at = pem.find(kBegin); at != std::string_view::npos; at = pem.find(kBegin, at + 1)) {
    out.push_back(PD_TRY(certificate_from_pem(pem.substr(at))));
  }
  return out;
}

Result<PkeyPtr> key_from_pem(std::string_view pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  PkeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) return openssl_error("reading a key");
  return key;
}

}  // namespace paddock::net
