#include "agent/files/tree_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <thread>

#include "agent/files/files.h"
#include "agent/files/frames.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/testing/temp_dir.h"

namespace paddock::agent::files {
namespace {

class Watching : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.path() + "/" + name; }
  void make(const std::string& name) { ASSERT_TRUE(sys::make_dirs(at(name), 0755).ok()); }
  void put(const std::string& name, const std::string& text) {
    sys::FileFd file = sys::open_file(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0644).value();
    ASSERT_TRUE(sys::write_all(file, text).ok());
  }
  // As a client's upload does it.
  void upload(const std::string& name) {
    auto pipe = sys::make_pipe().value();
    ASSERT_TRUE(write_frame(pipe.write, "text").ok());
    ASSERT_TRUE(write_frame(pipe.write, "").ok());
    ASSERT_TRUE(write({at(name), {}}, pipe.read).ok());
  }
  void rename(const std::string& from, const std::string& to) {
    ASSERT_EQ(::rename(at(from).c_str(), at(to).c_str()), 0);
  }

  static WatchOptions tree() { return {.reach = WatchOptions::Reach::tree}; }
  TreeWatch begin(WatchOptions options = {}) {
    return TreeWatch::make(dir_.path(), options).value();
  }

  // All that happened until now: "create a, write a".
  static std::string told(TreeWatch& watch) {
    std::string text;
    const Status read = watch.read_until_now([&](wire::WatchEvent event) -> Status {
      if (!text.empty()) text += ", ";
      text += name_of(event.type()) + " " + event.name();
      return {};
    });
    if (!read.ok()) text += "! " + std::to_string(read.error().errno_value());
    return text;
  }
  static std::string name_of(wire::WatchEvent::Type type) {
    switch (type) {
      case wire::WatchEvent::CREATE:
        return "create";
      case wire::WatchEvent::WRITE:
        return "write";
      case wire::WatchEvent::REMOVE:
        return "remove";
      case wire::WatchEvent::RENAME:
        return "rename";
      case wire::WatchEvent::CHMOD:
        return "chmod";
      default:
        return "?";
    }
  }

  sys::testing::TempDir dir_;
};

TEST_F(Watching, TellsWhatHappensToFilesInOrder) {
  put("there", "old");
  TreeWatch watch = begin();
  EXPECT_EQ(told(watch), "");
  put("new", "");
  ASSERT_EQ(::chmod(at("new").c_str(), 0600), 0);
  put("there", "x");
  rename("new", "other");
  ASSERT_EQ(::unlink(at("there").c_str()), 0);
  EXPECT_EQ(told(watch),
            "create new, chmod new, write there, rename new, create other, remove there");
}

TEST_F(Watching, AnUploadShowsAsAWriteInPlace) {
  put("there", "old");
  TreeWatch watch = begin();
  upload("there");
  EXPECT_EQ(told(watch), "write there");
  upload("new");
  EXPECT_EQ(told(watch), "create new, chmod new, write new");
}

TEST_F(Watching, AnUploadThatIsGivenUpDoesNotShow) {
  TreeWatch watch = begin();
  auto pipe = sys::make_pipe().value();
  ASSERT_TRUE(write_frame(pipe.write, "text").ok());
  pipe.write.reset();
  ASSERT_FALSE(write({at("f"), {}}, pipe.read).ok());
  EXPECT_EQ(told(watch), "");
}

TEST_F(Watching, ADirectoryAloneIsNotItsTree) {
  make("a");
  TreeWatch watch = begin();
  put("a/f", "x");
  make("b/c");
  EXPECT_EQ(told(watch), "create b");
}

TEST_F(Watching, ATreeIsWatchedToItsLeaves) {
  make("a/b/c");
  TreeWatch watch = begin(tree());
  put("a/b/c/f", "x");
  EXPECT_EQ(told(watch), "create a/b/c/f, write a/b/c/f");
}

TEST_F(Watching, WhatIsInANewDirectoryBeforeItIsWatchedIsTold) {
  TreeWatch watch = begin(tree());
  make("new/deep");
  put("new/deep/f", "x");
  put("new/empty", "");
  const std::string all = told(watch);
  EXPECT_TRUE(all.starts_with("create new, ")) << all;
  for (const char* one :
       {"create new/deep", "create new/deep/f", "write new/deep/f", "create new/empty"}) {
    EXPECT_NE(all.find(one), std::string::npos) << one << " is missing in " << all;
  }
  put("new/deep/g", "");
  EXPECT_EQ(told(watch), "create new/deep/g");
}

TEST_F(Watching, ADirectoryThatMovesWithinTheTreeKeepsBeingWatchedUnderItsNewName) {
  make("a/b");
  make("a-b");  // sorts between "a" and "a/b"
  put("a/b/f", "x");
  TreeWatch watch = begin(tree());
  rename("a", "z");
  EXPECT_EQ(told(watch), "rename a, create z, create z/b, create z/b/f, write z/b/f");
  put("z/b/f", "more");
  put("a-b/f", "");
  EXPECT_EQ(told(watch), "write z/b/f, create a-b/f");
}

