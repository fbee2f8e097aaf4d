#include "view/kept_view.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/strings.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/xattr.h"
#include "view/git/git_index.h"
#include "view/layer_disk.h"

namespace paddock::view {
namespace {

using model::HostPath;

constexpr size_t kHiddenLimit = 256u << 20;
constexpr size_t kMaxKeptIndex = 512u << 20;

enum class Cover { passes, replaced, gone };

// What a layer makes of one directory on the way to something below it.
Cover cover_of(const HostPath& directory) {
  auto st = sys::lstat_path(directory.str());
  if (!st.ok()) return Cover::passes;
  if (!S_ISDIR(st->st_mode)) return Cover::gone;
  auto dir = sys::open_dir(directory.str());
  if (!dir.ok()) return Cover::gone;
  auto xattrs = sys::read_xattrs(*dir);
  if (!xattrs.ok()) return Cover::gone;
  sys::Xattr opaque{"user.overlay.opaque", "y"};
  return std::find(xattrs->begin(), xattrs->end(), opaque) == xattrs->end() ? Cover::passes
                                                                            : Cover::replaced;
}

// `relative` below each layer, where the layer has it. The last component may be opaque
// (bring_branch reads that itself); a directory above it may not, for the host's would show
// through.
Result<std::vector<HostPath>> below(const std::vector<HostPath>& layers,
                                    const std::string& relative) {
  if (relative.empty()) return layers;
  std::vector<HostPath> found;
  for (const HostPath& layer : layers) {
    for (size_t slash = relative.find('/'); slash != std::string::npos;
         slash = relative.find('/', slash + 1)) {
      if (cover_of(layer / relative.substr(0, slash)) == Cover::passes) continue;
      return Error(Code::unsupported, "the view replaced a directory that holds the git directory");
    }
    HostPath path = layer / relative;
    if (sys::exists(path.str())) found.push_back(std::move(path));
  }
  return found;
}

// The directories that lead to the layers of a step, from the layers up.
Status sync_names(const ViewDirs& dirs, uint64_t layers, uint32_t number) {
  for (size_t tree = 0; tree <= kMaxTrees; ++tree) {
    if ((layers >> tree & 1) == 0) continue;
    PD_TRY(sync_path(dirs.step(tree, number)));
    PD_TRY(sync_path(dirs.tree(tree)));
  }
  if (sys::exists(dirs.hidden().str())) PD_TRY(sync_path(dirs.hidden()));
  PD_TRY(sync_path(dirs.root()));
  return sync_path(dirs.views());
}

}  // namespace

int64_t KeptView::oldest_uncaptured_ns() const {
  for (const StepRecord& step : steps) {
    if (!step.sealed && !step.step.undone) return step.opened_ns;
  }
  return steps.empty() ? 0 : steps.back().opened_ns;
}

bool KeptView::has_layers() const {
  return std::any_of(steps.begin(), steps.end(),
                     [](const StepRecord& step) { return !step.step.undone && step.layers != 0; });
}

std::vector<HostPath> KeptView::layers(size_t tree) const {
  std::vector<HostPath> found;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->step.undone) continue;
    HostPath layer = dirs.layer(tree, step->step.number);
    if (step->sealed ? step->has_layer(tree) : sys::exists(layer.str()))
      found.push_back(std::move(layer));
  }
  return found;
}

Result<LayerStack> KeptView::stack(size_t tree) const {
  LayerStack stack;
  stack.layers = layers(tree);
  stack.host = record.trees.hosts.at(tree);
  stack.bases = dirs.base() / std::to_string(tree);
  if (tree == 0) stack.hidden = PD_TRY(read_hidden(dirs));
  stack.host_exec = record.rules.host_exec;
  stack.opened_ns = oldest_uncaptured_ns();
  return stack;
}

bool KeptView::only_refreshed_index(const std::vector<std::string>& paths) const {
  if (paths.empty()) return true;
  if (record.trees.git_dir.empty()) return false;
  HostPath host = record.trees.git_dir / "index";
  // Of the workspace's own tree they are relative, of other trees absolute.
  for (const std::string& path : paths) {
    if (path != host.str() && (record.workspace() / path) != host) return false;
  }
  for (size_t tree = 0; tree < tree_count(); ++tree) {
    const HostPath& top = record.trees.hosts[tree];
    if (!top.contains(host)) continue;
    std::string relative = host.str().substr(top.str().size() + 1);
    for (const HostPath& layer : layers(tree)) {
      auto ours = sys::open_dir(layer.str());
      if (!ours.ok()) return false;
      auto view_index = sys::read_file_at(*ours, relative, kMaxKeptIndex);
      auto host_index = sys::read_file(host.str(), kMaxKeptIndex);
      bool same = view_index.ok() && host_index.ok() && same_git_index(*view_index, *host_index);
      if (!same) return false;
    }
  }
  return true;
}

