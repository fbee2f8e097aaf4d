// The bytes of an apply journal.
#include "view/apply/apply_journal.h"
#include "view/byte_codec.h"

namespace paddock::view {
namespace {

constexpr std::string_view kJournalMagic = "paddock journal 1\n";

void encode(ByteWriter& writer, const Expected& expected) {
  writer.put_u64(static_cast<uint64_t>(expected.type));
  writer.put_u64(expected.ino);
  writer.put_u64(expected.size);
  writer.put_u64(expected.mode);
  writer.put_i64(expected.mtime_ns);
  writer.put_bytes(expected.target);
  writer.put_bytes(expected.digest);
}

Result<Expected> decode_expected(ByteReader& reader) {
  Expected expected;
  constexpr auto kLast = static_cast<uint64_t>(model::FileType::other);
  expected.type = static_cast<model::FileType>(PD_TRY(reader.get_up_to(kLast)));
  expected.ino = PD_TRY(reader.get_u64());
  expected.size = PD_TRY(reader.get_u64());
  expected.mode = static_cast<mode_t>(PD_TRY(reader.get_up_to(07777)));
  expected.mtime_ns = PD_TRY(reader.get_i64());
  expected.target = PD_TRY(reader.get_bytes());
  expected.digest = PD_TRY(reader.get_bytes());
  return expected;
}

void encode(ByteWriter& writer, const DirectoryState& state) {
  writer.put_u64(state.mode);
  writer.put_map(state.xattrs);
}

Result<DirectoryState> decode_directory(ByteReader& reader) {
  DirectoryState state;
  state.mode = static_cast<mode_t>(PD_TRY(reader.get_up_to(07777)));
  state.xattrs = PD_TRY(reader.get_map());
  return state;
}

void encode(ByteWriter& writer, const Op& op) {
  writer.put_u64(static_cast<uint64_t>(op.kind));
  writer.put_bytes(op.path);
  writer.put_u64(op.slot);
  encode(writer, op.expected);
  encode(writer, op.staged);
  encode(writer, op.before);
  encode(writer, op.after);
}

Result<Op> decode_op(ByteReader& reader) {
  Op op;
  constexpr auto kLast = static_cast<uint64_t>(OpKind::exchange);
  op.kind = static_cast<OpKind>(PD_TRY(reader.get_up_to(kLast)));
  op.path = PD_TRY(reader.get_bytes());
  op.slot = PD_TRY(reader.get_u64());
  op.expected = PD_TRY(decode_expected(reader));
  op.staged = PD_TRY(decode_expected(reader));
  op.before = PD_TRY(decode_directory(reader));
  op.after = PD_TRY(decode_directory(reader));
  return op;
}

}  // namespace

std::string encode_journal(const Journal& journal) {
  ByteWriter writer;
  writer.put_bytes(journal.tag);
  writer.put_bytes(journal.host.str());
  writer.put_u64(journal.host_ino);
  writer.put_bytes(journal.stage.str());
  writer.put_bytes(journal.bases.str());
  writer.put_bytes(journal.rebase);
  for (const Op& op : journal.ops) encode(writer, op);
  return seal_record(kJournalMagic, writer.bytes());
}

Result<Journal> decode_journal(const std::string& sealed) {
  std::string bytes = PD_TRY(open_record(kJournalMagic, sealed));
  ByteReader reader(bytes);
  Journal journal;
  journal.tag = PD_TRY(reader.get_bytes());
  journal.host = model::HostPath(PD_TRY(reader.get_bytes()));
  journal.host_ino = PD_TRY(reader.get_u64());
  journal.stage = model::HostPath(PD_TRY(reader.get_bytes()));
  journal.bases = model::HostPath(PD_TRY(reader.get_bytes()));
  journal.rebase = PD_TRY(reader.get_bytes());
  while (!reader.at_end()) journal.ops.push_back(PD_TRY(decode_op(reader)));
  return journal;
}

}  // namespace paddock::view
