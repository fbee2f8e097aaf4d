#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/command.h"
#include "view/changes.h"
#include "view/changes/patch_headers.h"
#include "view/changes/patch_stream.h"
#include "view/testing/apply.h"
#include "view/testing/git.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using model::FileType;
using testing::directory;
using testing::file;
using testing::git_succeeds;
using testing::make_whiteout;
using testing::StackOnDisk;
using testing::symlink_to;
using testing::Tree;
using testing::write_file;

// What git keeps of a tree: files and links, two modes.
Tree as_git_keeps(const Tree& tree) {
  Tree kept;
  for (const auto& [path, node] : tree) {
    if (node.type == FileType::directory || path == ".git" || path.compare(0, 5, ".git/") == 0) {
      continue;
    }
    kept[path] = node;
    kept[path].xattrs.clear();
    if (node.type == FileType::regular) kept[path].mode = (node.mode & 0100) != 0 ? 0755 : 0644;
  }
  return kept;
}

// git apply cannot replace a link that leads to itself by a directory: it looks through it.
Tree without_loops(Tree tree) {
  for (auto& [path, node] : tree) {
    if (node.type == FileType::symlink && node.content.compare(0, 3, "to-") != 0) {
      node.content = "to-" + node.content;
    }
  }
  return tree;
}

class PatchMake : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::have_git()) GTEST_SKIP() << "needs git";
  }

  static std::string patch_of(const StackOnDisk& disk, const std::vector<std::string>& paths = {}) {
    Result<std::string> patch = make_patch(disk.stack, paths);
    if (!patch.ok()) ADD_FAILURE() << patch.error().describe();
    return patch.ok() ? *patch : "";
  }

  // Applies the patch to a clean clone of a repository that holds `host`.
  static Tree patched(const StackOnDisk& disk, const Tree& host, const std::string& patch) {
    std::string clone = disk.path("clone");
    (void)sys::remove_tree(clone).ok();
    testing::write_tree(clone, host);
    testing::make_repository(clone);
    EXPECT_TRUE(patch.empty() || git_succeeds(clone, {"apply", "--index", "-"}, patch));
    return as_git_keeps(testing::read_tree(clone));
  }
};

TEST_F(PatchMake, ACleanCloneTakesItAndYieldsTheSameBytes) {
  std::string binary("\0\1\2\xff bin", 8), other("\0\1\3\xff bin\n", 9);
  Tree host{{"text", file("1\n2\n3\n")},  {"crlf", file("1\r\n2\r\n")},
            {"bin", file(binary)},        {"mode", file("x")},
            {"gone", file("gone\n")},     {"old-name", file("some content\n")},
            {"link", symlink_to("text")}, {"becomes-link", file("f\n")},
            {"no-newline", file("a")},    {"d", directory()},
            {"d/f", file("f\n")},         {"x", file("x\n")},
            {"empty", file("")}};
  StackOnDisk disk(host);
  Tree view = host;
  view["text"] = file("1\ntwo\n3\n");
  view["crlf"] = file("1\r\n2\n");
  view["bin"] = file(other);
  view["mode"] = file("x", 0755);
  view.erase("gone");
  view.erase("old-name");
  view["new name\xff\n\"q\\"] = file("some content\n");
  view["link"] = symlink_to("bin");
  view["becomes-link"] = symlink_to("x");
  view["no-newline"] = file("a\nb");
  view.erase("d/f");
  view["d"] = file("now a file");
  view["x"] = directory();
  view["x/y"] = file("");
  view["empty"] = file("no more");
  testing::Random random(3);
  testing::write_layer(disk.add_layer(), host, view, random);
  std::string patch = patch_of(disk);
  EXPECT_EQ(testing::difference(as_git_keeps(view), patched(disk, host, patch)), "");
  EXPECT_NE(patch.find("rename from old-name"), std::string::npos);
  EXPECT_NE(patch.find("GIT binary patch"), std::string::npos);
  EXPECT_EQ(testing::leftovers(disk), "");
  EXPECT_FALSE(sys::exists(disk.stack.bases.str()) &&
               !sys::list_dir(sys::open_dir(disk.stack.bases.str()).value()).value().empty());
}

TEST_F(PatchMake, RandomViewsComeThrough) {
  for (unsigned seed = 500; seed < 525; ++seed) {
    testing::Random random(seed);
    Tree host = without_loops(testing::random_tree(random));
    Tree view = without_loops(testing::random_edit(host, random));
    StackOnDisk disk(host);
    testing::write_layer(disk.add_layer(), host, view, random);
    Tree result = patched(disk, host, patch_of(disk));
    ASSERT_EQ(testing::difference(as_git_keeps(view), result), "") << "seed " << seed;
  }
}

