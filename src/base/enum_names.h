// One table per enum gives its printed name and its parser.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

template <typename E>
struct EnumName {
  E value;
  std::string_view name;
};

template <typename E, size_t N>
using EnumNames = std::array<EnumName<E>, N>;

template <typename E, size_t N>
constexpr std::string_view name_of(const EnumNames<E, N>& names, E value) {
  for (const auto& row : names) {
    if (row.value == value) return row.name;
  }
  return "?";
}

template <typename E, size_t N>
constexpr std::optional<E> value_of(const EnumNames<E, N>& names, std::string_view name) {
  for (const auto& row : names) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

// "a, b or c", for error messages.
template <typename E, size_t N>
std::string list_names(const EnumNames<E, N>& names) {
  std::string out;
  for (size_t i = 0; i < N; ++i) {
    if (i > 0) out += i + 1 == N ? " or " : ", ";
    out += names[i].name;
  }
  return out;
}

}  // namespace paddock
