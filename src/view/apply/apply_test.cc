#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/strings.h"
#include "view/changes.h"
#include "view/testing/apply.h"
#include "view/testing/git.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using model::FileType;
using testing::apply_in;
using testing::directory;
using testing::file;
using testing::make_opaque;
using testing::make_whiteout;
using testing::results_of;
using testing::StackOnDisk;
using testing::symlink_to;
using testing::Tree;
using testing::write_file;

#define EXPECT_TREE(expected, actual) EXPECT_EQ(testing::difference(expected, actual), "")

TEST(Apply, BringsFilesModesLinksDeletionsAndDirectories) {
  Tree host{{"edit", file("old\n")}, {"mode", file("m")},       {"gone", file("x")},
            {"d", directory()},      {"d/old", file("o")},      {"link", symlink_to("edit")},
            {"keep", file("keep")},  {"deep", directory(0700)}, {"deep/x", file("x")}};
  StackOnDisk disk(host);
  std::string layer = disk.add_layer({{"edit", file("new\n")},
                                      {"mode", file("m", 0755)},
                                      {"link", symlink_to("keep")},
                                      {"new", directory(0750)},
                                      {"new/empty", directory()},
                                      {"new/f", file("", 0600)},
                                      {"deep", directory(0700)},
                                      {"deep/y", file("y")}});
  make_whiteout(layer + "/gone");
  make_whiteout(layer + "/d");
  ApplyReport report = apply_in(disk);
  EXPECT_FALSE(report.has_conflict);
  EXPECT_TREE((Tree{{"edit", file("new\n")},
                    {"mode", file("m", 0755)},
                    {"link", symlink_to("keep")},
                    {"keep", file("keep")},
                    {"new", directory(0750)},
                    {"new/empty", directory()},
                    {"new/f", file("", 0600)},
                    {"deep", directory(0700)},
                    {"deep/x", file("x")},
                    {"deep/y", file("y")}}),
              disk.host());
  EXPECT_EQ(
      results_of(report),
      "d/old applied\ndeep/y applied\nedit applied\ngone applied\nlink applied\nmode applied\n"
      "new/empty applied\nnew/f applied\n");
  EXPECT_EQ(testing::leftovers(disk), "");
}

TEST(Apply, ADryRunWritesNothing) {
  Tree host{{"a", file("old")}};
  StackOnDisk disk(host);
  disk.add_layer({{"a", file("new")}, {"b", file("b")}});
  ApplyOptions options;
  options.writes = Writes::dry_run;
  EXPECT_EQ(results_of(apply_in(disk, options)), "a applied\nb applied\n");
  EXPECT_TREE(host, disk.host());
}

TEST(Apply, DirectoriesAndFilesTakeEachOthersPlace) {
  StackOnDisk disk({{"d", directory()},
                    {"d/e", directory()},
                    {"d/e/f", file("f")},
                    {"x", file("x")},
                    {"y", symlink_to("x")}});
  disk.add_layer({{"d", file("now a file")},
                  {"x", directory()},
                  {"x/e", directory()},
                  {"x/e/f", file("f")},
                  {"y", directory()}});
  EXPECT_FALSE(apply_in(disk).has_conflict);
  EXPECT_TREE((Tree{{"d", file("now a file")},
                    {"x", directory()},
                    {"x/e", directory()},
                    {"x/e/f", file("f")},
                    {"y", directory()}}),
              disk.host());
}

TEST(Apply, WhatTheHostDidTooIsUnchanged) {
  StackOnDisk disk({{"a", file("0")}, {"gone", file("0")}});
  std::string layer = disk.add_layer({{"a", file("1")}, {"new", file("n")}, {"nd", directory()}});
  make_whiteout(layer + "/gone");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("a"), "1");
  write_file(disk.in_host("new"), "n");
  ASSERT_EQ(::mkdir(disk.in_host("nd").c_str(), 0755), 0);
  ASSERT_EQ(::unlink(disk.in_host("gone").c_str()), 0);
  ApplyReport report = apply_in(disk);
  EXPECT_EQ(results_of(report), "a unchanged\nnd unchanged\nnew unchanged\n");
}

