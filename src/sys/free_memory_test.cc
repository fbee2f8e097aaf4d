#include "sys/free_memory.h"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>

namespace paddock::sys {
namespace {

TEST(FreeMemory, SaysWhatTheKernelSays) {
  struct sysinfo info {};
  ASSERT_EQ(::sysinfo(&info), 0);
  const FreeMemory memory = free_memory();
  EXPECT_EQ(memory.total_bytes, info.totalram * info.mem_unit);
  EXPECT_GT(memory.available_bytes, 0u);
  EXPECT_LT(memory.available_bytes, memory.total_bytes);
}

}  // namespace
}  // namespace paddock::sys
