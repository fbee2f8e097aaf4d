#include "view/bases/base_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/digest.h"
#include "view/bases/base_segments.h"
#include "view/testing/stack.h"

namespace paddock::view {
namespace {

using model::FileType;
using testing::directory;
using testing::file;
using testing::make_whiteout;
using testing::StackOnDisk;
using testing::symlink_to;
using testing::write_file;

Bases load(const StackOnDisk& disk) {
  Result<Bases> bases = Bases::load(disk.stack.bases);
  if (!bases.ok()) ADD_FAILURE() << bases.error().describe();
  return bases.ok() ? std::move(*bases) : Bases();
}

size_t segments(const StackOnDisk& disk) {
  return list_segments(disk.stack.bases).value().size();
}

TEST(BaseStore, KeepsTypeBytesAndIdentityOfWhatIsReplaced) {
  StackOnDisk disk({{"a", file("old", 0755)}, {"l", symlink_to("x")}, {"untouched", file("u")}});
  disk.add_layer({{"a", file("new")}, {"l", file("f")}, {"added", file("n")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  Bases bases = load(disk);
  const BaseRecord* a = bases.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->object.state.mode, 0755u);
  EXPECT_EQ(a->object.state.digest, sys::sha256_hex("old"));
  EXPECT_EQ(bases.read_blob(*a, 100).value(), "old");
  EXPECT_EQ(bases.read_blob(*a, 2).error().code(), Code::resource_exhausted);
  EXPECT_EQ(bases.find("l")->object.state.target, "x");
  EXPECT_FALSE(bases.find("added")->object.exists());
  EXPECT_EQ(bases.find("untouched"), nullptr);
}

TEST(BaseStore, AFileWrittenAMomentAgoIsKnownByItsDigestOnly) {
  StackOnDisk disk({{"a", file("0")}, {"b", file("0")}});
  disk.add_layer({{"a", file("1")}, {"b", file("1")}});
  ::usleep(30000);
  uint64_t ino_of_b = 1;
  // A busy machine may take longer from the change to the capture than a moment is.
  for (int attempt = 0; attempt < 50 && ino_of_b != 0; ++attempt) {
    (void)sys::remove_tree(disk.stack.bases.str()).ok();
    ASSERT_EQ(::chmod(disk.in_host("b").c_str(), 0640), 0);
    ASSERT_TRUE(capture_bases(disk.stack).ok());
    Bases bases = load(disk);
    EXPECT_NE(bases.find("a")->object.ino, 0u);
    ino_of_b = bases.find("b")->object.ino;
  }
  EXPECT_EQ(ino_of_b, 0u);
}

TEST(BaseStore, TheFirstBaseStays) {
  StackOnDisk disk({{"a", file("0")}, {"b", file("0")}});
  disk.add_layer({{"a", file("1")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  write_file(disk.in_host("a"), "host");
  disk.add_layer({{"a", file("2")}, {"b", file("2")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  Bases bases = load(disk);
  EXPECT_EQ(bases.read_blob(*bases.find("a"), 9).value(), "0");
  EXPECT_EQ(bases.read_blob(*bases.find("b"), 9).value(), "0");
  EXPECT_EQ(segments(disk), 2u);
}

TEST(BaseStore, NothingNewWritesNothing) {
  StackOnDisk disk({{"a", file("0")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  EXPECT_FALSE(sys::exists(disk.stack.bases.str()));
  disk.add_layer({{"a", file("1")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  EXPECT_EQ(segments(disk), 1u);
}

TEST(BaseStore, AHostObjectNewerThanTheViewHasNoBase) {
  StackOnDisk disk({{"a", file("0")}});
  disk.close_the_past();
  ::usleep(20000);
  write_file(disk.in_host("a"), "edited meanwhile");
  disk.add_layer({{"a", file("1")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  // A later command does not make it one.
  disk.stack.opened_ns = sys::wall_clock_ns() + 1'000'000'000;
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  EXPECT_EQ(load(disk).find("a")->kind, BaseKind::newer);
}

TEST(BaseStore, ATreeThatTheHostDoesNotHaveIsOneRecord) {
  StackOnDisk disk;
  disk.add_layer(
      {{"new", directory()}, {"new/a", file("a")}, {"new/b", directory()}, {"new/b/c", file("c")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  Bases bases = load(disk);
  EXPECT_EQ(bases.records().size(), 1u);
  EXPECT_TRUE(bases.implies_absent("new/b/c"));
  EXPECT_FALSE(bases.implies_absent("new"));
}

TEST(BaseStore, ALostDirectoryRecordsWhatItHeld) {
  StackOnDisk disk(
      {{"d", directory()}, {"d/a", file("a")}, {"d/e", directory()}, {"d/e/f", file("f")}});
  make_whiteout(disk.add_layer() + "/d");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  Bases bases = load(disk);
  EXPECT_EQ(bases.records().size(), 4u);
  EXPECT_EQ(bases.find("d")->children, BaseChildren::listed);
  EXPECT_EQ(bases.find("d/e/f")->object.state.size, 1u);
}

TEST(BaseStore, HiddenFilesGetNoBase) {
  StackOnDisk disk({{".env", file("SECRET")}, {"d", directory()}, {"d/.env", file("SECRET")}});
  disk.stack.hidden = {".env", "d/.env"};
  std::string layer = disk.add_layer({{".env", file("mine")}});
  make_whiteout(layer + "/d");
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  Bases bases = load(disk);
  EXPECT_EQ(bases.find(".env"), nullptr);
  EXPECT_EQ(bases.find("d/.env"), nullptr);
  std::vector<std::string> names = list_segments(disk.stack.bases).value();
  ASSERT_EQ(names.size(), 1u);
  for (const std::string& name : names) {
    std::string bytes = sys::read_file((disk.stack.bases / name).str()).value();
    EXPECT_EQ(bytes.find("SECRET"), std::string::npos);
  }
}

TEST(BaseStore, PruningForgetsWhatNoLayerTouches) {
  StackOnDisk disk({{"a", file("0a")}, {"b", file("0b")}});
  disk.add_layer({{"a", file("1")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  disk.add_layer({{"b", file("1")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  disk.stack.layers.erase(disk.stack.layers.begin());
  ASSERT_TRUE(prune_bases(disk.stack).ok());
  Bases bases = load(disk);
  EXPECT_EQ(bases.find("b"), nullptr);
  EXPECT_EQ(bases.read_blob(*bases.find("a"), 9).value(), "0a");
  EXPECT_EQ(segments(disk), 1u);
  disk.stack.layers.clear();
  ASSERT_TRUE(prune_bases(disk.stack).ok());
  EXPECT_TRUE(load(disk).records().empty());
}

TEST(BaseStore, ADamagedSegmentIsCorruptAndNeverMisread) {
  StackOnDisk disk({{"a", file("old content")}});
  disk.add_layer({{"a", file("new")}});
  ASSERT_TRUE(capture_bases(disk.stack).ok());
  std::string path = (disk.stack.bases / list_segments(disk.stack.bases).value()[0]).str();
  std::string good = sys::read_file(path).value();
  for (size_t at : {size_t{0}, size_t{20}, size_t{100}, good.size() - 3}) {
    std::string bad = good;
    bad[at] ^= 0x40;
    write_file(path, bad);
    EXPECT_EQ(Bases::load(disk.stack.bases).error().code(), Code::data_corrupt) << at;
  }
  write_file(path, good.substr(0, good.size() - 1));
  EXPECT_EQ(Bases::load(disk.stack.bases).error().code(), Code::data_corrupt);
  write_file(path, good);
  EXPECT_TRUE(Bases::load(disk.stack.bases).ok());
}

TEST(BaseStore, AnUnfinishedWriterLeavesNothing) {
  StackOnDisk disk;
  {
    BaseWriter writer = BaseWriter::create(disk.stack.bases, SegmentRole::add).value();
    writer.add("x", {});
    EXPECT_TRUE(load(disk).records().empty());
  }
  EXPECT_TRUE(sys::list_dir(sys::open_dir(disk.stack.bases.str()).value()).value().empty());
}

TEST(BaseStore, AParkedSegmentCountsOnceItIsPublished) {
  StackOnDisk disk;
  BaseWriter writer = BaseWriter::create(disk.stack.bases, SegmentRole::add).value();
  writer.add("x", {});
  std::string name = writer.park().value();
  EXPECT_TRUE(load(disk).records().empty());
  ASSERT_TRUE(publish_parked(disk.stack.bases, name).ok());
  ASSERT_TRUE(publish_parked(disk.stack.bases, name).ok()) << "again, as after a crash";
  EXPECT_NE(load(disk).find("x"), nullptr);
  EXPECT_TRUE(remove_parked(disk.stack.bases, name).ok());
}

}  // namespace
}  // namespace paddock::view
