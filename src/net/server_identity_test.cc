#include "net/server_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "net/testing/on_loop.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::net {
namespace {

using testing::run_on;
using testing::socket_pair;

constexpr time_t kSecondsADay = 86'400;
const time_t kNow = ::time(nullptr);

class LocalIdentity : public ::testing::Test {
 protected:
  std::unique_ptr<ServerIdentity> open(const std::string& domain, time_t now = kNow) {
    return make_local_identity(options(domain), now).value();
  }
  LocalIdentityOptions options(const std::string& domain) {
    return {dir_.path() + "/" + domain, domain, {model::IpAddress::parse("192.0.2.7").value()}};
  }

  // What a client that trusts the authority says of a server that it asks for by that name.
  Status meet(ServerIdentity& identity, const std::string& domain, const std::string& host) {
    Loop loop;
    auto context = make_client_context(local_authority(options(domain), kNow).value()).value();
    auto pair = socket_pair();
    TlsStream client(loop, std::make_unique<SocketStream>(loop, std::move(pair.a)),
                     make_client(*context, host, {"h2", "http/1.1"}).value());
    TlsStream server(loop, std::make_unique<SocketStream>(loop, std::move(pair.b)),
                     identity.session().value());
    return run_on(loop, [&](Task& task) {
      Event done(loop);
      loop.spawn([&](Task& other) {
        (void)server.handshake(other).ok();
        done.set();
      });
      Status met = client.handshake(task);
      done.wait_surely(task);
      EXPECT_EQ(client.protocol(), met.ok() ? "http/1.1" : client.protocol());
      return met;
    });
  }

  sys::testing::TempDir dir_;
};

TEST_F(LocalIdentity, IsBelievedForTheDomainForLoopbackAndForTheListenersAddresses) {
  auto identity = open("sbx.example");
  for (const char* host : {"sbx.example", "api.sbx.example", "49983-id.sbx.example", "localhost",
                           "49983-id.localhost", "127.0.0.1", "::1", "192.0.2.7"}) {
    const Status met = meet(*identity, "sbx.example", host);
    EXPECT_TRUE(met.ok()) << host << ": " << met.error().describe();
  }
  for (const char* host : {"other.example", "192.0.2.8", "sbx.example.evil"}) {
    EXPECT_FALSE(meet(*identity, "sbx.example", host).ok()) << host;
  }
}

TEST_F(LocalIdentity, NamesThatNoWildcardIsTakenForHaveCertificatesOfTheirOwn) {
  auto identity = open("localhost");
  for (const char* host : {"localhost", "api.localhost", "3000-id.localhost", "API.LocalHost",
                           "49983-id.sbx.localhost", "127.0.0.1"}) {
    const Status met = meet(*identity, "localhost", host);
    EXPECT_TRUE(met.ok()) << host << ": " << met.error().describe();
  }
  EXPECT_FALSE(meet(*identity, "localhost", "example.com").ok());
}

TEST_F(LocalIdentity, IsRenewedWhenItIsNearItsEndAndClientsGoOnTrustingIt) {
  auto identity = open("sbx.example", kNow - 61 * kSecondsADay);
  const time_t first = identity->good_until();
  EXPECT_EQ(identity->refresh(kNow - 2 * kSecondsADay).value(),
            ServerIdentity::Refreshed::as_before);
  EXPECT_EQ(identity->refresh(kNow).value(), ServerIdentity::Refreshed::renewed);
  EXPECT_EQ(identity->good_until(), first + 61 * kSecondsADay);
  EXPECT_TRUE(meet(*identity, "sbx.example", "a.sbx.example").ok());
}

TEST_F(LocalIdentity, AnAuthorityNearItsEndIsReplacedAndThatIsSaid) {
  auto identity = open("sbx.example", kNow - 3600 * kSecondsADay);
  EXPECT_EQ(identity->refresh(kNow).value(), ServerIdentity::Refreshed::by_another_authority);
  EXPECT_TRUE(meet(*identity, "sbx.example", "a.sbx.example").ok());
}

TEST_F(LocalIdentity, AServerThatStartsAgainIsTrustedByTheSameAuthority) {
  const std::string before = local_authority(options("sbx.example"), kNow).value();
  auto identity = open("sbx.example");
  EXPECT_EQ(local_authority(options("sbx.example"), kNow).value(), before);
  EXPECT_NE(local_authority(options("localhost"), kNow).value(), before);
}

// Certificate and key of a test's own authority, in files.
class Files : public ::testing::Test {
 protected:
  void write(time_t until, const std::string& host = "a.example") {
    PkeyPtr key = make_key().value();
    X509Ptr leaf =
        make_leaf({{host}, *key, *issuer_, *issuer_key_, {kNow - kSecondsADay, until}}).value();
    ASSERT_TRUE(sys::replace_file(files_.certificate, to_pem(*leaf) + to_pem(*issuer_), 0644).ok());
    ASSERT_TRUE(sys::replace_file(files_.key, to_pem(*key), 0600).ok());
  }
  Code refused() { return read_identity(files_, kNow).error().code(); }

