// Fuzz targets that the ordinary tests replay too. PD_FUZZ_TARGET(dns) in dns_fuzz.cc is the entry
// of libFuzzer when it is linked alone. In a library's unit tests all its targets stand side by
// side, and replay_fuzz_seeds() feeds each the files of fuzz_seeds/dns/ and cheap mutations of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::testing {

using FuzzFunction = void (*)(std::string_view bytes);

inline std::map<std::string, FuzzFunction>& fuzz_targets() {
  static std::map<std::string, FuzzFunction> targets;
  return targets;
}

inline std::vector<std::string> fuzz_seeds(const std::filesystem::path& folder) {
  std::vector<std::string> seeds;
  if (!std::filesystem::exists(folder)) return seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

inline std::string mutated(std::string text, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0 && !text.empty(); --changes) {
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 4);
        break;
      case 2:
        text.insert(at, 1 + random() % 4, static_cast<char>(random()));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

// Returns the targets that have fewer than two seeds: they would be tested by nothing.
inline std::vector<std::string> replay_fuzz_seeds(const std::filesystem::path& folder) {
  constexpr int kMutationsPerSeed = 300;
  std::vector<std::string> bare;
  std::mt19937 random(20260101);
  for (const auto& [name, function] : fuzz_targets()) {
    const std::vector<std::string> seeds = fuzz_seeds(folder / name);
    if (seeds.size() < 2) bare.push_back(name);
    for (const std::string& seed : seeds) {
      function(seed);
      for (int i = 0; i < kMutationsPerSeed; ++i) function(mutated(seed, random));
    }
  }
  return bare;
}

// Of a property that every input must keep.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace paddock::testing

// SAFETY: bytes as chars. The entry is weak, so that several targets link into one program.
#define PD_FUZZ_TARGET(name)                                                                      \
  static void fuzz_##name(std::string_view bytes);                                                \
  [[maybe_unused]] static const bool registered_##name =                                          \
      paddock::testing::fuzz_targets().emplace(#name, fuzz_##name).second;                        \
  extern "C" __attribute__((weak)) int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    fuzz_##name(std::string_view(reinterpret_cast<const char*>(data), size));                     \
    return 0;                                                                                     \
  }                                                                                               \
  static void fuzz_##name(std::string_view bytes)
