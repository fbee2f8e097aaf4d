#include "view/host_exec/host_exec_link.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace paddock::view {
namespace {

constexpr std::array<std::string_view, 9> kSystem{
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/dev/null"};

bool is_at_or_below(std::string_view path, std::string_view top) {
  return path.substr(0, top.size()) == top &&
         (path.size() == top.size() || path[top.size()] == '/');
}

bool has_parent_step(const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), "..") != names.end();
}

bool absolute_leads_out(const std::string& target, const model::HostPath& workspace) {
  if (has_parent_step(split(target, '/'))) return true;
  if (is_at_or_below(target, workspace.str())) return false;
  return std::none_of(kSystem.begin(), kSystem.end(),
                      [&](std::string_view top) { return is_at_or_below(target, top); });
}

}  // namespace

bool leads_out(const std::string& path, const std::string& target,
               const model::HostPath& workspace) {
  if (!target.empty() && target[0] == '/') return absolute_leads_out(target, workspace);
  auto depth = std::count(path.begin(), path.end(), '/');
  std::vector<std::string> names = split(target, '/');
  std::erase_if(names, [](const std::string& name) { return name.empty() || name == "."; });
  auto first_name = std::find_if(names.begin(), names.end(),
                                 [](const std::string& name) { return name != ".."; });
  if (first_name - names.begin() > depth) return true;
  return has_parent_step({first_name, names.end()});
}

}  // namespace paddock::view
