#include "sys/inotify.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

TEST(Inotify, TellsWhatChangedAndTakesAllThatWasQueued) {
  testing::TempDir dir;
  Inotify inotify = Inotify::open().value();
  const int watch = inotify.watch(dir.path(), IN_CREATE | IN_ONLYDIR).value();
  EXPECT_TRUE(inotify.read().value().events.empty());
  ASSERT_TRUE(make_dir(dir.path() + "/a", 0755).ok());
  const size_t queued = inotify.queued();
  auto batch = inotify.read().value();
  ASSERT_EQ(batch.events.size(), 1u);
  EXPECT_EQ(batch.taken, queued);
  EXPECT_EQ(batch.events[0].watch, watch);
  EXPECT_EQ(batch.events[0].name, "a");
  EXPECT_EQ(batch.events[0].mask, uint32_t{IN_CREATE | IN_ISDIR});
}

TEST(Inotify, AFileIsNoDirectoryAndWhatIsMissingIsSaid) {
  testing::TempDir dir;
  Inotify inotify = Inotify::open().value();
  ASSERT_TRUE(replace_file(dir.path() + "/f", "", 0644).ok());
  EXPECT_EQ(inotify.watch(dir.path() + "/f", IN_CREATE | IN_ONLYDIR).error().errno_value(),
            ENOTDIR);
  EXPECT_EQ(inotify.watch(dir.path() + "/g", IN_CREATE).error().code(), Code::not_found);
}

}  // namespace
}  // namespace paddock::sys
