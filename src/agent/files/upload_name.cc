#include "agent/files/upload_name.h"

#include <fmt/core.h>

#include "sys/random.h"

namespace paddock::agent::files {
namespace {

constexpr std::string_view kToNew = ".paddock-new-";
constexpr std::string_view kToPresent = ".paddock-put-";
constexpr size_t kRandomBytes = 8;

bool is_one_of(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() == prefix.size() + 2 * kRandomBytes &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

}  // namespace

std::string make_upload_name(Upload upload) {
  std::string name(upload == Upload::to_new ? kToNew : kToPresent);
  for (unsigned char byte : sys::random_bytes(kRandomBytes)) name += fmt::format("{:02x}", byte);
  return name;
}

Upload upload_of(std::string_view name) {
  if (is_one_of(name, kToNew)) return Upload::to_new;
  return is_one_of(name, kToPresent) ? Upload::to_present : Upload::none;
}

}  // namespace paddock::agent::files
