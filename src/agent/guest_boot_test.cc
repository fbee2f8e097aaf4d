#include "agent/guest_boot.h"

#include <gtest/gtest.h>

namespace paddock::agent {
namespace {

TEST(ModuleList, HasAPathAndParametersPerLine) {
  const auto lines = parse_module_list("# comment\n\n/a/virtio.ko\n  /b/x.ko  k=1 l=2 \n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].path, "/a/virtio.ko");
  EXPECT_EQ(lines[0].parameters, "");
  EXPECT_EQ(lines[1].path, "/b/x.ko");
  EXPECT_EQ(lines[1].parameters, "k=1 l=2");
}

}  // namespace
}  // namespace paddock::agent
