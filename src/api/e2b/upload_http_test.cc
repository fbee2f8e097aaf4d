#include "api/e2b/upload_http.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

const AccessTokens kTokens("key of the installation");
const UploadLink kLink{"keeper", std::string(64, 'a'), 1000};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(UploadLinks, OneOfOursIsGoodUntilItsTimeIsUp) {
  const std::string link = link_text(kLink, kTokens);
  const auto read = read_link(link, kTokens, 1000);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->owner, "keeper");
  EXPECT_EQ(read->hash, kLink.hash);
  EXPECT_FALSE(read_link(link, kTokens, 1001).ok());
}

TEST(UploadLinks, OneThatSomebodyChangedIsNone) {
  const std::string link = link_text(kLink, kTokens);
  for (const std::string& other :
       {replaced(link, "keeper", "another"), replaced(link, "aaaa", "bbbb"),
        replaced(link, "expires=1000", "expires=9999"),
        replaced(link, "expires=1000", "expires=-1"), link + "0", link.substr(0, link.size() - 1),
        std::string(kUploadPath) + "?", std::string(kUploadPath), std::string("/"),
        replaced(link, "keeper/", "keeper/x/")}) {
    EXPECT_FALSE(read_link(other, kTokens, 0).ok()) << other;
  }
  EXPECT_FALSE(read_link(link, AccessTokens("another key"), 0).ok());
}

TEST(UploadLinks, NoSignatureLeadsOutOfTheirDirectory) {
  const UploadLink link{"keeper", "../../paddock.db", 1000};
  EXPECT_FALSE(read_link(link_text(link, kTokens), kTokens, 0).ok());
}

}  // namespace
}  // namespace paddock::api::e2b
