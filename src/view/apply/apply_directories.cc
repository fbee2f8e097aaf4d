#include "view/apply/apply_directories.h"

#include <fmt/core.h>

#include <string>
#include <unordered_map>

#include "base/strings.h"
#include "sys/files.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

using model::FileType;

class DirectoryCheck {
 public:
  DirectoryCheck(const Comparison& comparison, const std::vector<Selected>& selected,
                 std::vector<Verdict>& verdicts)
      : comparison_(comparison), selected_(selected), verdicts_(verdicts) {
    for (size_t i = 0; i < comparison.deltas.size(); ++i) index_[comparison.deltas[i].path] = i;
  }

  Status run() {
    const std::vector<Delta>& deltas = comparison_.deltas;
    for (size_t i = deltas.size(); i-- > 0;) {  // below before above
      bool goes = acts(i) && deltas[i].host.is(FileType::directory) &&
                  verdicts_[i].wanted->state.type != FileType::directory;
      if (goes) PD_TRY(check_leaving(i));
    }
    for (size_t i = 0; i < deltas.size(); ++i) {
      if (acts(i) && verdicts_[i].wanted->state.type != FileType::absent) {
        PD_TRY(check_place(i));
      }
    }
    return {};
  }

 private:
  bool acts(size_t i) const {
    return selected_[i] != Selected::no && verdicts_[i].wanted.has_value();
  }

  // A directory can go when everything in it goes.
  Status check_leaving(size_t i) {
    const Delta& delta = comparison_.deltas[i];
    Result<sys::DirFd> dir = open_dir_in(comparison_.stack.host(), delta.path);
    if (!dir.ok()) return {};  // gone meanwhile: the op will see it
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*dir))) {
      std::string path = child_of(delta.path, entry.name);
      auto found = index_.find(path);
      bool goes = found != index_.end() && acts(found->second) &&
                  verdicts_[found->second].wanted->state.type == FileType::absent;
      if (goes) continue;
      stays(i, path, found == index_.end() ? nullptr : &verdicts_[found->second]);
      return {};
    }
    return {};
  }

  void stays(size_t i, const std::string& path, const Verdict* of_entry) {
    Verdict& verdict = verdicts_[i];
    bool held = of_entry != nullptr && of_entry->result == ApplyResult::held;
    if (verdict.wanted->state.type != FileType::absent) {
      verdict = {
          ApplyResult::conflict,
          fmt::format("the host has {} in it, which is not the view's to delete", printable(path)),
          {}};
      return;
    }
    verdict.result = held ? ApplyResult::held : ApplyResult::merged;
    verdict.reason = fmt::format("the directory stays: {} in it does", printable(path));
    verdict.wanted.reset();
  }

  // What is made needs a directory to be in: the host's, or one that is made before it.
  Status check_place(size_t i) {
    std::string parent = parent_of(comparison_.deltas[i].path);
    auto found = index_.find(parent);
    bool made = found != index_.end() && acts(found->second) &&
                verdicts_[found->second].wanted->state.type == FileType::directory;
    if (made || PD_TRY(host_has_directory(parent))) return {};
    verdicts_[i] = {ApplyResult::conflict, "the host has no such directory any more", {}};
    return {};
  }

  Result<bool> host_has_directory(const std::string& path) {
    auto known = directories_.find(path);
    if (known != directories_.end()) return known->second;
    Result<sys::DirFd> dir = open_dir_in(comparison_.stack.host(), path);
    Code code = dir.ok() ? Code::internal : dir.error().code();
    bool missing = code == Code::not_found || code == Code::permission_denied;
    if (!dir.ok() && !missing) return std::move(dir).error();
    return directories_[path] = dir.ok();
  }

  const Comparison& comparison_;
  const std::vector<Selected>& selected_;
  std::vector<Verdict>& verdicts_;
  std::unordered_map<std::string, size_t> index_;
  std::unordered_map<std::string, bool> directories_;
};

}  // namespace

Status settle_directories(const Comparison& comparison, const std::vector<Selected>& selected,
                          std::vector<Verdict>& verdicts) {
  return DirectoryCheck(comparison, selected, verdicts).run();
}

}  // namespace paddock::view
