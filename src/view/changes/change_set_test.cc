#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <map>

#include "base/strings.h"
#include "sys/digest.h"
#include "view/changes.h"
#include "view/changes/change_compare.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using model::Change;
using model::ChangeKind;
using model::ChangeSet;
using model::FileType;
using testing::directory;
using testing::file;
using testing::make_opaque;
using testing::make_whiteout;
using testing::StackOnDisk;
using testing::symlink_to;
using testing::Tree;
using testing::write_file;

ChangeSet changes_of(const StackOnDisk& disk) {
  Result<ChangeSet> changes = compute_changes(disk.stack);
  if (!changes.ok()) ADD_FAILURE() << changes.error().describe();
  return changes.ok() ? std::move(*changes) : ChangeSet();
}

// "A path", "M path", "D path", "R from > path", with " !" when held; one per line.
std::string summary(const ChangeSet& set) {
  std::string out;
  for (const Change& change : set.changes) {
    out += "AMDR"[static_cast<size_t>(change.kind)];
    if (change.from) out += " " + printable(*change.from) + " >";
    out += " " + printable(change.path) + (change.held_reason.empty() ? "" : " !") + "\n";
  }
  for (const std::string& path : set.git_paths) out += "git " + printable(path) + "\n";
  for (const std::string& path : set.skipped) out += "skipped " + printable(path) + "\n";
  return out;
}

TEST(ChangeSet, AddedModifiedDeletedFilesAreListedByPath) {
  StackOnDisk disk({{"edit", file("old\n")}, {"gone", file("x")}, {"same", file("s")}});
  std::string layer = disk.add_layer({{"edit", file("new\nmore\n")}, {"new", file("n\n")}});
  make_whiteout(layer + "/gone");
  ChangeSet set = changes_of(disk);
  EXPECT_EQ(summary(set), "M edit\nD gone\nA new\n");
  EXPECT_EQ(set.changes[0].added_lines, 2u);
  EXPECT_EQ(set.changes[0].deleted_lines, 1u);
  EXPECT_EQ(set.changes[2].added_lines, 1u);
}

TEST(ChangeSet, ARewriteToTheSameContentIsNoChange) {
  StackOnDisk disk(
      {{"a", file("same")}, {"d", directory()}, {"d/b", file("x", 0755)}, {"l", symlink_to("a")}});
  disk.add_layer(
      {{"a", file("same")}, {"d", directory()}, {"d/b", file("x", 0755)}, {"l", symlink_to("a")}});
  EXPECT_EQ(summary(changes_of(disk)), "");
}

TEST(ChangeSet, ModesAndAttributesAreChanges) {
  StackOnDisk disk({{"a", file("x", 0644)}, {"b", file("x")}, {"d", directory(0755)}});
  testing::Node attributed = file("x");
  attributed.xattrs["user.k"] = "v";
  disk.add_layer({{"a", file("x", 0755)}, {"b", attributed}, {"d", directory(0700)}});
  EXPECT_EQ(summary(changes_of(disk)), "M a\nM b\nM d\n");
}

TEST(ChangeSet, SetuidAloneIsNoChange) {
  StackOnDisk disk({{"a", file("x", 0755)}});
  disk.add_layer({{"a", file("x", 04755)}});
  EXPECT_EQ(summary(changes_of(disk)), "");
}

TEST(ChangeSet, ANewerLayerWinsOverAnOlderOne) {
  StackOnDisk disk({{"a", file("0")}, {"b", file("0")}, {"c", file("0")}});
  std::string older = disk.add_layer({{"a", file("1")}, {"d", file("1")}, {"c", file("1")}});
  make_whiteout(older + "/b");
  std::string newer = disk.add_layer({{"a", file("2")}, {"b", file("0")}});
  make_whiteout(newer + "/d");
  make_whiteout(newer + "/c");
  EXPECT_EQ(summary(changes_of(disk)), "M a\nD c\n");
}

TEST(ChangeSet, ADeletedTreeIsListedFileByFile) {
  StackOnDisk disk({{"d", directory()},
                    {"d/e", directory()},
                    {"d/e/f", file("f")},
                    {"d/g", file("g")},
                    {"d/empty", directory()}});
  make_whiteout(disk.add_layer() + "/d");
  EXPECT_EQ(summary(changes_of(disk)), "D d/e/f\nD d/empty\nD d/g\n");
}

