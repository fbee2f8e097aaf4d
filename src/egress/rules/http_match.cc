#include "egress/rules/http_match.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/http/framing.h"
#include "egress/rules/glob.h"
#include "egress/rules/path_forms.h"

namespace paddock::egress {
namespace {

using http::is_token;
using http::lower_case;
using model::TextList;
using model::TextLists;
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

enum class Sense { grant, refuse };

bool any_glob(const TextList& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return text_glob(pattern, text); });
}

// Every value must be accepted, or one, by the sense; none at all never is.
bool values_match(const TextList& patterns, const std::vector<std::string>& values, Sense sense) {
  auto accepted = [&](const std::string& value) {
    if (any_glob(patterns, value)) return true;
    return sense == Sense::refuse && any_glob(patterns, lower_case(value));
  };
  if (values.empty()) return false;
  return sense == Sense::grant ? std::all_of(values.begin(), values.end(), accepted)
                               : std::any_of(values.begin(), values.end(), accepted);
}

bool path_matches(const TextList& patterns, std::string_view raw, Sense sense) {
  auto forms = path_forms(raw);
  if (!forms.ok()) return sense == Sense::refuse;
  auto granted = [&](const std::string& form) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return glob_match(pattern, form); });
  };
  auto refused = [&](const std::string& form) {
    std::string plain = lower_case(form);
    if (plain.size() > 1 && plain.back() == '/') plain.pop_back();
    return granted(form) || granted(plain) ||
           std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
             const std::string low = lower_case(pattern);
             return glob_match(low, plain) || glob_match(low, plain + "/");
           });
  };
  return sense == Sense::grant ? std::all_of(forms->begin(), forms->end(), granted)
                               : std::any_of(forms->begin(), forms->end(), refused);
}

bool method_matches(const TextList& methods, const std::string& method, Sense sense) {
  return std::any_of(methods.begin(), methods.end(), [&](const std::string& wanted) {
    return method == wanted || (sense == Sense::refuse && lower_case(method) == lower_case(wanted));
  });
}

bool query_matches(const TextLists& wanted, const QueryParameters& parameters, Sense sense) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& condition) {
    std::vector<std::string> values;
    for (const auto& [name, value] : parameters) {
      if (name == condition.first) values.push_back(value);
    }
    return values_match(condition.second, values, sense);
  });
}

bool headers_match(const TextLists& wanted, const http::Fields& fields, Sense sense) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& condition) {
    std::vector<std::string> values;
    for (const http::Field& field : fields) {
      if (field.name == condition.first) values.push_back(field.value);
    }
    return values_match(condition.second, values, sense);
  });
}

bool conditions_hold(const model::HttpConditions& conditions, const http::Request& request,
                     Sense sense) {
  if (conditions.methods && !method_matches(*conditions.methods, request.method, sense))
    return false;
  if (conditions.paths && !path_matches(*conditions.paths, request.path(), sense)) return false;
  return query_matches(conditions.query, query_parameters(request.query()), sense) &&
         headers_match(conditions.headers, request.fields, sense);
}

Error refused(std::string_view what, std::string_view text, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("{} '{}' {}", what, printable(text), why));
}

Status check_names(const model::HttpConditions& conditions) {
  for (const std::string& method : conditions.methods.value_or(TextList())) {
    if (!is_token(method)) return refused("method", method, "is no method");
  }
  for (const std::string& path : conditions.paths.value_or(TextList())) {
    if (!path.starts_with('/') && !path.starts_with("**")) {
      return refused("path", path, "does not begin with '/'");
    }
    if (path.find_first_of("?#") != std::string::npos) {
      return refused("path", path, "holds '?' or '#': conditions on the query go under \"query\"");
    }
  }
  return {};
}

constexpr std::string_view kFraming[] = {"host",       "content-length", "transfer-encoding",
                                         "connection", "upgrade",        "te",
                                         "trailer",    "expect"};

Result<TextLists> lower_names(const TextLists& headers) {
  TextLists out;
  for (const auto& [name, values] : headers) {
    std::string low = lower_case(name);
    if (!is_token(name)) return refused("header", name, "is no header name");
    if (std::find(std::begin(kFraming), std::end(kFraming), low) != std::end(kFraming)) {
      return refused("header", name, "frames the message or names the host: the gate checks it");
    }
    out[std::move(low)] = values;
  }
  return out;
}

}  // namespace

QueryParameters query_parameters(std::string_view raw) {
  QueryParameters out;
  if (raw.empty()) return out;
  for (std::string part : split(raw, '&')) {
    std::replace(part.begin(), part.end(), '+', ' ');
    const size_t equals = part.find('=');
    std::string value = equals == std::string::npos ? "" : percent_decoded(part.substr(equals + 1));
    out.emplace_back(percent_decoded(part.substr(0, equals)), std::move(value));
  }
  return out;
}

Result<HttpMatch> HttpMatch::compile(const model::HttpConditions& conditions) {
  PD_TRY(check_names(conditions));
  HttpMatch match;
  match.conditions_ = conditions;
  match.conditions_.headers = PD_TRY(lower_names(conditions.headers));
  return match;
}

bool HttpMatch::grants(const http::Request& request) const {
  return conditions_hold(conditions_, request, Sense::grant);
}

bool HttpMatch::refuses(const http::Request& request) const {
  return conditions_hold(conditions_, request, Sense::refuse);
}

}  // namespace paddock::egress
