#include "agent/files/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/frames.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/testing/temp_dir.h"

namespace paddock::agent::files {
namespace {

class Files : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.path() + "/" + name; }
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(sys::replace_file(at(name), text, 0644).ok());
  }
  std::string content(const std::string& name) { return sys::read_file(at(name)).value(); }

  // Writes `pieces` as a client would; without the empty last frame it has left early.
  enum class Last { sent, missing };
  Status write_to(const std::string& name, const std::vector<std::string>& pieces,
                  Last last = Last::sent, std::vector<std::string> metadata = {}) {
    auto pipe = sys::make_pipe().value();
    for (const std::string& piece : pieces) EXPECT_TRUE(write_frame(pipe.write, piece).ok());
    if (last == Last::sent) {
      EXPECT_TRUE(write_frame(pipe.write, "").ok());
    }
    pipe.write.reset();
    return write({at(name), std::move(metadata)}, pipe.read);
  }
  size_t count_entries() {
    return sys::list_dir(sys::open_dir(dir_.path()).value()).value().size();
  }

  sys::testing::TempDir dir_;
};

TEST_F(Files, AWriteMakesParentsAndLeavesNothingElse) {
  ASSERT_TRUE(write_to("a/b/c.txt", {"hel", "lo"}).ok());
  EXPECT_EQ(content("a/b/c.txt"), "hello");
  EXPECT_EQ(count_entries(), 1u);
}

TEST_F(Files, AWriteThatIsCutShortChangesNothing) {
  put("f", "old");
  EXPECT_EQ(write_to("f", {"new"}, Last::missing).error().code(), Code::unavailable);
  EXPECT_EQ(content("f"), "old");
  EXPECT_FALSE(write_to("g", {"new"}, Last::missing).ok());
  EXPECT_EQ(count_entries(), 1u);
}

TEST_F(Files, AWriteKeepsModeAndLinksAndFollowsSymlinks) {
  put("target", "old");
  ASSERT_EQ(::chmod(at("target").c_str(), 0751), 0);
  ASSERT_EQ(::symlink("target", at("link").c_str()), 0);
  ASSERT_EQ(::link(at("target").c_str(), at("other").c_str()), 0);
  ASSERT_TRUE(write_to("link", {"new"}).ok());
  EXPECT_EQ(content("target"), "new");
  EXPECT_EQ(content("other"), "new");
  EXPECT_EQ(sys::lstat_path(at("target")).value().st_mode & 07777, 0751u);
  EXPECT_TRUE(S_ISLNK(sys::lstat_path(at("link")).value().st_mode));
}

TEST_F(Files, AWriteToASymlinkThatLeadsNowhereMakesItsTarget) {
  ASSERT_EQ(::symlink("missing", at("link").c_str()), 0);
  ASSERT_TRUE(write_to("link", {"x"}).ok());
  EXPECT_EQ(content("missing"), "x");
}

TEST_F(Files, ADirectoryIsNoFile) {
  ASSERT_TRUE(make_directory(at("d")).ok());
  EXPECT_EQ(write_to("d", {"x"}).error().errno_value(), EISDIR);
}

TEST_F(Files, MetadataIsReplacedAsASet) {
  Status written = write_to("f", {"x"}, Last::sent, {"author=me", "note=a=b"});
  if (!written.ok() && written.error().errno_value() == EOPNOTSUPP) {
    GTEST_SKIP() << "needs user-xattrs: the file system of the tests has none";
  }
  ASSERT_TRUE(written.ok()) << written.error().describe();
  auto entry = describe(at("f")).value();
  ASSERT_EQ(entry.metadata_size(), 2);
  EXPECT_EQ(entry.metadata(1).key(), "note");
  EXPECT_EQ(entry.metadata(1).value(), "a=b");
  ASSERT_TRUE(write_to("f", {"x"}, Last::sent, {"other=1"}).ok());
  entry = describe(at("f")).value();
  ASSERT_EQ(entry.metadata_size(), 1);
  EXPECT_EQ(entry.metadata(0).key(), "other");
}

TEST_F(Files, ASymlinkIsDescribedByItselfAndItsTarget) {
  ASSERT_TRUE(make_directory(at("d")).ok());
  ASSERT_EQ(::symlink("d", at("link").c_str()), 0);
  auto entry = describe(at("link")).value();
  EXPECT_EQ(entry.kind(), wire::FileEntry::DIRECTORY);
  EXPECT_TRUE(S_ISLNK(entry.mode()));
  EXPECT_EQ(entry.symlink_target(), sys::real_path(at("d")).value());
  ASSERT_EQ(::symlink("nowhere", at("broken").c_str()), 0);
  entry = describe(at("broken")).value();
  EXPECT_EQ(entry.kind(), wire::FileEntry::OTHER);
  EXPECT_EQ(entry.symlink_target(), "");
}

TEST_F(Files, AListGoesAsDeepAsAskedAndNotThroughSymlinks) {
  ASSERT_TRUE(make_directory(at("a/b/c")).ok());
  ASSERT_EQ(::symlink("a", at("z").c_str()), 0);
  auto names = [&](uint64_t depth) {
    wire::FilesReply reply;
    EXPECT_TRUE(list(dir_.path(), depth, reply).ok());
    std::string all;
    for (const auto& entry : reply.entries()) all += entry.path().substr(dir_.path().size()) + " ";
    return all;
  };
  EXPECT_EQ(names(1), "/a /z ");
  EXPECT_EQ(names(2), "/a /a/b /z ");
  EXPECT_EQ(names(9), "/a /a/b /a/b/c /z ");
}

TEST_F(Files, ADirectoryThatIsThereAndAFileInItsPlaceAreToldApart) {
  ASSERT_TRUE(make_directory(at("d")).ok());
  EXPECT_EQ(make_directory(at("d")).error().errno_value(), EEXIST);
  put("f", "");
  EXPECT_EQ(make_directory(at("f")).error().errno_value(), ENOTDIR);
}

TEST_F(Files, AMoveMakesTheParentsOfItsDestination) {
  put("f", "x");
  ASSERT_TRUE(move(at("f"), at("new/place/f")).ok());
  EXPECT_EQ(content("new/place/f"), "x");
  EXPECT_EQ(move(at("f"), at("g")).error().errno_value(), ENOENT);
}

}  // namespace
}  // namespace paddock::agent::files