  sys::testing::TempDir dir_;
  CertificateFiles files_{dir_.path() + "/cert.pem", dir_.path() + "/key.pem"};
  PkeyPtr issuer_key_ = make_key().value();
  X509Ptr issuer_ = make_authority(*issuer_key_, {"test authority"}).value();
};

TEST_F(Files, AreShownWithTheirIssuers) {
  write(kNow + kSecondsADay);
  auto identity = read_identity(files_, kNow).value();
  EXPECT_TRUE(identity->is_good_for("a.example"));
  EXPECT_FALSE(identity->is_good_for("b.example"));
  EXPECT_EQ(identity->good_until(), kNow + kSecondsADay);
  SslPtr session = identity->session().value();
  STACK_OF(X509)* chain = nullptr;
  SSL_get0_chain_certs(session.get(), &chain);
  EXPECT_EQ(sk_X509_num(chain), 1);
}

TEST_F(Files, ThatAreReplacedAreTakenAndBadOnesAreNot) {
  write(kNow + kSecondsADay);
  auto identity = read_identity(files_, kNow).value();
  EXPECT_EQ(identity->refresh(kNow).value(), ServerIdentity::Refreshed::as_before);
  write(kNow + 2 * kSecondsADay);
  EXPECT_EQ(identity->refresh(kNow).value(), ServerIdentity::Refreshed::renewed);
  EXPECT_EQ(identity->good_until(), kNow + 2 * kSecondsADay);
  ASSERT_TRUE(sys::replace_file(files_.certificate, "torn", 0644).ok());
  EXPECT_FALSE(identity->refresh(kNow).ok());
  EXPECT_EQ(identity->refresh(kNow).value(), ServerIdentity::Refreshed::as_before) << "said once";
  EXPECT_TRUE(identity->session().ok());
  EXPECT_EQ(identity->good_until(), kNow + 2 * kSecondsADay);
}

TEST_F(Files, ThatAreNotThereNoPemOrOverAreRefused) {
  EXPECT_EQ(refused(), Code::not_found);
  write(kNow);
  EXPECT_EQ(refused(), Code::failed_precondition);
  write(kNow + kSecondsADay);
  ASSERT_TRUE(sys::replace_file(files_.certificate, "no pem", 0644).ok());
  EXPECT_EQ(refused(), Code::invalid_argument);
  write(kNow + kSecondsADay);
  ASSERT_TRUE(sys::replace_file(files_.key, "no pem", 0600).ok());
  EXPECT_EQ(refused(), Code::invalid_argument);
}

TEST_F(Files, AKeyOfAnotherCertificateIsRefused) {
  write(kNow + kSecondsADay);
  ASSERT_TRUE(sys::replace_file(files_.key, to_pem(*issuer_key_), 0600).ok());
  EXPECT_EQ(refused(), Code::invalid_argument);
}

TEST_F(Files, AKeyThatEverybodyCanReadIsRefused) {
  write(kNow + kSecondsADay);
  ::chmod(files_.key.c_str(), 0644);
  EXPECT_EQ(refused(), Code::failed_precondition);
  ::chmod(files_.key.c_str(), 0640);  // as Debian's group ssl-cert has it
  EXPECT_TRUE(read_identity(files_, kNow).ok());
}

TEST_F(Files, APipeInTheirPlaceDoesNotHoldTheServer) {
  write(kNow + kSecondsADay);
  ::unlink(files_.certificate.c_str());
  ASSERT_EQ(::mkfifo(files_.certificate.c_str(), 0600), 0);
  EXPECT_EQ(refused(), Code::invalid_argument);
}

}  // namespace
}  // namespace paddock::net
