#include "agent/users.h"

#include <gtest/gtest.h>

namespace paddock::agent {
namespace {

constexpr const char* kPasswd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "broken:x:zero:0::/:/bin/sh\n"
    "short:x:5\n"
    "everybody:x:4294967295:0::/:/bin/sh\n"
    "user:x:1000:1000::/home/user:/bin/bash\n"
    "bare:x:33:33:::\n";
constexpr const char* kGroup = "root:x:0:\nuser:x:1000:user\nvideo:x:44:other,user\nbad:x:x:user\n";

TEST(Users, AreFoundByNameAndNumber) {
  const auto user = user_in(kPasswd, "user");
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->uid, 1000u);
  EXPECT_EQ(user->home, "/home/user");
  EXPECT_EQ(user_in(kPasswd, uid_t{0})->name, "root");
  EXPECT_FALSE(user_in(kPasswd, "nobody").has_value());
  EXPECT_FALSE(user_in(kPasswd, "").has_value());
}

TEST(Users, WithoutHomeOrShellHaveTheSystems) {
  const auto user = user_in(kPasswd, "bare");
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->home, "/");
  EXPECT_EQ(user->shell, "/bin/sh");
}

TEST(Users, LinesThatMakeNoSenseAreNobody) {
  for (const char* name : {"broken", "short", "everybody"}) {
    EXPECT_FALSE(user_in(kPasswd, name).has_value()) << name;
  }
}

TEST(Users, AreInTheGroupsThatNameThem) {
  EXPECT_EQ(groups_in(kGroup, *user_in(kPasswd, "user")), std::vector<gid_t>{44});
}

}  // namespace
}  // namespace paddock::agent
