#include "view/hide/mask.h"

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <set>
#include <thread>

#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "sys/tree_walk.h"
#include "sys/xattr.h"
#include "view/hide/mask_scan.h"
#include "view/hide/mask_tree.h"

namespace paddock::view {
namespace {

using model::HostPath;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MaskTest : public ::testing::Test {
 protected:
  MaskTest() {
    root_ = sys::real_path(tmp_.path()).value();
    EXPECT_TRUE(sys::make_dirs(root_ + "/ws", 0755).ok());
    rules_.hide = {".env", "*.pem", "secrets/", "cfg/key"};
    rules_.show = {"show.pem"};
  }
  std::string host(const std::string& path) const { return root_ + "/ws/" + path; }
  void add(const std::string& path) {
    std::string full = host(path);
    ASSERT_TRUE(sys::make_dirs(full.substr(0, full.find_last_of('/')), 0755).ok());
    ASSERT_TRUE(sys::replace_file(full, "secret", 0644).ok());
  }
  Mask update() {
    return update_mask(HostPath(root_ + "/home"), HostPath(root_ + "/ws"), rules_).value().value();
  }

  // "d a" for a directory, "w a/.env" for a whiteout; anything else as it must not be.
  static std::vector<std::string> contents(const HostPath& layer) {
    std::vector<std::string> found;
    sys::TreeVisitor visitor;
    visitor.enter = [&](const sys::WalkEntry& entry) -> Result<sys::Descend> {
      bool whiteout = S_ISCHR(entry.st.st_mode) && entry.st.st_rdev == ::makedev(0, 0);
      found.push_back((S_ISDIR(entry.st.st_mode) ? "d " : whiteout ? "w " : "? ") + entry.path);
      return sys::Descend::yes;
    };
    EXPECT_TRUE(sys::walk_tree(sys::open_dir(layer.str()).value(), visitor).ok());
    return found;
  }

  sys::testing::TempDir tmp_;
  std::string root_;
  model::FileRules rules_;
};

TEST_F(MaskTest, AWhiteoutLiesOverEveryHiddenEntryAndNothingElseIsThere) {
  for (const char* path : {".env", "a/b/x.pem", "a/b/show.pem", "a/c/file", "secrets/in/deep.pem",
                           "cfg/key", "x/cfg/key"}) {
    add(path);
  }
  Mask mask = update();
  EXPECT_THAT(mask.hidden, ElementsAre(".env", "a/b/x.pem", "cfg/key", "secrets"));
  EXPECT_THAT(contents(mask.layer),
              ElementsAre("w .env", "d a", "w a/.env", "d a/b", "w a/b/.env", "w a/b/x.pem",
                          "d cfg", "w cfg/.env", "w cfg/key", "w secrets"));
}

TEST_F(MaskTest, WithoutSecretsTheRootStillCoversTheNamesThatAreCertain) {
  add("a/file");
  Mask mask = update();
  EXPECT_THAT(mask.hidden, IsEmpty());
  EXPECT_THAT(contents(mask.layer), ElementsAre("w .env"));
}

TEST_F(MaskTest, WithoutPatternsThereIsNoMask) {
  rules_.hide.clear();
  EXPECT_FALSE(
      update_mask(HostPath(root_ + "/home"), HostPath(root_ + "/ws"), rules_).value().has_value());
}

TEST_F(MaskTest, WhatComesAndGoesOnTheHostComesAndGoes) {
  add("a/x.pem");
  Mask mask = update();
  add("b/c/y.pem");
  EXPECT_THAT(update().hidden, ElementsAre("a/x.pem", "b/c/y.pem"));
  ASSERT_EQ(::unlink(host("a/x.pem").c_str()), 0);
  EXPECT_THAT(update().hidden, ElementsAre("b/c/y.pem"));
  EXPECT_THAT(contents(mask.layer),
              ElementsAre("w .env", "d b", "w b/.env", "d b/c", "w b/c/.env", "w b/c/y.pem"));
  ASSERT_EQ(::rename(host("b").c_str(), host("q").c_str()), 0);
  EXPECT_THAT(update().hidden, ElementsAre("q/c/y.pem"));
}

TEST_F(MaskTest, ADirectoryThatBecomesASecretAndBackIsFollowed) {
  add("secrets");  // a file: the pattern is for directories
  add("d.pem/inner.pem");
  EXPECT_THAT(update().hidden, ElementsAre("d.pem"));
  ASSERT_EQ(::unlink(host("secrets").c_str()), 0);
  add("secrets/x.pem");
  ASSERT_EQ(::rename(host("d.pem").c_str(), host("d").c_str()), 0);
  Mask mask = update();
  EXPECT_THAT(mask.hidden, ElementsAre("d/inner.pem", "secrets"));
  EXPECT_THAT(contents(mask.layer),
              ElementsAre("w .env", "d d", "w d/.env", "w d/inner.pem", "w secrets"));
}

TEST_F(MaskTest, DirectoriesOfTheMaskLookLikeTheHosts) {
  add("a/b/x.pem");
  ASSERT_EQ(::chmod(host("a").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(host("a/b").c_str(), 0555), 0);
  ASSERT_TRUE(sys::set_xattr(sys::open_dir(host("a")).value(), {"user.note", "n"}).ok());
  Mask mask = update();
  auto expect_same = [&](const std::string& path) {
    struct stat theirs = sys::lstat_path(host(path)).value();
    struct stat ours = sys::lstat_path((mask.layer / path).str()).value();
    EXPECT_EQ(ours.st_mode, theirs.st_mode) << path;
    EXPECT_EQ(ours.st_uid, theirs.st_uid) << path;
    EXPECT_EQ(ours.st_mtim.tv_sec, theirs.st_mtim.tv_sec) << path;
    EXPECT_EQ(ours.st_mtim.tv_nsec, theirs.st_mtim.tv_nsec) << path;
  };
  for (const char* path : {"", "a", "a/b"}) expect_same(path);
  EXPECT_THAT(sys::read_xattrs(sys::open_dir((mask.layer / "a").str()).value()).value(),
              ::testing::Contains(sys::Xattr{"user.note", "n"}));
  ASSERT_EQ(::chmod(host("a").c_str(), 0711), 0);
  ASSERT_EQ(::chmod(host("a/b").c_str(), 0755), 0);
  add("a/b/y.pem");
  ASSERT_EQ(::chmod(host("a/b").c_str(), 0511), 0);
  update();
  for (const char* path : {"", "a", "a/b"}) expect_same(path);
}

TEST_F(MaskTest, TheInsideOfGitIsLeftAloneUnlessGitItselfIsASecret) {
  add(".git/objects/x.pem");
  add("sub/.git/y.pem");
  EXPECT_THAT(update().hidden, IsEmpty());
  rules_.hide = {".git"};
  EXPECT_THAT(update().hidden, ElementsAre(".git", "sub/.git"));
}

TEST_F(MaskTest, SymlinkedDirectoriesAreNotFollowedAndLinksAreHiddenByName) {
  ASSERT_TRUE(sys::make_dirs(root_ + "/outside", 0755).ok());
  ASSERT_TRUE(sys::replace_file(root_ + "/outside/x.pem", "", 0644).ok());
  ASSERT_EQ(::symlink("../outside", host("link").c_str()), 0);
  ASSERT_EQ(::symlink("/dev/null", host("l.pem").c_str()), 0);
  EXPECT_THAT(update().hidden, ElementsAre("l.pem"));
}

TEST_F(MaskTest, NamesAreBytes) {
  add("a\n:\xff/,\xfe.pem");
  EXPECT_THAT(update().hidden, ElementsAre("a\n:\xff/,\xfe.pem"));
}

// As an ordinary user: root may read everything.
TEST_F(MaskTest, ADirectoryThatCannotBeReadIsHiddenAsAWhole) {
  add("closed/x.pem");
  ASSERT_EQ(::chmod(root_.c_str(), 0777), 0);
  for (const char* path : {"closed/x.pem", "closed", ""})
    ASSERT_EQ(::chown(host(path).c_str(), 65534, 65534), 0);
  pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(10);
    if (::chmod(host("closed").c_str(), 0) != 0) ::_exit(11);
    Mask mask = update();
    if (mask.hidden != std::vector<std::string>{"closed"}) ::_exit(12);
    if (contents(mask.layer) != std::vector<std::string>{"w .env", "w closed"}) ::_exit(13);
    if (::chmod(host("closed").c_str(), 0755) != 0) ::_exit(14);
    mask = update();
    ::_exit(mask.hidden == std::vector<std::string>{"closed/x.pem"} ? 0 : 15);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(MaskTest, BeyondADepthDirectoriesAreHiddenAsAWhole) {
  std::string path;
  for (int i = 0; i < 300; ++i) path += "d/";
  add(path + "x.pem");
  Mask mask = update();
  ASSERT_EQ(mask.hidden.size(), 1u);
  EXPECT_EQ(path.compare(0, mask.hidden[0].size(), mask.hidden[0]), 0);
}

TEST_F(MaskTest, ADamagedIndexIsMadeAnew) {
  add("a/x.pem");
  Mask mask = update();
  std::string index = mask.layer.str() + "/../index";
  std::string bytes = sys::read_file(index).value();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(sys::replace_file(index, bytes, 0600).ok());
  ASSERT_EQ(::unlink((mask.layer / "a/x.pem").c_str()), 0);
  EXPECT_THAT(update().hidden, ElementsAre("a/x.pem"));
  EXPECT_TRUE(sys::exists((mask.layer / "a/x.pem").str()));
}

TEST_F(MaskTest, AKillAtAnyPointIsMadeGoodByTheNextRun) {
  add("a/x.pem");
  Mask mask = update();
  add("b/y.pem");
  ASSERT_EQ(::unlink(host("a/x.pem").c_str()), 0);
  for (const char* point : {"mask.plant", "mask.index"}) {
    pid_t child = ::fork();
    if (child == 0) {
      static const char* at;
      at = point;
      sys::set_fault_hook([](const char* name) {
        if (std::string_view(name) == at) ::_exit(137);
      });
      update();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 137);
  }
  EXPECT_THAT(update().hidden, ElementsAre("b/y.pem"));
  EXPECT_THAT(contents(mask.layer), ElementsAre("w .env", "d b", "w b/.env", "w b/y.pem"));
}

TEST_F(MaskTest, MasksOfGoneWorkspacesAreCollectedAndThoseInUseAreNot) {
  add("a/x.pem");
  std::optional<Mask> mask = update();
  HostPath home(root_ + "/home");
  ASSERT_TRUE(sys::remove_tree(root_ + "/ws").ok());
  ASSERT_TRUE(collect_masks(home, 1000).ok());
  EXPECT_TRUE(sys::exists(mask->layer.str())) << "in use";
  HostPath layer = mask->layer;
  mask.reset();
  ASSERT_TRUE(collect_masks(home, 1000).ok());
  EXPECT_FALSE(sys::exists(layer.str()));
}

TEST_F(MaskTest, MasksThatWereNotUsedForLongAreCollected) {
  add("a/x.pem");
  HostPath layer = update().layer;
  ASSERT_TRUE(collect_masks(HostPath(root_ + "/home"), 1000).ok());
  EXPECT_TRUE(sys::exists(layer.str()));
  struct timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (layer.str() + "/../use").c_str(), old, 0), 0);
  ASSERT_TRUE(collect_masks(HostPath(root_ + "/home"), 1000).ok());
  EXPECT_FALSE(sys::exists(layer.str()));
  EXPECT_THAT(update().hidden, ElementsAre("a/x.pem"));
}

TEST_F(MaskTest, ConcurrentRunsAgree) {
  for (int i = 0; i < 20; ++i) add("d" + std::to_string(i) + "/x.pem");
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) right += update().hidden.size() == 20;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

// Random trees under random changes, each time against what a fresh look finds.
class MaskPropertyTest : public MaskTest {
 protected:
  static constexpr int64_t kSettleNs = 20'000'000;