TEST_F(PatchMake, TheRepositorysConfigAttributesAndHooksTakeNoPart) {
  Tree host{{"a.txt", file("1\n")},
            {".gitattributes", file("*.txt diff=evil filter=evil -text\n")}};
  StackOnDisk disk(host);
  testing::make_repository(disk.host_dir());
  std::string proof = disk.path("proof");
  std::string evil = "touch " + proof;
  for (const char* key : {"diff.evil.command", "diff.evil.textconv", "filter.evil.clean",
                          "diff.external", "core.fsmonitor", "core.pager"}) {
    testing::git(disk.host_dir(), {"config", key, evil});
  }
  disk.add_layer({{"a.txt", file("2\n")}});
  EXPECT_NE(patch_of(disk).find("+2\n"), std::string::npos);
  EXPECT_FALSE(sys::exists(proof));
  // The twin: git in that repository runs it.
  write_file(disk.in_host("a.txt"), "2\n");
  std::string dir = disk.host_dir();
  sys::Command command{{"/usr/bin/git", "-C", dir, "-c", "safe.directory=*", "diff"},
                       {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}};
  ASSERT_TRUE(sys::run_command(command).ok());
  EXPECT_TRUE(sys::exists(proof));
}

TEST_F(PatchMake, OnlyTheViewsOwnDeltaIsInIt) {
  StackOnDisk disk({{"a", file("1\n2\n3\n")}, {"b", file("b\n")}});
  disk.add_layer({{"a", file("1\n2\nview\n")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("a"), "host\n2\n3\n");
  write_file(disk.in_host("b"), "host\n");
  std::string patch = patch_of(disk);
  EXPECT_NE(patch.find("+view"), std::string::npos);
  EXPECT_EQ(patch.find("host"), std::string::npos);
}

TEST_F(PatchMake, HeldPathsAreInItAndNamedAndGitDataIsNot) {
  StackOnDisk disk;
  disk.add_layer({{".envrc", file("evil\n")},
                  {".git", directory()},
                  {".git/config", file("evil\n")},
                  {"a", file("a\n")}});
  std::string patch = patch_of(disk);
  EXPECT_EQ(patch.compare(0, 2, "# "), 0);
  EXPECT_NE(patch.find(".envrc"), std::string::npos);
  EXPECT_EQ(patch.find(".git/config"), std::string::npos);
  EXPECT_EQ(patched(disk, {{"x", file("x")}}, patch).count(".envrc"), 1u);
}

TEST_F(PatchMake, AHostileNameInThePreambleIsNoPatch) {
  Tree layer{{".vscode", directory()}, {".vscode/n", file("n\n")}};
  StackOnDisk disk;
  // A name cannot hold a slash: directories carry the parts of a forged head.
  layer[".vscode/x\ndiff --git a"] = directory();
  layer[".vscode/x\ndiff --git a/b\n--- \n+++ \n@@ -0,0 +1 @@\n+evil"] = file("in\n");
  disk.add_layer(layer);
  Tree result = patched(disk, {{"x", file("x")}}, patch_of(disk));
  Tree expected = as_git_keeps(layer);
  expected["x"] = file("x");
  EXPECT_EQ(testing::difference(expected, result), "");
}

TEST_F(PatchMake, PathsNarrowIt) {
  StackOnDisk disk;
  disk.add_layer({{"a", file("a\n")}, {"d", directory()}, {"d/b", file("b\n")}});
  std::string patch = patch_of(disk, {"d"});
  EXPECT_NE(patch.find("d/b"), std::string::npos);
  EXPECT_EQ(patch.find("a/a "), std::string::npos);
}

TEST_F(PatchMake, NothingChangedIsAnEmptyPatch) {
  StackOnDisk disk({{"a", file("a")}});
  disk.add_layer({{"a", file("a")}, {"e", directory()}});
  EXPECT_EQ(patch_of(disk), "");
}

TEST_F(PatchMake, ARepositoryOfSha256IdsTakesBinaryPatches) {
  Tree host{{"bin", file(std::string("\0\1", 2))}};
  StackOnDisk disk(host);
  testing::git(disk.host_dir(), {"init", "--quiet", "--template=", "--object-format=sha256"});
  testing::commit_all(disk.host_dir(), "first");
  disk.add_layer({{"bin", file(std::string("\0\2", 2))}});
  EXPECT_TRUE(git_succeeds(disk.host_dir(), {"apply", "-"}, patch_of(disk)));
  EXPECT_EQ(disk.host()["bin"].content, std::string("\0\2", 2));
}

TEST(PatchHeaders, NamesWithBlanksAreQuotedInHeadersOnly) {
  EXPECT_EQ(quote_headers("diff --git a/x  b/x \nold mode\n"),
            "diff --git \"a/x \" \"b/x \"\nold mode\n");
  EXPECT_EQ(quote_headers("diff --git a/x b/x b/x b/x\n"), "diff --git \"a/x b/x\" \"b/x b/x\"\n");
  for (const char* same :
       {"diff --git a/x b/x\n", "diff --git a/x y b/z y\n", " diff --git a/x  b/x \n",
        "diff --git \"a/x \\n\" \"b/x \\n\"\n", "", "diff --git "}) {
    EXPECT_EQ(quote_headers(same), same);
  }
}

TEST(PatchStream, QuotesEveryByteThatGitWouldRead) {
  EXPECT_EQ(quote_for_git("a b"), "\"a b\"");
  EXPECT_EQ(quote_for_git("a\"\\\n\xff"), "\"a\\042\\134\\012\\377\"");
}

}  // namespace
}  // namespace paddock::view
