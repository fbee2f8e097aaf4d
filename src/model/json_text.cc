#include <fmt/core.h>

#include <array>
#include <boost/json.hpp>

#include "base/base64.h"
#include "base/strings.h"
#include "model/json.h"

namespace paddock::model {
namespace {

constexpr std::string_view kSuffix = "_base64";

// What a terminal or a reviewer's eye takes as a command although JSON allows it unescaped.
struct Escape {
  std::string_view first;  // UTF-8 of the range's ends, equal but for the last byte
  std::string_view last;
  unsigned code_point;  // of `first`
};
constexpr std::array kEscapes{
    Escape{"\x7f", "\x7f", 0x7f},                    // DEL
    Escape{"\xc2\x80", "\xc2\x9f", 0x80},            // C1 controls
    Escape{"\xe2\x80\xa8", "\xe2\x80\xae", 0x2028},  // separators, bidirectional overrides
    Escape{"\xe2\x81\xa6", "\xe2\x81\xa9", 0x2066},  // bidirectional isolates
};

const Escape* find_escape(std::string_view text) {
  for (const Escape& row : kEscapes) {
    std::string_view here = text.substr(0, row.first.size());
    if (here >= row.first && here <= row.last) return &row;
  }
  return nullptr;
}

// Such characters occur in JSON text inside strings only, so a \u escape is the same value.
std::string escaped_for_terminals(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Escape* row =
        static_cast<unsigned char>(text[i]) < 0x7f ? nullptr : find_escape(text.substr(i));
    if (row == nullptr) {
      out += text[i++];
      continue;
    }
    size_t length = row->first.size();
    unsigned offset = static_cast<unsigned char>(text[i + length - 1]) -
                      static_cast<unsigned char>(row->first.back());
    out += fmt::format("\\u{:04x}", row->code_point + offset);
    i += length;
  }
  return out;
}

void append_pretty(const boost::json::value& value, size_t indent, std::string& out);

template <typename Container, typename Item>
void append_items(const Container& items, size_t indent, std::string& out, const Item& item) {
  bool first = true;
  for (const auto& entry : items) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 2, ' ');
    item(entry);
  }
  out += '\n';
  out.append(indent, ' ');
}

void append_pretty(const boost::json::value& value, size_t indent, std::string& out) {
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    out += '{';
    append_items(*object, indent, out, [&](const boost::json::key_value_pair& entry) {
      out += boost::json::serialize(entry.key()) + ": ";
      append_pretty(entry.value(), indent + 2, out);
    });
    out += '}';
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    out += '[';
    append_items(*array, indent, out,
                 [&](const boost::json::value& entry) { append_pretty(entry, indent + 2, out); });
    out += ']';
  } else {
    out += boost::json::serialize(value);
  }
}

Error corrupt_text(std::string_view field, std::string_view expected) {
  return Error(Code::data_corrupt, fmt::format("field '{}' is not {}", printable(field), expected));
}

std::string base64_name(std::string_view field) {
  return std::string(field) + std::string(kSuffix);
}

}  // namespace

Result<boost::json::value> parse_json(std::string_view text) {
  boost::json::error_code error;
  boost::json::parser parser;
  size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && trim(text.substr(used)).empty()) return parser.release();
  return Error(Code::data_corrupt, fmt::format("not JSON at byte {}: {}", used,
                                               error ? error.message() : "more text follows"));
}

std::string json_text(const boost::json::value& value) {
  return escaped_for_terminals(boost::json::serialize(value));
}

std::string pretty_json(const boost::json::value& value) {
  std::string out;
  append_pretty(value, 0, out);
  return escaped_for_terminals(out) + "\n";
}

void put_bytes(boost::json::object& object, std::string_view field, std::string_view bytes) {
  if (is_valid_utf8(bytes)) {
    object[field] = bytes;
    return;
  }
  object[field] = printable(bytes);
  object[base64_name(field)] = base64_encode(bytes);
}

void put_bytes(boost::json::object& object, std::string_view field,
               const std::vector<std::string>& list) {
  boost::json::array texts;
  boost::json::array exact;
  bool all_text = true;
  for (const std::string& bytes : list) {
    bool text = is_valid_utf8(bytes);
    all_text = all_text && text;
    texts.emplace_back(text ? bytes : printable(bytes));
    exact.emplace_back(text ? boost::json::value(nullptr)
                            : boost::json::value(boost::json::string(base64_encode(bytes))));
  }
  object[field] = std::move(texts);
  if (!all_text) object[base64_name(field)] = std::move(exact);
}

Result<std::string> get_bytes(const boost::json::object& object, std::string_view field) {
  const boost::json::value* exact = object.if_contains(base64_name(field));
  const boost::json::value* found = exact != nullptr ? exact : object.if_contains(field);
  if (found == nullptr) return std::string();
  const boost::json::string* text = found->if_string();
  if (text == nullptr) return corrupt_text(field, "text");
  if (exact == nullptr) return std::string(*text);
  auto bytes = base64_decode(*text);
  if (!bytes.ok()) return corrupt_text(base64_name(field), "base64");
  return bytes;
}

Result<std::vector<std::string>> get_bytes_list(const boost::json::object& object,
                                                std::string_view field) {
  std::vector<std::string> list;
  const boost::json::value* found = object.if_contains(field);
  if (found == nullptr) return list;
  const boost::json::array* texts = found->if_array();
  if (texts == nullptr) return corrupt_text(field, "a list");
  const boost::json::value* sibling = object.if_contains(base64_name(field));
  const boost::json::array* exact = sibling == nullptr ? nullptr : sibling->if_array();
  if (sibling != nullptr && (exact == nullptr || exact->size() != texts->size())) {
    return corrupt_text(base64_name(field), "a list as long as the one beside it");
  }
  for (size_t i = 0; i < texts->size(); ++i) {
    boost::json::object entry{{"entry", (*texts)[i]}};
    if (exact != nullptr && !(*exact)[i].is_null()) entry["entry_base64"] = (*exact)[i];
    list.push_back(PD_TRY_CTX("in list '" + printable(field) + "'", get_bytes(entry, "entry")));
  }
  return list;
}

}  // namespace paddock::model
