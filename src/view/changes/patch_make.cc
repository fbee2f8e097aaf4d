#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/strings.h"
#include "sys/files.h"
#include "view/apply/apply_select.h"
#include "view/changes.h"
#include "view/changes/change_compare.h"
#include "view/changes/patch_headers.h"
#include "view/changes/patch_stream.h"
#include "view/git/git_run.h"
#include "view/git/git_scratch.h"

namespace paddock::view {
namespace {

using ImportEntry = FastImportStream::Entry;
using model::FileType;

constexpr uint64_t kMaxPatchedFile = 256u << 20;
constexpr uint64_t kMaxTotal = 2048ull << 20;
constexpr size_t kMaxPatch = 1u << 30;

ImportEntry entry_of(const model::FileState& state) {
  if (state.type == FileType::symlink) return ImportEntry::symlink;
  return (state.mode & 0100) != 0 ? ImportEntry::executable : ImportEntry::file;
}

bool is_for_git(const Object& object) {
  return object.is(FileType::regular) || object.is(FileType::symlink);
}

class PatchMaker {
 public:
  PatchMaker(const Comparison& comparison, const std::vector<Selected>& selected)
      : comparison_(comparison), selected_(selected) {}

  Status write_trees(FastImportStream& stream) {
    PD_TRY(stream.begin_tree("before"));
    PD_TRY(each([&](const Delta& delta) { return add_before(stream, delta); }));
    PD_TRY(stream.begin_tree("after"));
    PD_TRY(each([&](const Delta& delta) { return add_after(stream, delta); }));
    return stream.end();
  }

  // Lines that git passes over: none can look like the begin of a diff.
  std::string preamble() const {
    std::string lines;
    for (size_t i = 0; i < selected_.size(); ++i) {
      const Delta& delta = comparison_.deltas[i];
      if (selected_[i] != Selected::yes || delta.hold == Hold::none) continue;
      lines += fmt::format("# paddock apply holds back {}: {}\n", printable(delta.path),
                           printable(delta.held_reason));
    }
    return lines;
  }

  // git apply does not see that a renamed link makes room for a directory of its name.
  const char* renames() const {
    for (const Delta& delta : comparison_.deltas) {
      bool makes_room = delta.before.is(FileType::symlink) && delta.after.is(FileType::directory);
      if (makes_room) return "--no-renames";
    }
    return "-M";
  }

 private:
  template <typename Do>
  Status each(Do act) {
    for (size_t i = 0; i < selected_.size(); ++i) {
      if (selected_[i] != Selected::yes) continue;
      const Delta& delta = comparison_.deltas[i];
      PD_TRY_CTX("reading " + printable(delta.path), act(delta));
    }
    return {};
  }

  Status add_before(FastImportStream& stream, const Delta& delta) {
    if (!is_for_git(delta.before)) return {};
    if (delta.before.is(FileType::symlink)) {
      return stream.add(delta.path, ImportEntry::symlink, delta.before.state.target);
    }
    Result<std::string> bytes = comparison_.before_bytes(delta, kMaxPatchedFile);
    if (!bytes.ok() && bytes.error().code() == Code::failed_precondition) {
      bytes = host_bytes(delta);
      // The base was not kept and the host has no file there any more: it can only be added.
      if (!bytes.ok() && bytes.error().code() == Code::not_found) return {};
    }
    PD_TRY(count(bytes));
    return stream.add(delta.path, entry_of(delta.before.state), *bytes);
  }

  Result<std::string> host_bytes(const Delta& delta) const {
    if (!delta.host.is(FileType::regular)) return Error(Code::not_found, "the host has no file");
    sys::FileFd fd = PD_TRY(open_regular(comparison_.stack.host(), delta.path));
    return sys::read_all(fd, kMaxPatchedFile);
  }

  Status add_after(FastImportStream& stream, const Delta& delta) {
    if (!is_for_git(delta.after)) return {};
    if (delta.after.is(FileType::symlink)) {
      return stream.add(delta.path, ImportEntry::symlink, delta.after.state.target);
    }
    Result<std::string> bytes = comparison_.after_bytes(delta, kMaxPatchedFile);
    PD_TRY(count(bytes));
    return stream.add(delta.path, entry_of(delta.after.state), *bytes);
  }

  Status count(Result<std::string>& bytes) {
    if (bytes.ok()) total_ += bytes->size();
    bool too_much =
        bytes.ok() ? total_ > kMaxTotal : bytes.error().code() == Code::resource_exhausted;
    if (too_much) {
      return Error(Code::resource_exhausted, "the change is too large for a patch")
          .set_remedy("name the paths that the patch is wanted of, or apply the view");
    }
    return bytes.ok() ? Status() : Status(std::move(bytes).error());
  }

  const Comparison& comparison_;
  const std::vector<Selected>& selected_;
  uint64_t total_ = 0;
};

// Of the repository that the host tree is a checkout of, when its git directory lies in it: binary
// patches name objects in its format. Elsewhere sha1, which all but a few have.
Result<ObjectFormat> format_for(const LayerStack& stack) {
  return object_format_of(stack.host / ".git");
}

Result<std::string> diff_trees(const ScratchRepository& repository, const char* renames) {
  GitCall import;
  import.args = {"fast-import", "--quiet", "--done"};
  import.git_dir = repository.git_dir();
  import.input_file = repository.file("stream");
  PD_TRY(git_output(std::move(import)));
  GitCall diff;
  diff.args = {"diff-tree",
               "-r",
               "-p",
               "--binary",
               renames,
               "-l1000",
               "--full-index",
               "--no-color",
               "--no-ext-diff",
               "--no-textconv",
               "--src-prefix=a/",
               "--dst-prefix=b/",
               "refs/heads/before",
               "refs/heads/after"};
  diff.git_dir = repository.git_dir();
  diff.output_limit = kMaxPatch;
  return git_output(std::move(diff));
}

}  // namespace

Result<std::string> make_patch(const LayerStack& stack, const std::vector<std::string>& paths) {
  Comparison comparison = PD_TRY(compare_stack(stack));
  std::vector<Selected> selected = PD_TRY(select_deltas(comparison.deltas, paths));
  PatchMaker maker(comparison, selected);
  ObjectFormat format = PD_TRY(format_for(stack));
  ScratchRepository repository = PD_TRY(ScratchRepository::create(stack.bases, format));
  {
    FastImportStream stream = PD_TRY(FastImportStream::create(repository.file("stream")));
    PD_TRY(maker.write_trees(stream));
  }
  std::string patch = PD_TRY(diff_trees(repository, maker.renames()));
  return patch.empty() ? patch : maker.preamble() + quote_headers(patch);
}

}  // namespace paddock::view
