#include "view/byte_codec.h"

#include <gtest/gtest.h>

namespace paddock::view {
namespace {

TEST(ByteCodec, WhatIsWrittenIsRead) {
  ByteWriter writer;
  writer.put_u64(~0ull);
  writer.put_i64(-5);
  writer.put_bytes(std::string("a\0b", 3));
  writer.put_map({{"k", "v"}, {"", "x"}});
  ByteReader reader(writer.bytes());
  EXPECT_EQ(reader.get_u64().value(), ~0ull);
  EXPECT_EQ(reader.get_i64().value(), -5);
  EXPECT_EQ(reader.get_bytes().value(), std::string("a\0b", 3));
  EXPECT_EQ(reader.get_map().value(), (std::map<std::string, std::string>{{"k", "v"}, {"", "x"}}));
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteCodec, EveryCutOfARecordIsCorruptAndNeverRead) {
  ByteWriter writer;
  writer.put_bytes("hello");
  writer.put_map({{"k", "v"}});
  std::string sealed = seal_record("MAGIC\n", writer.bytes());
  EXPECT_EQ(open_record("MAGIC\n", sealed).value(), writer.bytes());
  EXPECT_EQ(open_record("OTHER\n", sealed).error().code(), Code::data_corrupt);
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(open_record("MAGIC\n", sealed.substr(0, size)).ok()) << size;
    ByteReader reader(std::string_view(writer.bytes()).substr(0, size % writer.bytes().size()));
    Result<std::string> text = reader.get_bytes();
    EXPECT_FALSE(text.ok() && reader.get_map().ok()) << size;
  }
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string flipped = sealed;
    flipped[i] ^= 1;
    EXPECT_FALSE(open_record("MAGIC\n", flipped).ok()) << i;
  }
}

TEST(ByteCodec, AValueOutOfRangeIsCorrupt) {
  ByteWriter writer;
  writer.put_u64(4);
  EXPECT_EQ(ByteReader(writer.bytes()).get_up_to(3).error().code(), Code::data_corrupt);
  EXPECT_EQ(ByteReader(writer.bytes()).get_up_to(4).value(), 4u);
}

}  // namespace
}  // namespace paddock::view
