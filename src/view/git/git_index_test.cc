#include "view/git/git_index.h"

#include <gtest/gtest.h>
#include <utime.h>

#include "sys/command.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::view {
namespace {

// Against indexes that git itself writes, in each version of the format.
class GitIndexTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    git({"init", "-q"});
    git({"config", "index.version", GetParam()});
    for (const char* name : {"a", "b", "some-directory/with-a-name", "some-directory/with-another"})
      write(name, "x");
    git({"add", "."});
  }
  void git(std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@t"});
    auto result = sys::run_command(
        {words, {"PATH=/usr/bin:/bin", "HOME=/nonexistent"}, tmp_.path(), "", 1 << 20});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->exit_code, 0) << result->err;
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(sys::make_dirs(tmp_.path() + "/some-directory", 0755).ok());
    ASSERT_TRUE(sys::replace_file(tmp_.path() + "/" + name, text, 0644).ok());
  }
  std::string index() { return sys::read_file(tmp_.path() + "/.git/index").value(); }

  sys::testing::TempDir tmp_;
};

TEST_P(GitIndexTest, ARefreshIsNoChange) {
  std::string before = index();
  struct utimbuf times {
    1000, 1000
  };
  ASSERT_EQ(::utime((tmp_.path() + "/a").c_str(), &times), 0);
  git({"status"});
  ASSERT_NE(index(), before) << "git did rewrite it";
  EXPECT_TRUE(same_git_index(before, index()));
  git({"write-tree"});
  EXPECT_TRUE(same_git_index(before, index())) << "a cached tree says nothing new";
}

TEST_P(GitIndexTest, WhatIsStagedIsAChange) {
  std::string before = index();
  write("b", "other");
  git({"add", "b"});
  std::string content = index();
  EXPECT_FALSE(same_git_index(before, content));
  git({"update-index", "--chmod=+x", "a"});
  std::string mode = index();
  EXPECT_FALSE(same_git_index(content, mode));
  git({"update-index", "--assume-unchanged", "a"});
  std::string flag = index();
  EXPECT_FALSE(same_git_index(mode, flag));
  git({"rm", "-q", "--cached", "some-directory/with-another"});
  std::string removed = index();
  EXPECT_FALSE(same_git_index(flag, removed));
  write("some-directory/with-anothes", "x");
  git({"add", "."});
  EXPECT_FALSE(same_git_index(removed, index()));
}

TEST_P(GitIndexTest, CutAndSpoiltOnesAreNotTheSame) {
  std::string good = index();
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(same_git_index(good, good.substr(0, length))) << length;
  }
  for (size_t at = 0; at < 12; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    EXPECT_FALSE(same_git_index(good, bad)) << at;
  }
}

TEST_P(GitIndexTest, AnUnknownExtensionIsAChange) {
  std::string good = index();
  std::string with = good.substr(0, good.size() - 20) + std::string("REUC\0\0\0\0", 8) +
                     good.substr(good.size() - 20);
  EXPECT_FALSE(same_git_index(good, with));
}

INSTANTIATE_TEST_SUITE_P(Versions, GitIndexTest, ::testing::Values("2", "3", "4"));

}  // namespace
}  // namespace paddock::view
