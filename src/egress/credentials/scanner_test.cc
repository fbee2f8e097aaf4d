#include "egress/credentials/scanner.h"

#include <gtest/gtest.h>

#include <random>

#include "base/base64.h"
#include "egress/testing/samples.h"

namespace paddock::egress {
namespace {

const std::string kOther = "sk-ant-AbC/dEf+0123456789";

std::shared_ptr<const PatternSet> patterns() {
  static const auto set = std::make_shared<PatternSet>(std::vector<std::string>{kToken, kOther});
  return set;
}

std::string url_escaped(const std::string& text, size_t every) {
  std::string out;
  char escape[4];
  for (size_t i = 0; i < text.size(); ++i) {
    std::snprintf(escape, sizeof escape, i % 2 == 0 ? "%%%02X" : "%%%02x", text[i]);
    out += i % every == 0 ? escape : std::string(1, text[i]);
  }
  return out;
}
std::string json_escaped(const std::string& text, size_t every) {
  std::string out;
  char escape[8];
  for (size_t i = 0; i < text.size(); ++i) {
    std::snprintf(escape, sizeof escape, "\\u%04x", text[i]);
    out += text[i] == '/' ? "\\/" : i % every == 0 ? escape : std::string(1, text[i]);
  }
  return out;
}
std::string wrapped(const std::string& text, size_t width) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += width) out += text.substr(i, width) + "\r\n";
  return out;
}

// Every way in which a program may write the text.
std::vector<std::string> spellings(const std::string& text) {
  std::vector<std::string> out{text};
  for (size_t every : {1u, 2u, 5u}) {
    out.push_back(url_escaped(text, every));
    out.push_back(json_escaped(text, every));
  }
  for (const char* front : {"", "a", "ab", "user:"}) {
    const std::string encoded = base64_encode(std::string(front) + text + "tail");
    out.push_back(encoded);
    out.push_back(wrapped(encoded, 20));
    out.push_back(url_escaped(encoded, 3));
  }
  return out;
}

// Fed in pieces of at most `step` bytes.
struct Fed {
  std::optional<size_t> found;
  std::string passed;
};
Fed feed(Scanner scanner, const std::string& stream, size_t step) {
  Fed out;
  for (size_t at = 0; at < stream.size(); at += step) {
    const auto found = scanner.feed(std::string_view(stream).substr(at, step), out.passed);
    if (found) out.found = found;
  }
  scanner.finish(out.passed);
  return out;
}

TEST(Scanner, EverySpellingIsFoundHoweverTheStreamIsCut) {
  for (const std::string& text : {kToken, kOther}) {
    for (const std::string& spelling : spellings(text)) {
      const std::string stream = "before % \\ %4 \\u00 " + spelling + " after";
      for (size_t step : {1u, 2u, 3u, 7u, 16u, 4096u}) {
        const Fed fed = feed(Scanner(patterns(), OnFound::stop), stream, step);
        ASSERT_EQ(fed.found, text == kToken ? 0u : 1u) << spelling << " by " << step;
        // At most the bytes that other forms of base64 share may be passed of it.
        EXPECT_TRUE(stream.starts_with(fed.passed));
        EXPECT_LE(fed.passed.size(), stream.find(spelling) + 24) << spelling;
      }
    }
  }
}

TEST(Scanner, OtherStreamsPassWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string stream;
    while (stream.size() < 3000) {
      switch (random() % 6) {
        case 0:
          stream += kToken.substr(0, random() % kToken.size());
          break;
        case 1:
          stream += url_escaped(kOther.substr(0, random() % kOther.size()), 2);
          break;
        case 2:
          stream += json_escaped(kOther.substr(0, random() % kOther.size()), 1 + random() % 4);
          break;
        case 3:
          stream += "%\\\r\n%4\\u00";
          break;
        default:
          stream += static_cast<char>(0x80 | random());
      }
    }
    const Fed fed = feed(Scanner(patterns(), OnFound::stop), stream, 1 + random() % 300);
    ASSERT_EQ(fed.passed, stream);
    ASSERT_FALSE(fed.found.has_value());
  }
}

TEST(Scanner, MaskingKeepsTheLengthAndTheRest) {
  for (const std::string& spelling : spellings(kToken)) {
    const std::string stream = R"({"token": ")" + spelling + R"(", "x": 1}))";
    for (size_t step : {1u, 5u, 4096u}) {
      const Fed fed = feed(Scanner(patterns(), OnFound::mask), stream + stream, step);
      ASSERT_EQ(fed.passed.size(), 2 * stream.size());
      EXPECT_EQ(fed.found, 0u);
      EXPECT_FALSE(Scanner::find(patterns(), fed.passed).has_value()) << fed.passed << step;
      EXPECT_TRUE(fed.passed.starts_with(R"({"token": ")"));
      EXPECT_TRUE(fed.passed.ends_with(R"(", "x": 1}))"));
    }
  }
  EXPECT_EQ(Scanner::mask(patterns(), "a " + kToken + " b"), "a " + std::string(40, '*') + " b");
}

TEST(Scanner, OnlyABeginningIsHeldBack) {
  Scanner scanner(patterns(), OnFound::stop);
  std::string out;
  scanner.feed("data: tick\n", out);
  EXPECT_EQ(out, "data: tick\n");
  scanner.feed("x ghp_16C7", out);
  EXPECT_EQ(out, "data: tick\nx ");
  scanner.feed("!", out);
  EXPECT_EQ(out, "data: tick\nx ghp_16C7!");
}

TEST(Scanner, AFewBytesThatMayBeginATextAreNotHeldBack) {
  Scanner scanner(patterns(), OnFound::mask);
  std::string out;
  for (const char* end : {"to be answered: g", "gh", "ghp", "100%", "\\", "sk-"}) {
    out.clear();
    scanner.feed(end, out);
    EXPECT_EQ(out, end);
  }
  scanner.feed(kToken, out);
  EXPECT_FALSE(Scanner::find(patterns(), out).has_value());
}

TEST(Scanner, LineBreaksAreNotHeldForEver) {
  Scanner scanner(patterns(), OnFound::stop);
  std::string out;
  scanner.feed("ghp_16", out);
  for (int i = 0; i < 100; ++i) scanner.feed(std::string(100, '\n'), out);
  EXPECT_GT(out.size(), 9900u);
}

TEST(Scanner, ShortTextsAreLeftOut) {
  const auto set = std::make_shared<PatternSet>(std::vector<std::string>{"short", ""});
  EXPECT_TRUE(set->empty());
  EXPECT_FALSE(Scanner::find(set, "short").has_value());
}

TEST(Scanner, ATextInsideAnotherIsFound) {
  const auto set = std::make_shared<PatternSet>(
      std::vector<std::string>{"abcdefghijklmnop-long", "efghijklmnop"});
  EXPECT_EQ(Scanner::find(set, "xx abcdefghijklmnop"), 1u);
  EXPECT_EQ(Scanner::mask(set, "abcdefghijklmnop-long"), std::string(21, '*'));
}

}  // namespace
}  // namespace paddock::egress
