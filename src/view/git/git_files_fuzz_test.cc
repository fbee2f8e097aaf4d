#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "sys/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace paddock::view {
namespace {

TEST(GitFilesFuzz, SeedsAndTheirCutsDoNoHarm) {
  int seeds = 0;
  for (const auto& seed :
       std::filesystem::directory_iterator(PADDOCK_SOURCE_DIR "/src/view/fuzz_seeds/git_files")) {
    std::string bytes = sys::read_file(seed.path()).value();
    for (size_t length = bytes.size();; length /= 2) {
      // SAFETY: bytes of the string, within its length.
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), length);
      if (length == 0) break;
    }
    ++seeds;
  }
  EXPECT_GE(seeds, 5);
}

}  // namespace
}  // namespace paddock::view
