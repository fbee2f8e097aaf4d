#include "net/resolver.h"

#include <gtest/gtest.h>

#include "net/testing/on_loop.h"

namespace paddock::net {
namespace {

using testing::run_on;

TEST(HostsFile, ExactNamesOfEveryLineAreFound) {
  const char* text =
      "127.0.0.1 localhost\n"
      "10.0.0.5\tdb.example  db # the database\n"
      "::1 db.example\r\n"
      "not-an-address db.example\n"
      "# 9.9.9.9 db.example\n"
      "10.0.0.6 other.db.example";
  auto texts = [&](std::string_view name) {
    std::string out;
    for (const auto& address : find_in_hosts_file(text, name)) out += address.str() + " ";
    return out;
  };
  EXPECT_EQ(texts("db.example"), "10.0.0.5 ::1 ");
  EXPECT_EQ(texts("DB"), "10.0.0.5 ");
  EXPECT_EQ(texts("example"), "");
  EXPECT_EQ(texts("10.0.0.5"), "");
  EXPECT_EQ(texts("other.db.example"), "10.0.0.6 ");
}

TEST(SystemResolver, KnowsLocalhostAndNoInvalidName) {
  auto resolver = make_system_resolver();
  Loop loop;
  auto addresses = run_on(loop, [&](Task& task) { return resolver->resolve(task, "localhost"); });
  ASSERT_TRUE(addresses.ok());
  EXPECT_FALSE(addresses->empty());
}

}  // namespace
}  // namespace paddock::net
