#include "api/templates.h"

#include <algorithm>
#include <utility>

namespace paddock::api {
namespace {

constexpr size_t kMaxName = 128;

std::string without_tag(std::string name) {
  if (name.ends_with(kOnlyTag)) name.resize(name.size() - kOnlyTag.size());
  return name;
}

}  // namespace

Result<std::optional<engine::Snapshot>> find_snapshot(const TemplateQuestion& question,
                                                      const std::string& id_or_name) {
  return question.sandboxes.find_snapshot(question.task, without_tag(id_or_name), question.caller);
}

Status find_origin(const TemplateQuestion& question, engine::CreateRequest& wanted) {
  if (engine::is_built_in(wanted.template_name)) return {};
  // The keeper's names come first, whatever snapshots are called.
  if (PD_TRY(question.sandboxes.find_directory(question.task, wanted.template_name))) return {};
  const auto found = PD_TRY(find_snapshot(question, wanted.template_name));
  if (found) wanted.origin = engine::Origin{found->template_name, found->layer};
  return {};
}

Result<std::string> snapshot_name(std::string given) {
  std::string name = without_tag(std::move(given));
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./").find(c) != std::string_view::npos;
  });
  if (!plain || name.size() > kMaxName) {
    return Error(Code::invalid_argument,
                 "'name' must be at most 128 letters, digits, '-', '_', '.' and '/'");
  }
  if (engine::is_built_in(name)) {
    return Error(Code::invalid_argument, "'name' is that of a built-in template");
  }
  return name;
}

}  // namespace paddock::api