TEST_F(Watching, ADirectoryThatLeftIsNoLongerTold) {
  sys::testing::TempDir outside;
  make("a/b");
  TreeWatch watch = begin(tree());
  ASSERT_EQ(::rename(at("a").c_str(), (outside.path() + "/a").c_str()), 0);
  EXPECT_EQ(told(watch), "rename a");
  ASSERT_TRUE(sys::make_dir(outside.path() + "/a/b/c", 0755).ok());
  EXPECT_EQ(told(watch), "");
}

TEST_F(Watching, ADirectoryMadeAgainUnderItsNameIsWatched) {
  make("a");
  TreeWatch watch = begin(tree());
  ASSERT_EQ(::rmdir(at("a").c_str()), 0);
  make("a");
  EXPECT_EQ(told(watch), "remove a, create a");
  put("a/f", "");
  EXPECT_EQ(told(watch), "create a/f");
}

TEST_F(Watching, SymlinksAreNotEntered) {
  sys::testing::TempDir outside;
  TreeWatch watch = begin(tree());
  ASSERT_EQ(::symlink(outside.path().c_str(), at("link").c_str()), 0);
  EXPECT_EQ(told(watch), "create link");
  ASSERT_TRUE(sys::make_dir(outside.path() + "/x", 0755).ok());
  EXPECT_EQ(told(watch), "");
}

TEST_F(Watching, EntriesComeWithWhatIsThere) {
  TreeWatch watch = begin({.entries = WatchOptions::Entries::yes});
  put("f", "text");
  std::set<std::string> described;
  ASSERT_TRUE(watch
                  .read_until_now([&](wire::WatchEvent event) -> Status {
                    if (event.has_entry()) described.insert(event.entry().path());
                    return {};
                  })
                  .ok());
  EXPECT_EQ(described, std::set<std::string>{at("f")});
}

TEST_F(Watching, EndsWhenTheDirectoryItselfGoes) {
  make("a");
  TreeWatch gone = TreeWatch::make(at("a"), {}).value();
  ASSERT_EQ(::rmdir(at("a").c_str()), 0);
  EXPECT_EQ(told(gone), "remove .! " + std::to_string(ENOENT));
  make("b");
  TreeWatch moved = TreeWatch::make(at("b"), {}).value();
  rename("b", "c");
  EXPECT_EQ(told(moved), "rename .! " + std::to_string(ENOENT));
}

TEST_F(Watching, MissingOnesAndFilesAreRefused) {
  put("f", "");
  EXPECT_EQ(TreeWatch::make(at("nope"), {}).error().errno_value(), ENOENT);
  EXPECT_EQ(TreeWatch::make(at("f"), {}).error().errno_value(), ENOTDIR);
}

TEST_F(Watching, SaysWhenMoreHappenedThanTheKernelKeeps) {
  TreeWatch watch = begin();
  const uint64_t room =
      std::stoull(sys::read_file("/proc/sys/fs/inotify/max_queued_events").value());
  if (room > 1'000'000) GTEST_SKIP() << "needs inotify-queue: it holds millions of events here";
  for (uint64_t i = 0; i <= room / 2 + 1; ++i) {
    put("f", "");
    ASSERT_EQ(::unlink(at("f").c_str()), 0);
  }
  const std::string all = told(watch);
  EXPECT_TRUE(all.ends_with("! " + std::to_string(EOVERFLOW))) << all.size();
}

// Trees made by one thread while another watches: no name may be missing at the end.
TEST_F(Watching, NothingIsMissedWhileDirectoriesAreMadeQuickly) {
  TreeWatch watch = begin(tree());
  std::set<std::string> made;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 5; ++j) {
      const std::string name = "d" + std::to_string(i) + "/e" + std::to_string(j) + "/f";
      made.insert(name.substr(0, name.size() - 2));
      made.insert(name);
    }
  }
  std::atomic<bool> done = false;
  std::thread maker([&] {
    for (const std::string& name : made) {
      if (name.ends_with("/f")) {
        put(name, "x");
      } else {
        make(name);
      }
    }
    done = true;
  });
  std::multiset<std::string> created;
  auto sink = [&](wire::WatchEvent event) -> Status {
    if (event.type() == wire::WatchEvent::CREATE) created.insert(event.name());
    return {};
  };
  while (!done) ASSERT_TRUE(watch.read(sink).ok());
  maker.join();
  ASSERT_TRUE(watch.read_until_now(sink).ok());
  for (const std::string& name : made) EXPECT_EQ(created.count(name), 1u) << name;
}

}  // namespace
}  // namespace paddock::agent::files
