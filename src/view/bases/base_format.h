// The bytes of a base segment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "view/bases/base_store.h"
#include "view/byte_codec.h"

namespace paddock::view {

inline constexpr uint64_t kSegmentPage = 4096;  // header size and alignment of blobs

struct SegmentHeader {
  SegmentRole role = SegmentRole::add;
  uint64_t index_at = 0;
  uint64_t index_size = 0;
  std::string index_digest;
};

std::string encode_header(const SegmentHeader& header);  // at most kSegmentPage bytes
Result<SegmentHeader> decode_header(std::string_view page);

void encode_record(ByteWriter& writer, const std::string& path, const BaseRecord& record);
Result<std::vector<std::pair<std::string, BaseRecord>>> decode_index(std::string_view index);

}  // namespace paddock::view