  MaskPropertyTest() {
    EXPECT_TRUE(sys::make_dirs(root_ + "/mask", 0700).ok());
    workspace_ = sys::open_dir(root_ + "/ws").value();
  }

  // As update_mask(), with directories that settle sooner. Returns how many directories were read.
  size_t bring_up_to_date() {
    ScanOptions options;
    options.previous = index_ ? &*index_ : nullptr;
    options.settle_ns = kSettleNs;
    auto scan = scan_workspace(workspace_, patterns_, options).value();
    if (!scan) return 0;
    EXPECT_TRUE(plant_mask({workspace_, HostPath(root_ + "/mask"), patterns_, *scan}).ok());
    index_ = decode_mask_index(encode(scan->index)).value();
    return static_cast<size_t>(std::count(scan->was_read.begin(), scan->was_read.end(), true));
  }

  // Every entry of the host, with whether its own name is a secret; nothing below secrets.
  std::vector<std::string> expected_mask() {
    std::vector<std::string> hidden, expected;
    std::set<std::string> mirrored;
    std::set<std::string> directories;
    sys::TreeVisitor visitor;
    visitor.enter = [&](const sys::WalkEntry& entry) -> Result<sys::Descend> {
      EntryKind kind = S_ISDIR(entry.st.st_mode) ? EntryKind::directory : EntryKind::other;
      if (patterns_.hides(entry.name, entry.path, kind)) {
        hidden.push_back(entry.path);
        return sys::Descend::no;
      }
      return sys::Descend::yes;
    };
    EXPECT_TRUE(sys::walk_tree(workspace_, visitor).ok());
    mirrored.insert("");
    for (const std::string& path : hidden) {
      for (size_t slash = path.find('/'); slash != std::string::npos;
           slash = path.find('/', slash + 1)) {
        mirrored.insert(path.substr(0, slash));
      }
    }
    std::set<std::string> whiteouts(hidden.begin(), hidden.end());
    for (const std::string& dir : mirrored) {
      if (!dir.empty()) expected.push_back("d " + dir);
      whiteouts.insert(dir.empty() ? ".env" : dir + "/.env");
    }
    for (const std::string& path : whiteouts) expected.push_back("w " + path);
    std::sort(expected.begin(), expected.end());
    return expected;
  }
  std::vector<std::string> actual_mask() {
    std::vector<std::string> found = contents(HostPath(root_ + "/mask/tree"));
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string random_path() {
    static constexpr std::array kNames{"a", "b", "c", "secrets", ".env", "x.pem", "cfg", "key"};
    std::string path;
    for (size_t depth = 1 + random_() % 4; depth > 0; --depth) {
      path += (path.empty() ? "" : "/") + std::string(kNames[random_() % kNames.size()]);
    }
    return path;
  }
  void mutate() {
    std::string path = host(random_path());
    switch (random_() % 5) {
      case 0:
        (void)sys::make_dirs(path, 0755).ok();
        break;
      case 1:
        (void)sys::remove_tree(path).ok();
        break;
      case 2:
        (void)::rename(path.c_str(), host(random_path()).c_str());
        break;
      default:
        (void)sys::replace_file(path, "x", 0644).ok();
        break;
    }
  }

  sys::DirFd workspace_;
  HidePatterns patterns_{{".env", "*.pem", "secrets/", "cfg/key"}, {}};
  std::optional<MaskIndex> index_;
  std::mt19937 random_{20240607};
};

TEST_F(MaskPropertyTest, AfterAnyChangesTheMaskIsWhatAFreshLookWouldMake) {
  for (int round = 0; round < 120; ++round) {
    for (size_t changes = random_() % 6; changes > 0; --changes) mutate();
    if (random_() % 2 == 0) ::usleep(kSettleNs / 1000 + 15'000);
    bring_up_to_date();
    ASSERT_EQ(actual_mask(), expected_mask()) << "round " << round;
  }
}

TEST_F(MaskPropertyTest, OnlyDirectoriesThatChangedAreReadAgain) {
  for (int i = 0; i < 50; ++i) add("d" + std::to_string(i) + "/sub/file");
  EXPECT_EQ(bring_up_to_date(), 101u);
  ::usleep(kSettleNs / 1000 + 15'000);
  bring_up_to_date();  // those that were too young
  EXPECT_EQ(bring_up_to_date(), 0u);
  add("d7/sub/.env");
  ::usleep(kSettleNs / 1000 + 15'000);
  EXPECT_EQ(bring_up_to_date(), 1u);
  EXPECT_EQ(actual_mask(), expected_mask());
  EXPECT_EQ(bring_up_to_date(), 0u);
}

}  // namespace
}  // namespace paddock::view