bool KeptView::has_commits() const {
  auto repository = git();
  if (!repository.ok()) return repository.error().code() != Code::not_found;
  return std::any_of(repository->common_layers.begin(), repository->common_layers.end(),
                     [](const HostPath& layer) { return sys::exists((layer / "objects").str()); });
}

Result<GitView> KeptView::git() const {
  if (record.trees.git_dir.empty()) {
    return Error(Code::not_found,
                 printable(record.workspace().str()) + " is not a checkout of a git repository");
  }
  auto layers_over = [&](const HostPath& directory) -> Result<std::vector<HostPath>> {
    for (size_t tree = tree_count(); tree-- > 0;) {
      const HostPath& host = record.trees.hosts[tree];
      if (!host.contains(directory)) continue;
      size_t skip = std::min(host.str().size() + 1, directory.str().size());
      return below(layers(tree), directory.str().substr(skip));
    }
    return std::vector<HostPath>();
  };
  GitView git;
  git.host_git_dir = record.trees.git_dir;
  git.host_common_dir = record.trees.common_dir;
  git.scratch = dirs.scratch();
  git.git_layers = PD_TRY(layers_over(git.host_git_dir));
  git.common_layers = PD_TRY(layers_over(git.host_common_dir));
  return git;
}

Result<KeptView> load_view(const HostPath& home, Catalog& catalog, const model::ViewId& id) {
  auto record = PD_TRY(catalog.find(id));
  if (!record) return Error(Code::not_found, "there is no view " + id.str());
  return KeptView{ViewDirs(home, id), std::move(*record), PD_TRY(catalog.steps(id))};
}

Result<uint64_t> seal_uppers(const KeptView& view, uint32_t number) {
  uint64_t layers = 0;
  for (size_t tree = 0; tree < view.tree_count(); ++tree) {
    HostPath upper = view.dirs.layer(tree, number);
    if (!sys::exists(upper.str())) continue;
    PD_TRY(sys::remove_tree(view.dirs.work(tree, number).str()));
    if (PD_TRY(is_unchanged(upper))) {
      PD_TRY(sys::remove_tree(view.dirs.step(tree, number).str()));
      continue;
    }
    PD_TRY(sync_layer(upper));
    layers |= uint64_t{1} << tree;
    sys::fault_point("view.seal.layer");
  }
  if (layers != 0) PD_TRY(sync_names(view.dirs, layers, number));
  return layers;
}

Status seal_interrupted(KeptView& view, Catalog& catalog) {
  bool any = false;
  for (StepRecord& step : view.steps) {
    if (step.sealed || step.step.undone) continue;
    step.layers = PD_TRY(seal_uppers(view, step.step.number));
    any = true;
  }
  if (!any) return {};
  // Before the steps count as sealed: the stack still tells since when bases are missing.
  LayerStack stack = PD_TRY(view.stack(0));
  PD_TRY_CTX("keeping the bases of an interrupted command", capture_bases(stack));
  for (StepRecord& step : view.steps) step.sealed = true;
  uint64_t bytes = disk_use(view.dirs.root());
  sys::fault_point("view.seal.row");
  return catalog.durable_transaction([&]() -> Status {
    for (const StepRecord& step : view.steps) PD_TRY(catalog.put_step(view.record.id, step));
    PD_TRY(catalog.set_bytes(view.record.id, bytes));
    view.record.state = StoredState::ready;
    return catalog.set_state(view.record.id, StoredState::ready);
  });
}

Result<std::vector<std::string>> read_hidden(const ViewDirs& dirs) {
  auto text = sys::read_file(dirs.hidden().str(), kHiddenLimit);
  if (!text.ok() && text.error().code() == Code::not_found) return std::vector<std::string>();
  if (!text.ok()) return std::move(text).error();
  std::vector<std::string> paths = split(*text, '\0');
  paths.pop_back();  // each path ends with NUL
  return paths;
}

Status add_hidden(const ViewDirs& dirs, const std::vector<std::string>& paths) {
  std::vector<std::string> all = PD_TRY(read_hidden(dirs));
  size_t before = all.size();
  all.insert(all.end(), paths.begin(), paths.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() == before) return {};
  std::string text;
  for (const std::string& path : all) text.append(path).push_back('\0');
  // Synced with the layers, when there are any.
  HostPath next = dirs.root() / "hidden.new";
  sys::FileFd file = PD_TRY(sys::open_file(next.str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  PD_TRY(sys::write_all(file, text));
  if (::rename(next.c_str(), dirs.hidden().c_str()) == 0) return {};
  return Error::from_errno(errno, "writing " + printable(dirs.hidden().str()));
}

}  // namespace paddock::view
