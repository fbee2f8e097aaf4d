#include "egress/names/host_pattern.h"

#include <fmt/core.h>
#include <libpsl.h>

#include "base/strings.h"

namespace paddock::egress {
namespace {

Error refused_pattern(std::string_view text, std::string why, std::string remedy) {
  return Error(Code::invalid_argument, fmt::format("host pattern '{}': {}", printable(text), why))
      .set_remedy(std::move(remedy));
}

// The list is compiled into libpsl: no file is read, no lock taken.
bool is_suffix(const HostName& name, int kind) {
  return psl_is_public_suffix2(psl_builtin(), name.str().c_str(), kind) != 0;
}

Status check_wildcard_base(std::string_view text, const HostName& base, SharedSuffix shared) {
  if (shared == SharedSuffix::anything) return {};
  // The list's default rule makes every single label a suffix, known or not.
  if (is_suffix(base, PSL_TYPE_ICANN)) {
    return refused_pattern(text, "anybody can register names there",
                           "name the host, or \"*.its.domain\"");
  }
  if (shared == SharedSuffix::refused && is_suffix(base, PSL_TYPE_ANY)) {
    return refused_pattern(
        text, fmt::format("strangers own names below {}", base.str()),
        "name the host, or set shared_suffix = true in this rule to mean all of them");
  }
  return {};
}

}  // namespace

Result<HostPattern> HostPattern::parse(std::string_view text, SharedSuffix shared) {
  if (text.find_first_not_of("*.") == std::string_view::npos && !text.empty()) {
    return refused_pattern(text, "names every host there is",
                           "list the hosts; for the whole public internet use the preset \"open\"");
  }
  const bool wildcard = text.starts_with("*.");
  const std::string_view rest = wildcard ? text.substr(2) : text;
  if (rest.find('*') != std::string_view::npos) {
    return refused_pattern(text, "'*' stands only for whole labels in front",
                           "write \"*.example.com\"");
  }
  if (model::Cidr::parse(rest).ok() || parse_host(rest).ok() != HostName::parse(rest).ok()) {
    return refused_pattern(text, "is an address", "list it under \"addresses\"");
  }
  HostName base =
      PD_TRY_CTX(fmt::format("host pattern '{}'", printable(text)), HostName::parse(rest));
  if (wildcard) PD_TRY(check_wildcard_base(text, base, shared));
  return HostPattern(std::move(base), wildcard);
}

bool HostPattern::matches(const HostName& name) const {
  if (!wildcard_) return name == base_;
  return name != base_ && name.is_below(base_);
}

}  // namespace paddock::egress
