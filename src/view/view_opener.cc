#include "view/view_opener.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/random.h"
#include "view/hide/mask.h"
#include "view/opened_view.h"
#include "view/view_removal.h"

namespace paddock::view {
namespace {

using model::HostPath;
using model::ViewId;

constexpr int kIdAttempts = 8;
constexpr size_t kMaxReported = 1000;  // hidden paths in a decision; the control has their number

// Lowers, top first: what earlier steps wrote, the mask (of the workspace alone), the host.
Result<std::vector<model::OverlayTree>> make_trees(const KeptView& view, uint32_t number,
                                                   const std::optional<Mask>& mask) {
  std::vector<model::OverlayTree> trees;
  for (size_t tree = 0; tree < view.tree_count(); ++tree) {
    const HostPath& host = view.record.trees.hosts[tree];
    model::OverlayTree overlay;
    overlay.at = model::GuestPath(host.str());
    overlay.lowers = view.layers(tree);
    HostPath like = overlay.lowers.empty() ? host : overlay.lowers.front();
    if (tree == 0 && mask) overlay.lowers.push_back(mask->layer);
    overlay.lowers.push_back(host);
    overlay.upper = PD_TRY(make_upper(view.dirs, tree, number, like));
    trees.push_back(std::move(overlay));
  }
  return trees;
}

// Matches that exist when the command starts are hidden for certain. Of those that the host makes
// meanwhile, only names that are known beforehand, where the mask has their directory.
model::Control hide_control(const std::optional<Mask>& mask) {
  model::Control control{"files.hide", model::ControlState::approximated, {}};
  if (!mask) {
    control.state = model::ControlState::enforced;
    control.detail = "no pattern hides anything";
    return control;
  }
  control.detail = fmt::format(
      "{} paths that match when the command starts are hidden; a matching file that the host "
      "creates "
      "while it runs may be seen, except under a plain name in the workspace root or beside "
      "another "
      "hidden file",
      mask->hidden.size());
  if (mask->foreign_owners > 0) {
    control.detail += fmt::format(
        "; {} directories that hold hidden files show as yours, only root can show "
        "their owner",
        mask->foreign_owners);
  }
  return control;
}

// What else of the host side is not as it looks outside.
std::vector<model::Control> host_controls(const HostSide& host) {
  std::vector<model::Control> controls = host.git.controls;
  if (!host.workspace.links.empty()) {
    controls.push_back(
        {"workspace.path", model::ControlState::enforced,
         fmt::format("the workspace is {}, by its path without links; the links that lead "
                     "there are shown too",
                     printable(host.workspace.path.str()))});
  }
  uid_t owner = host.workspace.attributes.st_uid;
  if (::geteuid() != 0 && owner != ::geteuid()) {
    controls.push_back(
        {"workspace.owner", model::ControlState::approximated,
         fmt::format("the workspace belongs to uid {}: its files show as nobody's inside "
                     "and cannot be changed there; run as their owner or as root",
                     owner)});
  }
  if (::geteuid() == 0) {
    controls.push_back({"workspace.owner", model::ControlState::enforced,
                        fmt::format("files of uid {}, who owns the workspace, belong to the user "
                                    "inside; those of others can be read and not changed",
                                    owner)});
  }
  return controls;
}

Status write_rows(Catalog& catalog, const KeptView& view, const StepRecord& step) {
  sys::fault_point("view.open.row");
  return catalog.database().transaction([&]() -> Status {
    if (view.steps.empty()) {
      PD_TRY(catalog.insert(view.record));
    } else {
      PD_TRY(catalog.set_state(view.record.id, StoredState::open));
    }
    return catalog.put_step(view.record.id, step);
  });
}

}  // namespace

Result<LockedView> make_view(const HostPath& home, const HostSide& host,
                             const OpenOptions& options) {
  ViewRecord record;
  record.created_ms = sys::wall_clock_ms();
  record.trees.hosts.push_back(host.workspace.path);
  for (const HostPath& tree : host.git.outside) record.trees.hosts.push_back(tree);
  record.trees.git_dir = host.git.git_dir;
  record.trees.common_dir = host.git.common_dir;
  record.rules = {options.files.hide, options.files.show, options.host_exec};
  for (int attempt = 0; attempt < kIdAttempts; ++attempt) {
    record.id = ViewId::from_entropy(sys::random_bytes(8));
    ViewDirs dirs(home, record.id);
    if (sys::exists(dirs.root().str())) continue;
    PD_TRY(sys::make_dir(dirs.root().str(), 0700));
    sys::fault_point("view.create.directory");
    // Between the two, somebody may take it for a leftover and remove it: then the next id.
    auto lock = lock_view(dirs, Patience::none);
    if (lock.ok()) return LockedView{{dirs, std::move(record), {}}, std::move(lock).value()};
  }
  return Error(Code::unavailable, "no free id for a view");
}

Result<std::unique_ptr<OpenView>> open_step(const HostPath& home, Catalog& catalog,
                                            LockedView locked, const HostSide& host,
                                            const OpenOptions& options) {
  KeptView& view = locked.view;
  StepRecord step;
  step.step.number = view.last_number() + 1;
  // The fine clock: no stamp that a file got before is later (a coarse one may be, Linux 6.13
  // stamps finely what was looked at). What is written in the rest of this tick may be stamped
  // earlier, and is what the command will see.
  step.opened_ns = sys::wall_clock_ns();
  auto mask = PD_TRY(update_mask(home, host.workspace.path, options.files));
  if (mask) PD_TRY(add_hidden(view.dirs, mask->hidden));
  auto trees = PD_TRY(make_trees(view, step.step.number, mask));
  PD_TRY(write_rows(catalog, view, step));
  view.record.state = StoredState::open;
  view.steps.push_back(std::move(step));

  OpenedParts parts{
      std::move(locked.view), std::move(locked.lock), {}, std::move(trees), {}, {}, {}, 0, 0};
  parts.links = host.workspace.links;
  parts.links.insert(parts.links.end(), host.git.links.begin(), host.git.links.end());
  parts.controls = host_controls(host);
  parts.controls.push_back(hide_control(mask));
  if (mask) {
    if (mask->hidden.size() > kMaxReported) mask->hidden.resize(kMaxReported);
    parts.hidden = std::move(mask->hidden);
    parts.mask_use = std::move(mask->use);
  }
  bool is_root = ::geteuid() == 0;
  parts.owner_uid = is_root ? host.workspace.attributes.st_uid : ::geteuid();
  parts.owner_gid = is_root ? host.workspace.attributes.st_gid : ::getegid();
  return make_open_view(catalog, std::move(parts));
}

}  // namespace paddock::view
