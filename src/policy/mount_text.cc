#include "policy/mount_text.h"

#include <fmt/core.h>

#include "base/strings.h"

namespace paddock::policy {
namespace {

Error not_a_path(std::string_view text, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("'{}' {}", printable(text), why));
}

}  // namespace

Result<std::string> parse_host_path(std::string_view text, const PathRules& rules) {
  std::string path(text);
  if (text == "~" || text.substr(0, 2) == "~/") {
    if (rules.home.empty()) return not_a_path(text, "is below a home directory that is not known");
    path = rules.home + std::string(text.substr(1));
  }
  if (path.empty() || path[0] != '/') return not_a_path(text, "is not an absolute path");
  if (path.find('\0') != std::string::npos) return not_a_path(text, "has a zero byte");
  std::string normal;
  for (const std::string& part : split(path, '/')) {
    if (part.empty()) continue;
    if (part == "." || part == "..") return not_a_path(text, "has a '.' or '..' component");
    normal += "/" + part;
  }
  if (!normal.empty()) return normal;
  if (rules.whole_tree == WholeTree::allow) return std::string("/");
  return not_a_path(text, "is the whole file system");
}

Result<model::MountGrant> parse_mount(std::string_view text, const PathRules& rules) {
  std::vector<std::string> parts = split(text, ':');
  model::MountGrant grant;
  if (parts.size() == 3 && (parts[2] == "ro" || parts[2] == "rw")) {
    grant.access = parts[2] == "ro" ? model::Access::read_only : model::Access::read_write;
    parts.pop_back();
  }
  if (parts.size() != 2) return not_a_path(text, "is not of the form SRC:DST[:ro]");
  PathRules inside{.home = {}, .whole_tree = rules.whole_tree};
  grant.source = PD_TRY_CTX("source of the mount", parse_host_path(parts[0], rules));
  grant.target = PD_TRY_CTX("target of the mount", parse_host_path(parts[1], inside));
  return grant;
}

std::string format_mount(const model::MountGrant& grant) {
  std::string_view access = grant.access == model::Access::read_only ? ":ro" : "";
  return fmt::format("{}:{}{}", grant.source, grant.target, access);
}

Result<model::SocketGrant> parse_socket(std::string_view text, const PathRules& rules) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 2) return not_a_path(text, "is not of the form SRC[:DST]");
  model::SocketGrant grant;
  grant.source = PD_TRY_CTX("path of the socket", parse_host_path(parts[0], rules));
  const PathRules inside{.home = {}, .whole_tree = rules.whole_tree};
  grant.target = parts.size() == 1 ? grant.source
                                   : PD_TRY_CTX("path inside", parse_host_path(parts[1], inside));
  return grant;
}

std::string format_socket(const model::SocketGrant& grant) {
  return fmt::format("{}:{}", grant.source, grant.target);
}

bool lies_within(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  if (path.substr(0, directory.size()) != directory) return false;
  return path.size() == directory.size() || path[directory.size()] == '/';
}

bool covers(const model::MountGrant& wide, const model::MountGrant& narrow) {
  return lies_within(narrow.source, wide.source) && lies_within(narrow.target, wide.target) &&
         (wide.access == model::Access::read_write || narrow.access == model::Access::read_only);
}

}  // namespace paddock::policy
