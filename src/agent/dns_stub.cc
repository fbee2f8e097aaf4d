#include "agent/dns_stub.h"

#include <array>
#include <cstdint>

namespace paddock::agent {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kMaxName = 255;  // on the wire, RFC 1035 2.3.4

constexpr uint16_t kTypeA = 1;
constexpr uint16_t kTypeAaaa = 28;
constexpr uint16_t kClassIn = 1;

enum class Rcode : uint8_t { ok = 0, format_error = 1, no_such_name = 3, not_implemented = 4 };

uint16_t read_u16(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>((static_cast<uint8_t>(bytes[at]) << 8) |
                               static_cast<uint8_t>(bytes[at + 1]));
}

void put_u16(std::string& out, uint16_t value) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value & 0xff));
}

void put_printable(std::string& out, char c) {
  if (c >= 'A' && c <= 'Z') {
    out.push_back(static_cast<char>(c - 'A' + 'a'));
  } else if (c > ' ' && c < 0x7f && c != '\\' && c != '.') {
    out.push_back(c);
  } else {
    const auto byte = static_cast<uint8_t>(c);
    out.push_back('\\');
    for (int unit : {100, 10, 1}) out.push_back(static_cast<char>('0' + byte / unit % 10));
  }
}

struct Question {
  std::string name;  // as in DnsAnswer
  uint16_t type;
  uint16_t kind;  // class
  std::string_view bytes;
};

// The one question after the header. Compression has no place in a query's only name.
std::optional<Question> parse_question(std::string_view query) {
  Question question{};
  size_t at = kHeaderBytes;
  while (true) {
    if (at >= query.size()) return std::nullopt;
    const auto length = static_cast<uint8_t>(query[at++]);
    if (length == 0) break;
    if (length > 63 || at + length > query.size()) return std::nullopt;
    if (at + length - kHeaderBytes >= kMaxName) return std::nullopt;
    if (!question.name.empty()) question.name.push_back('.');
    for (size_t i = 0; i < length; ++i) put_printable(question.name, query[at + i]);
    at += length;
  }
  if (at + 4 > query.size()) return std::nullopt;
  question.type = read_u16(query, at);
  question.kind = read_u16(query, at + 2);
  question.bytes = query.substr(kHeaderBytes, at + 4 - kHeaderBytes);
  return question;
}

// Header of an answer to `query`: recursion available, its own opcode and recursion-desired bit.
std::string begin_answer(std::string_view query, Rcode code, uint16_t questions, uint16_t answers) {
  std::string out(query.substr(0, 2));
  const auto echoed = static_cast<uint8_t>(static_cast<uint8_t>(query[2]) & 0x79);
  out.push_back(static_cast<char>(0x80 | echoed));
  out.push_back(static_cast<char>(0x80 | static_cast<uint8_t>(code)));
  put_u16(out, questions);
  put_u16(out, answers);
  out.append(4, '\0');  // no authority, nothing additional
  return out;
}

bool is_localhost(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");  // RFC 6761 6.3
}

// Loopback's address of the type asked for; empty for any other type.
std::string localhost_data(const Question& question) {
  if (question.kind != kClassIn) return {};
  if (question.type == kTypeA) return {"\x7f\0\0\1", 4};
  if (question.type == kTypeAaaa) return {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16};
  return {};
}

std::string answer_localhost(std::string_view query, const Question& question) {
  const std::string data = localhost_data(question);
  std::string out = begin_answer(query, Rcode::ok, 1, data.empty() ? 0 : 1);
  out.append(question.bytes);
  if (data.empty()) return out;
  put_u16(out, 0xc000 | kHeaderBytes);  // the question's name
  put_u16(out, question.type);
  put_u16(out, question.kind);
  out.append(4, '\0');  // not to be kept
  put_u16(out, static_cast<uint16_t>(data.size()));
  return out.append(data);
}

}  // namespace

std::optional<DnsAnswer> answer_query(std::string_view query) {
  if (query.size() < kHeaderBytes || (static_cast<uint8_t>(query[2]) & 0x80) != 0) {
    return std::nullopt;
  }
  const bool standard = (static_cast<uint8_t>(query[2]) & 0x78) == 0;
  if (!standard) return DnsAnswer{begin_answer(query, Rcode::not_implemented, 0, 0), {}};
  const auto question = read_u16(query, 4) == 1 ? parse_question(query) : std::nullopt;
  if (!question) return DnsAnswer{begin_answer(query, Rcode::format_error, 0, 0), {}};
  if (is_localhost(question->name)) return DnsAnswer{answer_localhost(query, *question), {}};
  std::string message = begin_answer(query, Rcode::no_such_name, 1, 0);
  message.append(question->bytes);
  return DnsAnswer{std::move(message), question->name.empty() ? "." : question->name};
}

}  // namespace paddock::agent
