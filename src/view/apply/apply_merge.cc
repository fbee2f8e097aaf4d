#include "view/apply/apply_merge.h"

#include <fcntl.h>

#include <set>

#include "sys/files.h"
#include "view/changes/change_lines.h"
#include "view/git/git_run.h"

namespace paddock::view {
namespace {

constexpr int kMostConflicts = 127;  // git merge-file exits with their number, more means failure

Status write_new(const model::HostPath& path, const std::string& bytes) {
  sys::FileFd fd =
      PD_TRY(sys::open_file(path.str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  return sys::write_all(fd, bytes);
}

std::optional<std::string> value_in(const Attributes& attributes, const std::string& name) {
  auto found = attributes.find(name);
  if (found == attributes.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Result<std::optional<std::string>> TextMerger::merge(const MergeInput& input) {
  if (is_binary(input.base) || is_binary(input.host) || is_binary(input.view)) {
    return std::optional<std::string>();
  }
  PD_TRY(sys::make_dirs(scratch_.str(), 0700));
  PD_TRY(write_new(scratch_ / "host", input.host));
  PD_TRY(write_new(scratch_ / "base", input.base));
  PD_TRY(write_new(scratch_ / "view", input.view));
  GitCall call;
  call.args = {"merge-file", "-p", "-q", "host", "base", "view"};
  call.directory = scratch_;
  Result<sys::CommandResult> merged = run_git(std::move(call));
  PD_TRY(sys::remove_tree(scratch_.str()));
  if (!merged.ok()) {
    if (merged.error().code() == Code::unsupported) return std::optional<std::string>();
    return std::move(merged).error();
  }
  if (merged->exit_code == 0) return std::optional<std::string>(std::move(merged->out));
  if (merged->exit_code <= kMostConflicts) return std::optional<std::string>();
  return Error(Code::internal, "git merge-file failed: " + merged->err);
}

std::optional<mode_t> merge_modes(mode_t base, mode_t host, mode_t view) {
  if (host == base || host == view) return view;
  if (view == base) return host;
  return std::nullopt;
}

std::optional<Attributes> merge_attributes(const Attributes& base, const Attributes& host,
                                           const Attributes& view) {
  std::set<std::string> names;
  for (const Attributes* side : {&base, &host, &view}) {
    for (const auto& [name, value] : *side) names.insert(name);
  }
  Attributes merged;
  for (const std::string& name : names) {
    auto in_base = value_in(base, name), in_host = value_in(host, name);
    auto in_view = value_in(view, name);
    bool host_decides = in_view == in_base;
    if (!host_decides && in_host != in_base && in_host != in_view) return std::nullopt;
    const auto& value = host_decides ? in_host : in_view;
    if (value) merged[name] = *value;
  }
  return merged;
}

}  // namespace paddock::view