TEST(ChangeSet, AnOpaqueDirectoryDeletesWhatItDoesNotHold) {
  StackOnDisk disk({{"d", directory()},
                    {"d/old", file("old")},
                    {"d/keep", file("keep")},
                    {"d/sub", directory()},
                    {"d/sub/x", file("x")}});
  std::string layer =
      disk.add_layer({{"d", directory()}, {"d/new", file("new")}, {"d/keep", file("keep")}});
  make_opaque(layer + "/d");
  make_whiteout(layer + "/d/sub");
  EXPECT_EQ(summary(changes_of(disk)), "A d/new\nD d/old\nD d/sub/x\n");
}

TEST(ChangeSet, ADirectoryBecomesAFileAndBack) {
  StackOnDisk disk({{"d", directory()}, {"d/f", file("f")}, {"x", file("x")}});
  disk.add_layer({{"d", file("now a file")}, {"x", directory()}, {"x/y", file("y")}});
  EXPECT_EQ(summary(changes_of(disk)), "M d\nD d/f\nM x\nA x/y\n");
  disk.add_layer({{"d", symlink_to("x")}});
  EXPECT_EQ(summary(changes_of(disk)), "M d\nD d/f\nM x\nA x/y\n");
  std::string last = disk.add_layer({{"d", directory()}, {"d/f", file("f")}, {"x", file("x")}});
  make_opaque(last + "/d");
  EXPECT_EQ(summary(changes_of(disk)), "");
}

