#include "egress/tls/authority.h"

#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "sys/testing/temp_dir.h"

namespace paddock::egress::tls {
namespace {

Host host(const char* text) {
  return parse_host(text).value();
}

TEST(Authority, ItsLeavesAreGoodForTheirHostWhateverTheClock) {
  sys::testing::TempDir dir;
  auto authority = Authority::open(dir.path()).value();
  auto context = authority->server_for(host("a.example")).value();
  X509* leaf = SSL_CTX_get0_certificate(context.get());
  EXPECT_EQ(X509_check_host(leaf, "a.example", 0, 0, nullptr), 1);
  EXPECT_NE(X509_check_host(leaf, "b.example", 0, 0, nullptr), 1);
  auto issuer = net::certificate_from_pem(authority->pem()).value();
  std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(), X509_STORE_free);
  X509_STORE_add_cert(store.get(), issuer.get());
  for (time_t now : {time_t{978307200}, time(nullptr), time_t{2208988800}}) {  // 2001, today, 2040
    std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                          X509_STORE_CTX_free);
    X509_STORE_CTX_init(check.get(), store.get(), leaf, nullptr);
    X509_STORE_CTX_set_time(check.get(), 0, now);
    X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER);
    EXPECT_EQ(X509_verify_cert(check.get()), 1);
  }
}

TEST(Authority, LeavesAreKept) {
  sys::testing::TempDir dir;
  auto authority = Authority::open(dir.path()).value();
  EXPECT_EQ(authority->server_for(host("a.example")).value(),
            authority->server_for(host("a.example")).value());
  const auto context = authority->server_for(host("192.0.2.1")).value();
  EXPECT_EQ(X509_check_ip_asc(SSL_CTX_get0_certificate(context.get()), "192.0.2.1", 0), 1);
}

}  // namespace
}  // namespace paddock::egress::tls
