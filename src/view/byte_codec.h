// Length-prefixed binary records of the files that views keep: bases and apply journals.
// Little-endian.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::view {

class ByteWriter {
 public:
  void put_u64(uint64_t value);
  void put_i64(int64_t value) { put_u64(static_cast<uint64_t>(value)); }
  void put_bytes(std::string_view bytes);
  void put_map(const std::map<std::string, std::string>& map);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Every read is checked against what is left: data_corrupt.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  Result<uint64_t> get_u64();
  Result<int64_t> get_i64();
  Result<std::string> get_bytes();
  Result<std::map<std::string, std::string>> get_map();
  // One of 0…last, for enums and flags.
  Result<uint64_t> get_up_to(uint64_t last);
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// The bytes with a checksum in front, for a file that is written whole.
std::string seal_record(std::string_view magic, std::string_view bytes);
Result<std::string> open_record(std::string_view magic, std::string_view sealed);

}  // namespace paddock::view
