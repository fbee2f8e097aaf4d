#include "cmd/client/sandbox_choice.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "cmd/client/daemon_client.h"

namespace paddock::cmd {
namespace {

constexpr size_t kShortestPrefix = 4;

}  // namespace

Result<std::string> find_sandbox(const model::HostPath& home, const std::string& name) {
  const boost::json::object answer = PD_TRY(call_daemon(home, "GET", "/paddock/v1/sandboxes"));
  std::vector<std::string> named;
  for (const boost::json::object& sandbox : list_field(answer, "sandboxes")) {
    const std::string id = text_field(sandbox, "id");
    if (id == name) return id;
    if (name.size() >= kShortestPrefix && id.starts_with(name)) named.push_back(id);
  }
  if (named.size() == 1) return named.front();
  if (named.empty()) {
    return Error(Code::not_found, fmt::format("no sandbox '{}'", printable(name)))
        .set_remedy("`paddock ps` lists those that live");
  }
  return Error(Code::conflict, fmt::format("'{}' names {}", printable(name), join(named, " and ")))
      .set_remedy("give more of its id");
}

std::string text_field(const boost::json::object& from, std::string_view name) {
  const auto* value = from.if_contains(name);
  if (value == nullptr || value->is_null()) return "";
  return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
}

uint64_t number_field(const boost::json::object& from, std::string_view name) {
  const auto* value = from.if_contains(name);
  if (value == nullptr) return 0;
  boost::json::error_code error;
  const auto number = value->to_number<uint64_t>(error);
  return error ? 0 : number;
}

std::vector<boost::json::object> list_field(const boost::json::object& from,
                                            std::string_view name) {
  std::vector<boost::json::object> out;
  const auto* value = from.if_contains(name);
  if (value == nullptr || !value->is_array()) return out;
  for (const auto& item : value->get_array()) {
    if (item.is_object()) out.push_back(item.get_object());
  }
  return out;
}

}  // namespace paddock::cmd