TEST(ChangeSet, OnlyACharacterDevice00IsAWhiteout) {
  StackOnDisk disk({{"a", file("a")}, {"b", file("b")}, {"c", file("c")}});
  std::string layer = disk.add_layer();
  ASSERT_EQ(::mkfifo((layer + "/a").c_str(), 0644), 0);
  write_file(layer + "/.wh.b", "");
  if (::mknod((layer + "/c").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "needs root for device nodes";
  }
  EXPECT_EQ(summary(changes_of(disk)), "A .wh.b\nskipped a\nskipped c\n");
}

TEST(ChangeSet, OverlayFeaturesThatNoViewUsesAreCorruption) {
  for (const char* name : {"user.overlay.redirect", "user.overlay.metacopy"}) {
    StackOnDisk disk({{"a", file("host")}});
    testing::Node node = file("");
    node.xattrs[name] = "/etc/shadow";
    disk.add_layer({{"a", node}});
    Result<ChangeSet> changes = compute_changes(disk.stack);
    ASSERT_FALSE(changes.ok()) << name;
    EXPECT_EQ(changes.error().code(), Code::data_corrupt);
  }
}

TEST(ChangeSet, TheHostsOwnOverlayAttributesMeanNothing) {
  StackOnDisk disk({{"d", directory()}, {"d/a", file("a")}});
  make_opaque(disk.in_host("d"));
  disk.add_layer({{"d", directory()}, {"d/b", file("b")}});
  EXPECT_EQ(summary(changes_of(disk)), "A d/b\n");
}

TEST(ChangeSet, SymlinksInLayersAndHostAreNeverFollowed) {
  StackOnDisk disk({{"d", symlink_to("/etc")}, {"real", directory()}});
  disk.add_layer({{"d", directory()}, {"d/passwd", file("mine")}, {"real", symlink_to("/etc")}});
  EXPECT_EQ(summary(changes_of(disk)), "M d\nA d/passwd\nM real !\n");
}

TEST(ChangeSet, AMoveIsARename) {
  StackOnDisk disk({{"a", file("content 1\n")},
                    {"d", directory()},
                    {"d/x", file("content 2\n")},
                    {"d/y", file("content 2\n")}});
  std::string layer = disk.add_layer({{"b", file("content 1\n", 0755)},
                                      {"e", directory()},
                                      {"e/y", file("content 2\n")},
                                      {"e/x", file("content 2\n")}});
  make_whiteout(layer + "/a");
  make_whiteout(layer + "/d");
  ChangeSet set = changes_of(disk);
  EXPECT_EQ(summary(set), "R a > b\nR d/x > e/x\nR d/y > e/y\n");
  EXPECT_EQ(set.changes[0].before.mode, 0644u);
  EXPECT_EQ(set.changes[0].after.mode, 0755u);
}

TEST(ChangeSet, EmptyFilesAndHeldFilesAreNoRenames) {
  StackOnDisk disk({{"a", file("")}, {".envrc", file("content\n")}});
  std::string layer = disk.add_layer({{"b", file("")}, {"c", file("content\n")}});
  make_whiteout(layer + "/a");
  make_whiteout(layer + "/.envrc");
  EXPECT_EQ(summary(changes_of(disk)), "D .envrc !\nD a\nA b\nA c\n");
}

TEST(ChangeSet, HardLinksNameTheirLeader) {
  StackOnDisk disk({{"a", file("same\n")}});
  std::string layer = disk.add_layer({{"a", file("same\n")}, {"x", file("new\n")}});
  ASSERT_EQ(::link((layer + "/a").c_str(), (layer + "/b").c_str()), 0);
  ASSERT_EQ(::link((layer + "/x").c_str(), (layer + "/y").c_str()), 0);
  ChangeSet set = changes_of(disk);
  EXPECT_EQ(summary(set), "A b\nA x\nA y\n");
  EXPECT_EQ(set.changes[0].link_of, "a");
  EXPECT_EQ(set.changes[1].link_of, "");
  EXPECT_EQ(set.changes[2].link_of, "x");
}

TEST(ChangeSet, GitDataGoesApart) {
  StackOnDisk disk({{".git", directory()},
                    {".git/config", file("c")},
                    {".git/HEAD", file("h")},
                    {"sub", directory()},
                    {"sub/.git", file("gitdir: x")}});
  disk.add_layer({{".git", directory()},
                  {".git/config", file("evil")},
                  {".git/HEAD", file("h")},
                  {".Git", directory()},
                  {".Git/hooks", directory()},
                  {".Git/hooks/pre-commit", file("evil", 0755)},
                  {"sub", directory()},
                  {"sub/.git", file("gitdir: ../evil")},
                  {"sub/f", file("f")}});
  EXPECT_EQ(summary(changes_of(disk)),
            "A sub/f\ngit .Git\ngit .Git/hooks\ngit .Git/hooks/pre-commit\ngit .git/config\n"
            "git sub/.git\n");
}

TEST(ChangeSet, WhatRunsOnTheHostIsHeldWithAReason) {
  StackOnDisk disk({{".github", directory()},
                    {".github/workflows", directory()},
                    {".github/workflows/ci.yml", file("old")}});
  std::string layer = disk.add_layer({{".envrc", file("x")}, {".husky", symlink_to("src")}});
  make_whiteout(layer + "/.github");
  EXPECT_EQ(summary(changes_of(disk)), "A .envrc !\nD .github/workflows/ci.yml !\nA .husky !\n");
}

TEST(ChangeSet, AFileUnderAHiddenNameIsTheSandboxsOwn) {
  StackOnDisk disk({{".env", file("SECRET")}, {"d", directory()}, {"d/.env", file("SECRET")}});
  disk.stack.hidden = {".env", "d/.env"};
  std::string layer = disk.add_layer({{".env", file("mine")}, {"d", directory()}});
  make_opaque(layer + "/d");
  ChangeSet set = changes_of(disk);
  EXPECT_EQ(summary(set), "A .env !\n");
  EXPECT_EQ(set.changes[0].before.type, FileType::absent);
  EXPECT_NE(set.changes[0].held_reason.find("hidden from the sandbox"), std::string::npos);
}

TEST(ChangeSet, BelowAHiddenDirectoryEverythingIsHeld) {
  StackOnDisk disk({{"keys", directory()}, {"keys/id", file("SECRET")}});
  disk.stack.hidden = {"keys"};
  disk.add_layer({{"keys", directory()}, {"keys/id", file("mine")}, {"keys/x", file("mine")}});
  EXPECT_EQ(summary(changes_of(disk)), "A keys !\nA keys/id !\nA keys/x !\n");
}

TEST(ChangeSet, ADirectoryWithHiddenFilesIsNotGone) {
  StackOnDisk disk({{"d", directory()}, {"d/.env", file("SECRET")}, {"d/f", file("f")}});
  disk.stack.hidden = {"d/.env"};
  make_whiteout(disk.add_layer() + "/d");
  EXPECT_EQ(summary(changes_of(disk)), "D d !\nD d/f\n");
}

TEST(ChangeSet, TheBaseAndNotTheMovedHostIsWhatIsCompared) {
  StackOnDisk disk({{"a", file("one\n")}, {"b", file("b\n")}});
  disk.add_layer({{"a", file("two\n")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("a"), "three\nfour\n");
  ChangeSet set = changes_of(disk);
  EXPECT_EQ(summary(set), "M a\n");
  EXPECT_EQ(set.changes[0].before.size, 4u);
  EXPECT_EQ(set.changes[0].deleted_lines, 1u);
  EXPECT_EQ(set.changes[0].before.digest, sys::sha256_hex("one\n"));
}

TEST(ChangeSet, WhatTheHostAddsToALostDirectoryIsNotDeleted) {
  StackOnDisk disk({{"d", directory()}, {"d/old", file("old")}});
  make_whiteout(disk.add_layer() + "/d");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("d/new"), "new");
  EXPECT_EQ(summary(changes_of(disk)), "D d/old\n");
}

TEST(ChangeSet, DeepTreesAreListedOrSkippedAndNeverOverflow) {
  StackOnDisk disk;
  std::string layer = disk.add_layer();
  sys::DirFd at = sys::open_dir(layer).value();
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = sys::open_dir_at(at, "d").value();
  }
  ChangeSet set = changes_of(disk);
  ASSERT_EQ(set.skipped.size(), 1u);
  EXPECT_GT(set.skipped[0].size(), 4000u);
  EXPECT_EQ(set.changes.size(), 1u) << "the deepest directory that has a path stands for all";
}

TEST(ChangeSet, TheCostFollowsTheTouchedPaths) {
  StackOnDisk disk({{"big", directory()}, {"d", directory()}});
  // A directory that must not be read: listing it would fail for anybody.
  ASSERT_EQ(::chmod(disk.in_host("big").c_str(), 0), 0);
  disk.add_layer({{"d", directory()}, {"d/new", file("n")}});
  EXPECT_EQ(summary(changes_of(disk)), "A d/new\n");
}

// --- property: the deltas turn the host tree into the view --------------------------------------

void play(const Comparison& comparison, Tree& tree) {
  for (const Delta& delta : comparison.deltas) {
    if (!delta.after.exists()) {
      tree.erase(delta.path);
      continue;
    }
    testing::Node& node = tree[delta.path];
    node.type = delta.after.state.type;
    node.mode = delta.after.state.mode;
    node.xattrs = delta.after.state.xattrs;
    node.content = delta.after.is(FileType::symlink)
                       ? delta.after.state.target
                       : comparison.after_bytes(delta, 1u << 20).value();
  }
}

TEST(ChangeSet, DeltasTurnTheHostIntoTheViewForRandomTrees) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    testing::Random random(seed);
    Tree host = testing::random_tree(random);
    StackOnDisk disk(host);
    Tree view = host;
    for (size_t layers = 1 + random() % 3; layers > 0; --layers) {
      Tree next = testing::random_edit(view, random);
      testing::write_layer(disk.add_layer(), view, next, random);
      view = next;
    }
    if (random() % 2 == 0) {
      ASSERT_TRUE(capture_bases(disk.stack).ok());
    }
    Result<Comparison> comparison = compare_stack(disk.stack);
    ASSERT_TRUE(comparison.ok()) << seed << ": " << comparison.error().describe();
    Tree played = host;
    play(*comparison, played);
    ASSERT_EQ(testing::difference(view, played), "") << "seed " << seed;
    for (const Delta& delta : comparison->deltas) {
      bool same = host.count(delta.path) > 0 && view.count(delta.path) > 0 &&
                  host[delta.path] == view[delta.path];
      EXPECT_FALSE(same) << "seed " << seed << ": no change at " << printable(delta.path);
    }
  }
}

}  // namespace
}  // namespace paddock::view
