#include "sys/path_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

class PathLockTest : public ::testing::Test {
 protected:
  testing::TempDir tmp_;
  std::string path_ = tmp_.path() + "/lock";
};

TEST_F(PathLockTest, SharedHoldersKeepAnExclusiveOneOut) {
  FileFd first = lock_path(path_, LockMode::shared, LockWait::no).value();
  FileFd second = lock_path(path_, LockMode::shared, LockWait::no).value();
  EXPECT_EQ(lock_path(path_, LockMode::exclusive, LockWait::no).error().code(),
            Code::failed_precondition);
  first.reset();
  second.reset();
  EXPECT_TRUE(lock_path(path_, LockMode::exclusive, LockWait::no).ok());
}

TEST_F(PathLockTest, AWaiterDoesNotEndUpWithAFileThatTheHolderRemoved) {
  FileFd holder = lock_path(path_, LockMode::exclusive, LockWait::no).value();
  Result<FileFd> waited = Error(Code::internal, "not run");
  std::thread waiter([&] { waited = lock_path(path_, LockMode::exclusive, LockWait::yes); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  holder.reset();
  waiter.join();
  ASSERT_TRUE(waited.ok());
  EXPECT_FALSE(lock_path(path_, LockMode::exclusive, LockWait::no).ok())
      << "the waiter's lock is on a file that the path no longer names";
}

TEST_F(PathLockTest, AMissingDirectoryIsNotFound) {
  EXPECT_EQ(lock_path(tmp_.path() + "/no/lock", LockMode::shared, LockWait::no).error().code(),
            Code::not_found);
}

}  // namespace
}  // namespace paddock::sys
