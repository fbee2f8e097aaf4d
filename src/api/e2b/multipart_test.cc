#include "api/e2b/multipart.h"

#include <gtest/gtest.h>

namespace paddock::api::e2b {
namespace {

struct Part {
  std::string name, file_name, data;
  bool ended = false;
};

Result<std::vector<Part>> parts_of(const std::string& body, size_t step = 1000) {
  MultipartParser parser("B");
  std::vector<Part> parts;
  for (size_t at = 0; at < body.size(); at += step) {
    for (PartEvent& event : PD_TRY(parser.feed(body.substr(at, step)))) {
      if (auto* begin = std::get_if<PartBegin>(&event)) {
        parts.push_back({begin->name, begin->file_name, ""});
      } else if (auto* data = std::get_if<PartData>(&event)) {
        parts.back().data += data->bytes;
      } else {
        parts.back().ended = true;
      }
    }
  }
  if (!parser.is_done()) return Error(Code::invalid_argument, "cut short");
  return parts;
}

std::string part(const std::string& disposition, const std::string& data) {
  return "--B\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + data + "\r\n";
}

TEST(Multipart, TakesPartsHoweverTheyAreCut) {
  const std::string body = part("name=\"file\"; filename=\"dir/b.txt\"", "a\r\n--C\r\n--") +
                           part("name=\"file\"; filename=\"empty\"", "") + "--B--\r\n";
  for (size_t step : {1, 2, 3, 7, 1000}) {
    auto parts = parts_of(body, step);
    ASSERT_TRUE(parts.ok()) << step << ": " << parts.error().describe();
    ASSERT_EQ(parts->size(), 2u);
    EXPECT_EQ((*parts)[0].file_name, "dir/b.txt");
    EXPECT_EQ((*parts)[0].data, "a\r\n--C\r\n--");
    EXPECT_EQ((*parts)[1].data, "");
    EXPECT_TRUE((*parts)[1].ended);
  }
}

TEST(Multipart, ReadsNamesAsBrowsersWriteThem) {
  auto parts = parts_of(part(R"(name="a\"b"; filename="x%22;y.txt")", "") + part("name=file", "1") +
                        "--B--");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ((*parts)[0].name, "a\"b");
  EXPECT_EQ((*parts)[0].file_name, "x\";y.txt");
  EXPECT_EQ((*parts)[1].name, "file");
  EXPECT_EQ((*parts)[1].file_name, "");
}

TEST(Multipart, RefusesWhatIsCutShortOrNoMultipart) {
  EXPECT_FALSE(parts_of(part("name=file", "data")).ok());
  EXPECT_FALSE(parts_of("--B\r\nX: 1\r\n\r\ndata\r\n--B--").ok());
  EXPECT_FALSE(parts_of("--Bad\r\n").ok());
  EXPECT_FALSE(parts_of(std::string(MultipartParser::kMaxHeaders + 10, 'x')).ok());
  EXPECT_FALSE(parts_of("--B\r\nX: " + std::string(MultipartParser::kMaxHeaders, 'x')).ok());
}

TEST(Multipart, FindsTheBoundaryOfAContentType) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=----x-1").value(), "----x-1");
  EXPECT_EQ(boundary_of("multipart/form-data; charset=utf-8; Boundary=\"a b\"").value(), "a b");
  EXPECT_FALSE(boundary_of("multipart/form-data").ok());
  EXPECT_FALSE(boundary_of("multipart/form-data; boundary=" + std::string(71, 'x')).ok());
}

}  // namespace
}  // namespace paddock::api::e2b
