#include "net/kept_authority.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::net {
namespace {

Result<KeptAuthority> open(const std::string& directory,
                           const KeptAuthorityOptions& options = {{"test authority"}, "tests"}) {
  return KeptAuthority::open(directory, options);
}

TEST(KeptAuthority, ItIsMadeOnceAndItsKeyIsPrivate) {
  sys::testing::TempDir dir;
  const std::string folder = dir.path() + "/ca";
  EXPECT_EQ(open(folder).value().pem(), open(folder).value().pem());
  EXPECT_EQ(sys::stat_path(folder + "/key.pem").value().st_mode & 0777, 0600u);
  EXPECT_EQ(sys::stat_path(folder).value().st_mode & 0777, 0700u);
  sys::testing::TempDir other;
  EXPECT_NE(open(other.path()).value().pem(), open(folder).value().pem());
}

TEST(KeptAuthority, AKeyThatOthersCanReadIsRefused) {
  sys::testing::TempDir dir;
  open(dir.path()).value();
  chmod((dir.path() + "/key.pem").c_str(), 0640);
  EXPECT_EQ(open(dir.path()).error().code(), Code::failed_precondition);
}

TEST(KeptAuthority, AKeyOfAnotherCertificateIsRefused) {
  sys::testing::TempDir a, b;
  open(a.path()).value();
  open(b.path()).value();
  const std::string pem = sys::read_file(b.path() + "/cert.pem").value();
  ASSERT_TRUE(sys::replace_file(a.path() + "/cert.pem", pem, 0644).ok());
  EXPECT_EQ(open(a.path()).error().code(), Code::data_corrupt);
}

TEST(KeptAuthority, OneThatEndsTooSoonIsReplacedAndNoOther) {
  sys::testing::TempDir dir;
  const KeptAuthorityOptions made{{"test authority", {1000, 5000}}, "tests"};
  const std::string first = open(dir.path(), made).value().pem();
  KeptAuthorityOptions asked = made;
  asked.terms.validity.until = 9000;
  asked.good_until = 5000;
  EXPECT_EQ(open(dir.path(), asked).value().pem(), first);
  asked.good_until = 5001;
  const KeptAuthority next = open(dir.path(), asked).value();
  EXPECT_NE(next.pem(), first);
  EXPECT_EQ(end_of(next.certificate()), 9000);
  EXPECT_EQ(open(dir.path(), asked).value().pem(), next.pem());
}

TEST(KeptAuthority, OneThatCannotBeReadIsNotReplaced) {
  sys::testing::TempDir dir;
  open(dir.path()).value();
  const std::string file = dir.path() + "/cert.pem";
  ASSERT_TRUE(sys::replace_file(file, "torn", 0644).ok());
  const auto opened = open(dir.path(), {{"test authority"}, "tests", 1});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().describe().find(file), std::string::npos);
  EXPECT_EQ(sys::read_file(file).value(), "torn");
}

}  // namespace
}  // namespace paddock::net
