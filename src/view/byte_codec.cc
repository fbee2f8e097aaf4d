#include "view/byte_codec.h"

#include "sys/digest.h"

namespace paddock::view {
namespace {

constexpr size_t kDigest = 64;  // hex characters

Error corrupt(const char* why) {
  return Error(Code::data_corrupt, why);
}

}  // namespace

void ByteWriter::put_u64(uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
}

void ByteWriter::put_bytes(std::string_view bytes) {
  put_u64(bytes.size());
  bytes_ += bytes;
}

void ByteWriter::put_map(const std::map<std::string, std::string>& map) {
  put_u64(map.size());
  for (const auto& [key, value] : map) {
    put_bytes(key);
    put_bytes(value);
  }
}

Result<uint64_t> ByteReader::get_u64() {
  if (rest_.size() < 8) return corrupt("the record ends in a number");
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(rest_[static_cast<size_t>(i)]);
  }
  rest_.remove_prefix(8);
  return value;
}

Result<int64_t> ByteReader::get_i64() {
  return static_cast<int64_t>(PD_TRY(get_u64()));
}

Result<std::string> ByteReader::get_bytes() {
  uint64_t size = PD_TRY(get_u64());
  if (size > rest_.size()) return corrupt("the record ends in a text");
  std::string bytes(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return bytes;
}

Result<std::map<std::string, std::string>> ByteReader::get_map() {
  uint64_t size = PD_TRY(get_u64());
  std::map<std::string, std::string> map;
  for (uint64_t i = 0; i < size; ++i) {
    std::string key = PD_TRY(get_bytes());
    map.emplace(std::move(key), PD_TRY(get_bytes()));
  }
  return map;
}

Result<uint64_t> ByteReader::get_up_to(uint64_t last) {
  uint64_t value = PD_TRY(get_u64());
  if (value > last) return corrupt("the record holds a value that it cannot have");
  return value;
}

std::string seal_record(std::string_view magic, std::string_view bytes) {
  return std::string(magic) + sys::sha256_hex(bytes) + std::string(bytes);
}

Result<std::string> open_record(std::string_view magic, std::string_view sealed) {
  if (sealed.size() < magic.size() + kDigest || sealed.substr(0, magic.size()) != magic) {
    return corrupt("not a record of this kind, or cut short");
  }
  std::string_view digest = sealed.substr(magic.size(), kDigest);
  std::string_view bytes = sealed.substr(magic.size() + kDigest);
  if (sys::sha256_hex(bytes) != digest) return corrupt("the checksum does not match");
  return std::string(bytes);
}

}  // namespace paddock::view
