#include "view/bases/base_format.h"

#include "sys/digest.h"

namespace paddock::view {
namespace {

constexpr std::string_view kBasesMagic = "paddock bases 1\n";

void encode_object(ByteWriter& writer, const Object& object) {
  const model::FileState& state = object.state;
  writer.put_u64(static_cast<uint64_t>(state.type));
  if (!object.exists()) return;
  writer.put_u64(state.mode);
  writer.put_u64(state.size);
  writer.put_bytes(state.digest);
  writer.put_bytes(state.target);
  writer.put_map(state.xattrs);
  writer.put_u64(object.ino);
  writer.put_i64(object.mtime_ns);
  writer.put_i64(object.ctime_ns);
}

Result<Object> decode_object(ByteReader& reader) {
  Object object;
  model::FileState& state = object.state;
  constexpr auto kLast = static_cast<uint64_t>(model::FileType::other);
  state.type = static_cast<model::FileType>(PD_TRY(reader.get_up_to(kLast)));
  if (!object.exists()) return object;
  state.mode = static_cast<mode_t>(PD_TRY(reader.get_up_to(07777)));
  state.size = PD_TRY(reader.get_u64());
  state.digest = PD_TRY(reader.get_bytes());
  state.target = PD_TRY(reader.get_bytes());
  state.xattrs = PD_TRY(reader.get_map());
  object.ino = PD_TRY(reader.get_u64());
  object.mtime_ns = PD_TRY(reader.get_i64());
  object.ctime_ns = PD_TRY(reader.get_i64());
  return object;
}

Result<std::pair<std::string, BaseRecord>> decode_record(ByteReader& reader) {
  std::string path = PD_TRY(reader.get_bytes());
  BaseRecord record;
  record.kind = static_cast<BaseKind>(PD_TRY(reader.get_up_to(1)));
  record.children = static_cast<BaseChildren>(PD_TRY(reader.get_up_to(1)));
  record.object = PD_TRY(decode_object(reader));
  if (PD_TRY(reader.get_up_to(1)) == 1) record.blob_at = PD_TRY(reader.get_u64());
  return std::pair(std::move(path), std::move(record));
}

}  // namespace

std::string encode_header(const SegmentHeader& header) {
  ByteWriter writer;
  writer.put_u64(static_cast<uint64_t>(header.role));
  writer.put_u64(header.index_at);
  writer.put_u64(header.index_size);
  writer.put_bytes(header.index_digest);
  ByteWriter framed;
  framed.put_bytes(seal_record(kBasesMagic, writer.bytes()));
  return framed.bytes();
}

Result<SegmentHeader> decode_header(std::string_view page) {
  std::string sealed = PD_TRY(ByteReader(page).get_bytes());
  std::string bytes = PD_TRY(open_record(kBasesMagic, sealed));
  ByteReader reader(bytes);
  SegmentHeader header;
  header.role = static_cast<SegmentRole>(PD_TRY(reader.get_up_to(1)));
  header.index_at = PD_TRY(reader.get_u64());
  header.index_size = PD_TRY(reader.get_u64());
  header.index_digest = PD_TRY(reader.get_bytes());
  return header;
}

void encode_record(ByteWriter& writer, const std::string& path, const BaseRecord& record) {
  writer.put_bytes(path);
  writer.put_u64(static_cast<uint64_t>(record.kind));
  writer.put_u64(static_cast<uint64_t>(record.children));
  encode_object(writer, record.object);
  writer.put_u64(record.blob_at.has_value() ? 1 : 0);
  if (record.blob_at) writer.put_u64(*record.blob_at);
}

Result<std::vector<std::pair<std::string, BaseRecord>>> decode_index(std::string_view index) {
  std::vector<std::pair<std::string, BaseRecord>> records;
  for (ByteReader reader(index); !reader.at_end();) {
    records.push_back(PD_TRY(decode_record(reader)));
  }
  return records;
}

}  // namespace paddock::view
