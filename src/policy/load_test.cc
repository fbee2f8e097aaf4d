#include "policy/load.h"

#include <gtest/gtest.h>

#include <map>

namespace paddock::policy {
namespace {

Loader loader_of(std::map<std::string, std::string> files) {
  return [files](TierKind, const std::string& path) -> Result<std::optional<std::string>> {
    auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Load, FindsTheThreeFilesWhereTheyBelong) {
  Places places{.home = "/home/u", .workspace = "/w"};
  auto tiers = load_tiers(places, loader_of({{"/etc/paddock/policy.toml", "a"},
                                             {"/home/u/.config/paddock/policy.toml", "u"},
                                             {"/w/paddock.toml", "p"}}));
  ASSERT_EQ(tiers.value().size(), 3u);
  EXPECT_EQ(tiers.value()[0].kind, TierKind::admin);
  EXPECT_EQ(tiers.value()[1].text, "u");
  EXPECT_EQ(tiers.value()[2].path, "/w/paddock.toml");
}

TEST(Load, FilesThatAreNotThereAreNoTier) {
  EXPECT_TRUE(load_tiers({.home = "/home/u", .workspace = "/w"}, loader_of({})).value().empty());
}

TEST(Load, TheConfigHomeIsTakenOnlyWhenItIsAbsolute) {
  auto files =
      loader_of({{"/xdg/paddock/policy.toml", "x"}, {"/h/.config/paddock/policy.toml", "h"}});
  EXPECT_EQ(load_tiers({.config_home = "/xdg", .home = "/h"}, files).value().at(0).text, "x");
  EXPECT_EQ(load_tiers({.config_home = "xdg", .home = "/h"}, files).value().at(0).text, "h");
  EXPECT_TRUE(load_tiers({}, files).value().empty());
}

TEST(Load, AFileThatCannotBeReadIsAnErrorAndNotAnAbsentOne) {
  Loader denied = [](TierKind, const std::string&) -> Result<std::optional<std::string>> {
    return Error(Code::permission_denied, "no");
  };
  auto tiers = load_tiers({}, denied);
  ASSERT_FALSE(tiers.ok());
  EXPECT_EQ(tiers.error().describe(), "reading the admin policy /etc/paddock/policy.toml: no");
}

}  // namespace
}  // namespace paddock::policy
