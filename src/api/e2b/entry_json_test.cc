#include "api/e2b/entry_json.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

namespace paddock::api::e2b {
namespace {

TEST(Permissions, AreAsGoPrintsThem) {
  EXPECT_EQ(permissions_of(S_IFREG | 0644), "-rw-r--r--");
  EXPECT_EQ(permissions_of(S_IFDIR | 0755), "drwxr-xr-x");
  EXPECT_EQ(permissions_of(S_IFLNK | 0777), "Lrwxrwxrwx");
  EXPECT_EQ(permissions_of(S_IFDIR | S_ISVTX | 0777), "dtrwxrwxrwx");
  EXPECT_EQ(permissions_of(S_IFREG | S_ISUID | 0755), "urwxr-xr-x");
}

TEST(EntryJson, SizesAreTextAndTimesAreUtc) {
  wire::FileEntry entry;
  entry.set_path("/home/user/hello.txt");
  entry.set_kind(wire::FileEntry::FILE);
  entry.set_size(12);
  entry.set_mode(S_IFREG | 0644);
  entry.set_target_mode(S_IFREG | 0644);
  entry.set_modified_ns(1'796'081'961'469'000'000);
  const auto json = to_json(entry);
  EXPECT_EQ(json.at("name"), "hello.txt");
  EXPECT_EQ(json.at("size"), "12");
  EXPECT_EQ(json.at("mode"), 0644);
  EXPECT_EQ(json.at("modifiedTime"), "2026-11-30T23:39:21.469Z");
  EXPECT_FALSE(json.contains("symlinkTarget"));
}

TEST(EntryJson, BytesThatAreNoTextAreEscaped) {
  wire::FileEntry entry;
  entry.set_path("/a/\xff");
  EXPECT_EQ(to_json(entry).at("name"), "\\xff");
}

TEST(FileError, HasTheWordsThatClientsKnow) {
  const auto error = file_error(Error::from_errno(ENOENT, "opening"), "/nope");
  EXPECT_EQ(error.code, ConnectCode::not_found);
  EXPECT_EQ(error.message, "path '/nope' does not exist");
}

}  // namespace
}  // namespace paddock::api::e2b
