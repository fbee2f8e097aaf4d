// DNS questions, byte by byte, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::wire::testing {

struct Question {
  std::string name{};                 // split at dots
  std::vector<std::string> labels{};  // instead of a name
  uint16_t id = 1;
  uint16_t type = 1;
  uint16_t edns_size = 0;  // 0: no EDNS
};

inline std::string dns_question(const Question& question) {
  auto u16 = [](uint16_t value) {
    return std::string{static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  std::string out = u16(question.id) + u16(0x0100) + u16(1) + u16(0) + u16(0) +
                    u16(question.edns_size == 0 ? 0 : 1);
  std::vector<std::string> labels = question.labels;
  for (std::string_view rest = question.name; !rest.empty();) {
    labels.emplace_back(rest.substr(0, rest.find('.')));
    rest.remove_prefix(std::min(rest.size(), labels.back().size() + 1));
  }
  for (const std::string& label : labels) out += static_cast<char>(label.size()) + label;
  out += std::string(1, '\0') + u16(question.type) + u16(1);
  if (question.edns_size != 0) {
    out += std::string(1, '\0') + u16(41) + u16(question.edns_size) + std::string(6, '\0');
  }
  return out;
}

}  // namespace paddock::wire::testing
