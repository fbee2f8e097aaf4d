#include "net/certificate.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace paddock::net {
namespace {

constexpr Validity kDay{1'700'000'000, 1'700'086'400};

struct Authority {
  explicit Authority(AuthorityTerms terms) : certificate(make_authority(*key, terms).value()) {}

  Result<X509Ptr> leaf(std::vector<std::string> hosts, Validity validity = kWhateverTheClock) {
    return make_leaf({std::move(hosts), *leaf_key, *certificate, *key, validity});
  }

  // X509_V_OK, or why a client that trusts this authority refuses.
  int verify(X509& leaf, time_t now) const {
    std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(),
                                                                  X509_STORE_free);
    X509_STORE_add_cert(store.get(), certificate.get());
    std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                          X509_STORE_CTX_free);
    X509_STORE_CTX_init(check.get(), store.get(), &leaf, nullptr);
    X509_STORE_CTX_set_time(check.get(), 0, now);
    X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER);
    X509_verify_cert(check.get());
    return X509_STORE_CTX_get_error(check.get());
  }

  PkeyPtr key = make_key().value();
  PkeyPtr leaf_key = make_key().value();
  X509Ptr certificate;
};

TEST(Certificate, IsForTheHostsItNamesAndOneLabelOfAWildcard) {
  Authority authority({"test"});
  X509Ptr leaf = authority.leaf({"a.example", "*.b.example", "192.0.2.1", "::1"}).value();
  for (const char* host : {"a.example", "3000-id.b.example", "192.0.2.1", "::1"}) {
    EXPECT_TRUE(is_for(*leaf, host)) << host;
  }
  for (const char* host : {"b.example", "x.y.b.example", "x.a.example", "192.0.2.2", "::2", ""}) {
    EXPECT_FALSE(is_for(*leaf, host)) << host;
  }
}

TEST(Certificate, NoClientTakesAWildcardBelowASingleLabel) {
  Authority authority({"test"});
  EXPECT_FALSE(is_for(*authority.leaf({"*.localhost"}).value(), "api.localhost"));
}

TEST(Certificate, IsGoodForItsTimeAlone) {
  Authority authority({"test"});
  X509Ptr leaf = authority.leaf({"a.example"}, kDay).value();
  EXPECT_EQ(end_of(*leaf), kDay.until);
  EXPECT_EQ(authority.verify(*leaf, kDay.until - 1), X509_V_OK);
  EXPECT_EQ(authority.verify(*leaf, kDay.until + 1), X509_V_ERR_CERT_HAS_EXPIRED);
  X509Ptr always = authority.leaf({"a.example"}).value();
  for (time_t now : {time_t{978'307'200}, time_t{2'208'988'800}}) {  // 2001, 2040
    EXPECT_EQ(authority.verify(*always, now), X509_V_OK);
  }
}

TEST(Certificate, AnAuthorityForSomeNamesIsBelievedForNoOther) {
  Authority bound({"test", kWhateverTheClock, {"sbx.example", "localhost"}});
  Authority free({"test"});
  const time_t now = 1'700'000'000;
  for (const char* host : {"sbx.example", "*.sbx.example", "a.b.sbx.example", "localhost",
                           "49983-id.localhost", "127.0.0.1"}) {
    EXPECT_EQ(bound.verify(*bound.leaf({host}).value(), now), X509_V_OK) << host;
  }
  for (const char* host : {"bank.example", "example", "xsbx.example", "evil-localhost"}) {
    EXPECT_EQ(bound.verify(*bound.leaf({host}).value(), now), X509_V_ERR_PERMITTED_VIOLATION)
        << host;
    EXPECT_EQ(free.verify(*free.leaf({host}).value(), now), X509_V_OK) << host;
  }
}

TEST(Certificate, WhatIsNoHostDoesNotReachOpenSslsNotation) {
  Authority authority({"test"});
  for (const char* host :
       {"", "a b", "a,DNS:b", "a\nb", "dirName:x", "*", "*.", "a.*.b", "[::1]"}) {
    const auto leaf = authority.leaf({host});
    ASSERT_FALSE(leaf.ok()) << host;
    EXPECT_EQ(leaf.error().code(), Code::invalid_argument);
    EXPECT_EQ(make_authority(*authority.key, {"test", kDay, {host}}).error().code(),
              Code::invalid_argument);
  }
}

TEST(Pem, AChainIsReadInOrder) {
  Authority one({"one"}), two({"two"});
  const auto chain =
      certificates_from_pem(to_pem(*one.certificate) + "text\n" + to_pem(*two.certificate)).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(to_pem(*chain[0]), to_pem(*one.certificate));
  EXPECT_EQ(to_pem(*chain[1]), to_pem(*two.certificate));
  EXPECT_FALSE(certificates_from_pem("-----BEGIN CERTIFICATE-----\nAAAA\n").ok());
}

TEST(Pem, IsReadBack) {
  Authority authority({"test"});
  auto again = certificate_from_pem(to_pem(*authority.certificate)).value();
  EXPECT_EQ(X509_cmp(again.get(), authority.certificate.get()), 0);
  auto key = key_from_pem(to_pem(*authority.key)).value();
  EXPECT_EQ(EVP_PKEY_eq(key.get(), authority.key.get()), 1);
  EXPECT_FALSE(certificate_from_pem("junk").ok());
  EXPECT_FALSE(key_from_pem("junk").ok());
}

TEST(Pem, AnEncryptedKeyIsAnErrorAndNoQuestionAtATerminal) {
  const PkeyPtr key = make_key().value();
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  char passphrase[] = "secret";
  ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), EVP_aes_256_cbc(), passphrase, 6,
                                          nullptr, nullptr),
            1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  EXPECT_FALSE(key_from_pem({data, static_cast<size_t>(size)}).ok());
}

}  // namespace
}  // namespace paddock::net
