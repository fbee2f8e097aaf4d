#include "engine/live/template_settings.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/base64.h"
#include "model/json.h"

namespace paddock::engine {
namespace {

namespace json = boost::json;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Error corrupt_settings() {
  return Error(Code::data_corrupt, "what a template says of its sandboxes is not what was written");
}

Result<std::string> text_of_bytes(const json::object& object, const char* field) {
  const auto* value = object.if_contains(field);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return corrupt_settings();
  return base64_decode(value->get_string());
}

}  // namespace

// In base64: values may be no text.
std::string encode(const TemplateSettings& settings) {
  if (settings == TemplateSettings()) return "";
  json::object out, environment;
  for (const auto& [name, value] : settings.environment) environment[name] = base64_encode(value);
  out["environment"] = std::move(environment);
  for (const auto& [field, value] : {std::pair{"directory", &settings.directory},
                                     {"user", &settings.user},
                                     {"start", &settings.start_command},
                                     {"ready", &settings.ready_command}}) {
    if (!value->empty()) out[field] = base64_encode(*value);
  }
  return model::json_text(out);
}

Result<TemplateSettings> decode_template_settings(const std::string& text) {
  TemplateSettings settings;
  if (text.empty()) return settings;
  const json::value value = PD_TRY(model::parse_json(text));
  const auto* object = value.if_object();
  const auto* environment = object == nullptr ? nullptr : object->if_contains("environment");
  if (environment == nullptr || !environment->is_object()) return corrupt_settings();
  for (const auto& [name, encoded] : environment->get_object()) {
    if (!encoded.is_string()) return corrupt_settings();
    settings.environment.emplace(name, PD_TRY(base64_decode(encoded.get_string())));
  }
  settings.directory = PD_TRY(text_of_bytes(*object, "directory"));
  settings.user = PD_TRY(text_of_bytes(*object, "user"));
  settings.start_command = PD_TRY(text_of_bytes(*object, "start"));
  settings.ready_command = PD_TRY(text_of_bytes(*object, "ready"));
  return settings;
}

std::string expand_variables(std::string_view text,
                             const std::map<std::string, std::string>& environment) {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar);
    const bool braced = text.size() > 1 && text[1] == '{';
    const size_t begin = braced ? 2 : 1;
    size_t end = begin;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    const bool is_name = end > begin && !(text[begin] >= '0' && text[begin] <= '9');
    if (!is_name || !closed) {
      out += '$';
      text.remove_prefix(1);
      continue;
    }
    const auto found = environment.find(std::string(text.substr(begin, end - begin)));
    if (found != environment.end()) out += found->second;
    text.remove_prefix(braced ? end + 1 : end);
  }
  return out;
}

}  // namespace paddock::engine
