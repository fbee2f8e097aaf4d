// Replays the seeds of inside_fuzz.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(InsideFuzz, SeedsHoldTheInvariants) {
  int replayed = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PADDOCK_SOURCE_DIR "/src/agent/fuzz_seeds/inside")) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    // SAFETY: chars as bytes.
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++replayed;
  }
  EXPECT_GE(replayed, 5);
}

}  // namespace