TEST(Apply, TextThatBothChangedIsMerged) {
  StackOnDisk disk({{"a", file("1\n2\n3\n4\n5\n", 0644)}});
  disk.add_layer({{"a", file("1\n2\n3\n4\nview\n", 0755)}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("a"), "host\n2\n3\n4\n5\n");
  if (!testing::have_git()) GTEST_SKIP() << "needs git";
  ApplyReport report = apply_in(disk);
  EXPECT_EQ(results_of(report), "a merged\n");
  EXPECT_TREE((Tree{{"a", file("host\n2\n3\n4\nview\n", 0755)}}), disk.host());
}

TEST(Apply, ModesAndBytesMergeApart) {
  testing::Node attributed = file("0");
  attributed.xattrs = {{"user.host", "h"}};
  StackOnDisk disk({{"a", file("0")}, {"b", file("0")}, {"c", file("0")}, {"d", directory(0755)}});
  testing::Node by_view = file("0");
  by_view.xattrs = {{"user.view", "v"}};
  disk.add_layer(
      {{"a", file("1")}, {"b", file("0", 0755)}, {"c", by_view}, {"d", directory(0711)}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  ASSERT_EQ(::chmod(disk.in_host("a").c_str(), 0600), 0);
  write_file(disk.in_host("b"), "host");
  testing::write_tree(disk.host_dir(), {{"c", attributed}});
  EXPECT_EQ(results_of(apply_in(disk)), "a merged\nb merged\nc merged\nd applied\n");
  testing::Node both = file("0");
  both.xattrs = {{"user.host", "h"}, {"user.view", "v"}};
  EXPECT_TREE(
      (Tree{
          {"a", file("1", 0600)}, {"b", file("host", 0755)}, {"c", both}, {"d", directory(0711)}}),
      disk.host());
}

// A file that overlayfs copied up before it was moved says at its new name that it has an origin.
// Only where nothing moved does that mean that the host had the name.
TEST(Apply, AMovedFileIsNotTakenForOneThatTheHostRemoved) {
  StackOnDisk disk({{"a", file("0")}, {"b", file("0")}});
  std::string layer = disk.add_layer({{"moved", file("0")}});
  ASSERT_EQ(::setxattr((layer + "/moved").c_str(), "user.overlay.origin", "x", 1, 0), 0);
  make_whiteout(layer + "/a");
  EXPECT_EQ(results_of(apply_in(disk)), "a applied\nmoved applied\n");
  EXPECT_TREE((Tree{{"b", file("0")}, {"moved", file("0")}}), disk.host());

  StackOnDisk other({{"a", file("0")}});
  layer = other.add_layer({{"a", file("1")}});
  ASSERT_EQ(::setxattr((layer + "/a").c_str(), "user.overlay.origin", "x", 1, 0), 0);
  ASSERT_EQ(::unlink(other.in_host("a").c_str()), 0);
  EXPECT_TRUE(apply_in(other).has_conflict) << "the host removed what the sandbox changed";
}

// --- conflicts: each leaves the host as it was ---------------------------------------------------

struct Conflict {
  const char* name;
  Tree host;
  Tree layer;
  std::vector<std::string> whiteouts;
  void (*host_moves)(const StackOnDisk&);
};

void PrintTo(const Conflict& conflict, std::ostream* out) {
  *out << conflict.name;
}

class ApplyConflict : public ::testing::TestWithParam<Conflict> {};

TEST_P(ApplyConflict, WritesNothingOfAnything) {
  const Conflict& c = GetParam();
  StackOnDisk disk(c.host);
  std::string layer = disk.add_layer(c.layer);
  for (const std::string& path : c.whiteouts) make_whiteout(layer + "/" + path);
  write_file(layer + "/zz-other", "would apply");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  c.host_moves(disk);
  Tree before = disk.host();
  ApplyOptions dry_run;
  dry_run.writes = Writes::dry_run;
  EXPECT_TRUE(apply_in(disk, dry_run).has_conflict) << "known before anything is staged";
  ApplyReport report = apply_in(disk);
  EXPECT_TRUE(report.has_conflict) << results_of(report);
  EXPECT_TREE(before, disk.host());
  EXPECT_EQ(testing::leftovers(disk), "");
  for (const AppliedPath& path : report.paths) {
    EXPECT_EQ(path.reason.empty(), path.result != ApplyResult::conflict) << path.path;
  }
}

const std::vector<Conflict> kConflicts{
    {"same_line",
     {{"a", file("0\n")}},
     {{"a", file("1\n")}},
     {},
     [](const StackOnDisk& disk) { write_file(disk.in_host("a"), "2\n"); }},
    {"binary",
     {{"a", file(std::string("0\0\n", 3))}},
     {{"a", file(std::string("0\0\n1", 4))}},
     {},
     [](const StackOnDisk& disk) { write_file(disk.in_host("a"), std::string("2\n0\0\n", 5)); }},
    {"both_added",
     {},
     {{"a", file("1\n")}},
     {},
     [](const StackOnDisk& disk) { write_file(disk.in_host("a"), "2\n"); }},
    {"view_deleted_host_changed",
     {{"a", file("0")}},
     {},
     {"a"},
     [](const StackOnDisk& disk) { write_file(disk.in_host("a"), "2"); }},
    {"host_deleted_view_changed",
     {{"a", file("0")}},
     {{"a", file("1")}},
     {},
     [](const StackOnDisk& disk) { ::unlink(disk.in_host("a").c_str()); }},
    {"file_became_directory",
     {{"a", file("0")}},
     {{"a", file("1")}},
     {},
     [](const StackOnDisk& disk) {
       ::unlink(disk.in_host("a").c_str());
       ::mkdir(disk.in_host("a").c_str(), 0755);
     }},
    {"file_became_link",
     {{"a", file("0")}},
     {{"a", file("1")}},
     {},
     [](const StackOnDisk& disk) {
       ::unlink(disk.in_host("a").c_str());
       (void)!::symlink("b", disk.in_host("a").c_str());
     }},
    {"link_changed",
     {{"a", symlink_to("x")}},
     {{"a", symlink_to("y")}},
     {},
     [](const StackOnDisk& disk) {
       ::unlink(disk.in_host("a").c_str());
       (void)!::symlink("z", disk.in_host("a").c_str());
     }},
    {"parent_vanished",
     {{"d", directory()}, {"d/a", file("0")}},
     {{"d", directory()}, {"d/new", file("n")}},
     {},
     [](const StackOnDisk& disk) { (void)sys::remove_tree(disk.in_host("d")).ok(); }},
    {"parent_became_link",
     {{"d", directory()}, {"e", directory()}},
     {{"d", directory()}, {"d/new", file("n")}},
     {},
     [](const StackOnDisk& disk) {
       ::rmdir(disk.in_host("d").c_str());
       (void)!::symlink("e", disk.in_host("d").c_str());
     }},
    {"directory_got_a_file",
     {{"d", directory()}, {"d/a", file("0")}},
     {{"d", file("file")}},
     {},
     [](const StackOnDisk& disk) { write_file(disk.in_host("d/later"), "2"); }},
    {"both_changed_the_mode",
     {{"a", file("0", 0644)}},
     {{"a", file("0", 0600)}},
     {},
     [](const StackOnDisk& disk) { ::chmod(disk.in_host("a").c_str(), 0755); }},
};

INSTANTIATE_TEST_SUITE_P(All, ApplyConflict, ::testing::ValuesIn(kConflicts),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Apply, AHostFileNewerThanTheViewWithoutABaseIsAConflict) {
  StackOnDisk disk({{"a", file("0")}});
  disk.close_the_past();
  ::usleep(20000);
  write_file(disk.in_host("a"), "newer");
  disk.add_layer({{"a", file("1")}});
  EXPECT_TRUE(apply_in(disk).has_conflict);
  // The same content is no conflict.
  write_file(disk.in_host("a"), "1");
  EXPECT_EQ(results_of(apply_in(disk)), "");
}

TEST(Apply, ADirectoryThatTheHostFilledStays) {
  StackOnDisk disk({{"d", directory()}, {"d/a", file("0")}});
  make_whiteout(disk.add_layer() + "/d");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("d/later"), "2");
  EXPECT_EQ(results_of(apply_in(disk)), "d merged\nd/a applied\n");
  EXPECT_TREE((Tree{{"d", directory()}, {"d/later", file("2")}}), disk.host());
}

// --- holding back --------------------------------------------------------------------------------

TEST(Apply, WhatRunsOnTheHostIsHeldUntilAllowed) {
  Tree host{{"a", file("0")}, {".husky", directory()}, {".husky/pre-push", file("old")}};
  StackOnDisk disk(host);
  std::string layer = disk.add_layer({{"a", file("1")},
                                      {".envrc", file("evil")},
                                      {".github", directory()},
                                      {".github/workflows", directory()},
                                      {".github/workflows/ci.yml", file("evil")},
                                      {".github/ok.md", file("ok")}});
  make_whiteout(layer + "/.husky");
  EXPECT_EQ(results_of(apply_in(disk)),
            ".envrc held\n.github/ok.md applied\n.github/workflows held\n"
            ".github/workflows/ci.yml held\n.husky held\n.husky/pre-push held\na applied\n");
  Tree expected{{"a", file("1")},
                {".husky", directory()},
                {".husky/pre-push", file("old")},
                {".github", directory()},
                {".github/ok.md", file("ok")}};
  EXPECT_TREE(expected, disk.host());
  ApplyOptions options;
  options.host_exec = HostExec::allow;
  EXPECT_FALSE(apply_in(disk, options).has_conflict);
  EXPECT_TREE((Tree{{"a", file("1")},
                    {".envrc", file("evil")},
                    {".github", directory()},
                    {".github/ok.md", file("ok")},
                    {".github/workflows", directory()},
                    {".github/workflows/ci.yml", file("evil")}}),
              disk.host());
}

TEST(Apply, GitDataIsNeverAppliedEvenWhenAllowed) {
  Tree host{{".git", directory()},
            {".git/config", file("good")},
            {"s", directory()},
            {"s/.git", file("gitdir: good")}};
  StackOnDisk disk(host);
  disk.add_layer({{".git", directory()},
                  {".git/config", file("evil")},
                  {".git/hooks", directory()},
                  {".git/hooks/x", file("evil", 0755)},
                  {".GIT", directory()},
                  {".GIT/config", file("evil")},
                  {"s", directory()},
                  {"s/.git", file("gitdir: evil")},
                  {"n", directory()},
                  {"n/.git", directory()},
                  {"n/.git/config", file("evil")}});
  ApplyOptions options;
  options.host_exec = HostExec::allow;
  EXPECT_FALSE(apply_in(disk, options).has_conflict);
  host["n"] = directory();
  EXPECT_TREE(host, disk.host());
}

TEST(Apply, AHiddenFileIsNeverOverwrittenNorRemoved) {
  Tree host{{".env", file("SECRET")}, {"d", directory()}, {"d/.env", file("SECRET")},
            {"d/f", file("f")},       {"k", directory()}, {"k/id", file("SECRET")},
            {"a", file("0")}};
  StackOnDisk disk(host);
  disk.stack.hidden = {".env", "d/.env", "k"};
  std::string layer = disk.add_layer({{".env", file("mine")},
                                      {"k", directory()},
                                      {"k/id", file("mine")},
                                      {"k/new", file("mine")},
                                      {"a", file("1")}});
  make_whiteout(layer + "/d");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  ApplyOptions options;
  options.host_exec = HostExec::allow;
  EXPECT_EQ(results_of(apply_in(disk, options)),
            ".env held\na applied\nd held\nd/f applied\nk held\nk/id held\nk/new held\n");
  host["a"] = file("1");
  host.erase("d/f");
  EXPECT_TREE(host, disk.host());
}

TEST(Apply, ADirectoryWithHiddenFilesDoesNotBecomeAFile) {
  Tree host{{"d", directory()}, {"d/.env", file("SECRET")}, {"d/f", file("f")}};
  StackOnDisk disk(host);
  disk.stack.hidden = {"d/.env"};
  disk.add_layer({{"d", file("file")}});
  EXPECT_EQ(results_of(apply_in(disk)), "d held\nd/f held\n");
  EXPECT_TREE(host, disk.host());
}

TEST(Apply, LinksThatLeadOutAreHeld) {
  StackOnDisk disk({{"d", directory()}});
  disk.add_layer({{"out", symlink_to("../outside")}, {"in", symlink_to("d")}});
  EXPECT_EQ(results_of(apply_in(disk)), "in applied\nout held\n");
}

// --- selection -----------------------------------------------------------------------------------

TEST(Apply, OnlyThePathsAskedForAreApplied) {
  StackOnDisk disk({{"a", file("0")}, {"x", file("0")}});
  disk.add_layer({{"a", file("1")},
                  {"n", directory(0711)},
                  {"n/m", directory()},
                  {"n/m/f", file("f")},
                  {"n/g", file("g")},
                  {"x", directory()},
                  {"x/y", file("y")}});
  ApplyOptions options;
  options.paths = {"./n/m/", "x/y"};
  EXPECT_EQ(results_of(apply_in(disk, options)), "n/m/f applied\nx/y applied\n");
  EXPECT_TREE((Tree{{"a", file("0")},
                    {"n", directory(0711)},
                    {"n/m", directory()},
                    {"n/m/f", file("f")},
                    {"x", directory()},
                    {"x/y", file("y")}}),
              disk.host());
}

TEST(Apply, PathsThatNameNothingAreRefused) {
  StackOnDisk disk({{"a", file("0")}});
  disk.add_layer({{"a", file("1")}});
  auto code = [&](const std::string& path) {
    ApplyOptions options;
    options.paths = {path};
    return apply_changes(disk.stack, options, testing::site_of(disk)).error().code();
  };
  EXPECT_EQ(code("b"), Code::not_found);
  EXPECT_EQ(code("../a"), Code::invalid_argument);
  EXPECT_EQ(code("/a"), Code::invalid_argument);
}

TEST(Apply, WhatIsAppliedInPartIsTheNextBase) {
  StackOnDisk disk({{"a", file("0\n")}, {"b", file("0\n")}});
  disk.add_layer({{"a", file("1\n")}, {"b", file("1\n")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  ApplyOptions options;
  options.paths = {"a"};
  EXPECT_FALSE(apply_in(disk, options).has_conflict);
  Result<model::ChangeSet> rest = compute_changes(disk.stack);
  ASSERT_TRUE(rest.ok());
  ASSERT_EQ(rest->changes.size(), 1u);
  EXPECT_EQ(rest->changes[0].path, "b");
  disk.add_layer({{"a", file("2\n")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  EXPECT_EQ(results_of(apply_in(disk)), "a applied\nb applied\n");
  EXPECT_TREE((Tree{{"a", file("2\n")}, {"b", file("1\n")}}), disk.host());
}

// --- what an edit keeps --------------------------------------------------------------------------

TEST(Apply, SetuidNeverArrivesAndNeverSurvivesAnEdit) {
  StackOnDisk disk({{"a", file("0", 04755)}, {"d", directory(02755)}});
  disk.add_layer({{"a", file("1", 04755)},
                  {"n", file("n", 06755)},
                  {"nd", directory(01777)},
                  {"d", directory(02700)}});
  EXPECT_FALSE(apply_in(disk).has_conflict);
  EXPECT_TREE((Tree{{"a", file("1", 0755)},
                    {"n", file("n", 0755)},
                    {"nd", directory(0777)},
                    {"d", directory(02700)}}),
              disk.host());
}

TEST(Apply, AnEditKeepsOwnerGroupAndAttributes) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  testing::Node edited = file("0", 0640);
  edited.xattrs = {{"user.k", "v"}};
  StackOnDisk disk({{"a", edited}, {"d", directory()}});
  ASSERT_EQ(::chown(disk.in_host("a").c_str(), 1234, 2345), 0);
  ASSERT_EQ(::chown(disk.in_host("d").c_str(), 1111, 2222), 0);
  edited.content = "1";
  disk.add_layer({{"a", edited},
                  {"d", directory()},
                  {"d/n", file("n")},
                  {"d/m", directory()},
                  {"d/m/l", symlink_to("x")}});
  EXPECT_FALSE(apply_in(disk).has_conflict);
  struct stat st = sys::lstat_path(disk.in_host("a")).value();
  EXPECT_EQ(st.st_uid, 1234u);
  EXPECT_EQ(st.st_gid, 2345u);
  for (const char* path : {"d/n", "d/m", "d/m/l"}) {
    st = sys::lstat_path(disk.in_host(path)).value();
    EXPECT_EQ(st.st_uid, 1111u) << path;
    EXPECT_EQ(st.st_gid, 2222u) << path;
  }
  EXPECT_EQ(disk.host()["a"], edited);
}

TEST(Apply, AChangeOfModeKeepsTheTimeOfTheBytes) {
  StackOnDisk disk({{"a", file("0")}});
  struct timespec times[2] = {{100, 0}, {200, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, disk.in_host("a").c_str(), times, 0), 0);
  disk.add_layer({{"a", file("0", 0755)}});
  EXPECT_FALSE(apply_in(disk).has_conflict);
  struct stat st = sys::lstat_path(disk.in_host("a")).value();
  EXPECT_EQ(st.st_mtim.tv_sec, 200);
  EXPECT_EQ(st.st_mode & 0777, 0755u);
}

TEST(Apply, HardLinksOfTheViewAreHardLinksOnTheHost) {
  StackOnDisk disk({{"a", file("same\n")}});
  std::string layer = disk.add_layer({{"a", file("same\n")}, {"x", file("new\n")}});
  ASSERT_EQ(::link((layer + "/a").c_str(), (layer + "/b").c_str()), 0);
  ASSERT_EQ(::link((layer + "/x").c_str(), (layer + "/y").c_str()), 0);
  EXPECT_FALSE(apply_in(disk).has_conflict);
  auto ino = [&](const char* path) { return sys::lstat_path(disk.in_host(path)).value().st_ino; };
  EXPECT_EQ(ino("a"), ino("b"));
  EXPECT_EQ(ino("x"), ino("y"));
  EXPECT_NE(ino("a"), ino("x"));
}

TEST(Apply, AnEditThroughOneNameLeavesTheHostsOtherNamesAlone) {
  StackOnDisk disk({{"a", file("0")}});
  ASSERT_EQ(::link(disk.in_host("a").c_str(), disk.path("store").c_str()), 0);
  disk.add_layer({{"a", file("1")}});
  EXPECT_FALSE(apply_in(disk).has_conflict);
  EXPECT_EQ(sys::read_file(disk.path("store")).value(), "0");
}

TEST(Apply, StagesInTheWorkspaceWhenTheJournalIsElsewhere) {
  if (!sys::exists("/dev/shm")) GTEST_SKIP() << "needs /dev/shm";
  std::string elsewhere = "/dev/shm/paddock-apply-test-" + std::to_string(::getpid());
  StackOnDisk disk({{"a", file("0")}});
  disk.add_layer({{"a", file("1")}, {"b", file("b")}});
  Result<ApplyReport> report = apply_changes(disk.stack, {}, {model::HostPath(elsewhere), "t"});
  ASSERT_TRUE(report.ok()) << report.error().describe();
  EXPECT_TREE((Tree{{"a", file("1")}, {"b", file("b")}}), disk.host());
  EXPECT_EQ(sys::list_dir(sys::open_dir(elsewhere).value()).value().size(), 1u);
  (void)sys::remove_tree(elsewhere).ok();
}

// --- property: apply(diff(a, b), a) == b ---------------------------------------------------------

TEST(Apply, BringsRandomViewsToTheHost) {
  for (unsigned seed = 1000; seed < 1040; ++seed) {
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
    ApplyReport report = apply_in(disk);
    ASSERT_FALSE(report.has_conflict) << "seed " << seed << "\n" << results_of(report);
    ASSERT_EQ(testing::difference(view, disk.host()), "") << "seed " << seed;
    ASSERT_EQ(testing::leftovers(disk), "") << "seed " << seed;
    ASSERT_EQ(results_of(apply_in(disk)), "") << "seed " << seed << ": nothing is left to apply";
  }
}

}  // namespace
}  // namespace paddock::view
