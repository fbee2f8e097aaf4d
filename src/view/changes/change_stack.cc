#include "view/changes/change_stack.h"

#include <fcntl.h>

#include "sys/files.h"

namespace paddock::view {

Result<OpenStack> OpenStack::open(const LayerStack& stack) {
  OpenStack opened;
  opened.access_ = PD_TRY(LayerAccess::open(stack.layers));
  for (const model::HostPath& layer : stack.layers) {
    opened.layers_.push_back(PD_TRY_CTX("opening a layer", sys::open_dir(layer.str())));
  }
  opened.host_ = PD_TRY_CTX("opening the host tree", sys::open_dir(stack.host.str()));
  opened.hidden_.insert(stack.hidden.begin(), stack.hidden.end());
  return opened;
}

std::optional<std::string> OpenStack::hidden_root(const std::string& path) const {
  if (hidden_.empty()) return std::nullopt;
  for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    if (hidden_.count(path.substr(0, end)) > 0) return path.substr(0, end);
  }
  if (hidden_.count(path) > 0) return path;
  return std::nullopt;
}

bool OpenStack::hides_below(const std::string& path) const {
  auto next = hidden_.lower_bound(path + "/");
  return next != hidden_.end() && is_at_or_below(*next, path);
}

Result<sys::DirFd> open_dir_in(const sys::DirFd& root, const std::string& path) {
  return sys::open_dir_at(root, path.empty() ? "." : path);
}

std::string parent_of(const std::string& path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string child_of(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

bool is_at_or_below(const std::string& path, const std::string& top) {
  if (top.empty()) return true;
  return path.compare(0, top.size(), top) == 0 &&
         (path.size() == top.size() || path[top.size()] == '/');
}

}  // namespace paddock::view
