#include "egress/rules/path_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/rules/glob.h"

namespace paddock::egress {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(PathForms, APlainPathHasOneReading) {
  EXPECT_THAT(path_forms("/a/b.txt").value(), ElementsAre("/a/b.txt"));
  EXPECT_THAT(path_forms("/").value(), ElementsAre("/"));
  EXPECT_THAT(path_forms("/a/").value(), ElementsAre("/a/"));
}

TEST(PathForms, NeedlessEscapesAreNoReadingOfTheirOwn) {
  EXPECT_THAT(path_forms("/%61%2Db").value(), ElementsAre("/a-b"));
}

TEST(PathForms, EveryWayRoundAPrefixComesOut) {
  for (const char* raw :
       {"/public/../admin", "/public/%2e%2e/admin", "/public/.%2E/admin", "/public%2f..%2fadmin",
        "/public\\..\\admin", "/public%5c..%5cadmin", "//admin", "/./admin", "/public/..;/admin",
        "/public;x=1/../admin", "/%2561dmin", "/public%252f..%252fadmin", "/../../admin"}) {
    EXPECT_THAT(path_forms(raw).value(), Contains("/admin")) << raw;
  }
}

TEST(PathForms, AnEncodedSlashIsReadBothWays) {
  EXPECT_THAT(path_forms("/@scope%2fname").value(), ElementsAre("/@scope%2Fname", "/@scope/name"));
}

TEST(PathForms, BrokenEscapesStay) {
  EXPECT_THAT(path_forms("/100%").value(), ElementsAre("/100%"));
  EXPECT_THAT(path_forms("/%zz%2").value(), ElementsAre("/%zz%2"));
}

TEST(PathForms, EndlessEscapingIsRefused) {
  EXPECT_FALSE(path_forms("/%25252525252e").ok());
  EXPECT_FALSE(path_forms("admin").ok());
  EXPECT_FALSE(path_forms("").ok());
}

TEST(TextGlob, StarIsAnyBytes) {
  EXPECT_TRUE(text_glob("*", ""));
  EXPECT_TRUE(text_glob("application/*", "application/a/b"));
  EXPECT_TRUE(text_glob("a*b*c", "aXbXbc"));
  EXPECT_TRUE(text_glob("2024-??", "2024-05"));
  EXPECT_FALSE(text_glob("a", "ab"));
  EXPECT_FALSE(text_glob("", "a"));
  EXPECT_FALSE(text_glob("a*b", "aXc"));
  EXPECT_FALSE(text_glob(std::string(30, '*') + "b", std::string(3000, 'a')));
}

}  // namespace
}  // namespace paddock::egress
