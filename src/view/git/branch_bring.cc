// bring_branch: commits of a view into the host repository, as one new ref.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "base/strings.h"
#include "sys/files.h"
#include "view/changes.h"
#include "view/git/branch_objects.h"
#include "view/git/branch_read.h"
#include "view/git/git_run.h"
#include "view/git/git_scratch.h"

namespace paddock::view {
namespace {

// For GIT_ALTERNATE_OBJECT_DIRECTORIES, whose entries are divided by colons: git's C-style quotes.
std::string quoted(const std::string& path) {
  std::string out = "\"";
  for (char c : path) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class Bringer {
 public:
  Bringer(const GitView& git, const ScratchRepository& scratch, std::string ref)
      : git_(git), scratch_(scratch), ref_(std::move(ref)) {}

  // Makes one pack of what `commit` leads to and the host does not have, lets the host's git check
  // every object in it and every link between them, and only then names the commit.
  Status bring(const std::string& commit) {
    PD_TRY(gather_objects(git_.common_layers, scratch_));
    model::HostPath pack = PD_TRY_CTX("packing the commits of the view", make_pack(commit));
    PD_TRY_CTX("checking the commits of the view", take_pack(pack));
    GitCall check = on_host({"rev-list", "--objects", "--quiet", commit, "--not", "--all"});
    (void)PD_TRY_CTX("checking the commits of the view", git_output(std::move(check)));
    // Zeros as the old value: the ref is made, or the call fails.
    GitCall name = on_host({"-c", "core.logAllRefUpdates=false", "update-ref", ref_, commit,
                            std::string(commit.size(), '0')});
    (void)PD_TRY_CTX("making the branch", git_output(std::move(name)));
    return give_to_owner(ref_);
  }

  // The ref of the host that has the name, or stands where the name needs a directory or the other
  // way round; empty: none.
  Result<std::string> ref_in_the_way() const {
    for (size_t slash = ref_.find('/', std::string_view("refs/heads/").size());;
         slash = ref_.find('/', slash + 1)) {
      std::string front = ref_.substr(0, slash);
      GitCall call = on_host({"show-ref", "--verify", "--quiet", front});
      if (PD_TRY(run_git(std::move(call))).exit_code == 0) return front;
      if (slash == std::string::npos) break;
    }
    GitCall below = on_host({"for-each-ref", "--count=1", "--format=%(refname)", ref_ + "/"});
    return std::string(trim(PD_TRY(git_output(std::move(below)))));
  }

  // A commit that the host's refs lead to was not made in the view: HEAD only moved there.
  Result<bool> host_has(const std::string& commit) const {
    GitCall call = on_host({"for-each-ref", "--count=1", "--contains", commit});
    auto done = PD_TRY(run_git(std::move(call)));
    return done.exit_code == 0 && !trim(done.out).empty();
  }

 private:
  GitCall on_host(std::vector<std::string> args) const {
    GitCall call;
    call.git_dir = git_.host_git_dir;
    call.args = std::move(args);
    return call;
  }

  Result<model::HostPath> make_pack(const std::string& commit) {
    std::string revisions = commit + "\n";
    std::string of_host = PD_TRY(git_output(on_host({"for-each-ref", "--format=^%(objectname)"})));
    GitCall call;
    call.git_dir = scratch_.git_dir();
    call.args = {"pack-objects", "--revs", "--quiet", scratch_.file("out").str()};
    call.environment = {"GIT_ALTERNATE_OBJECT_DIRECTORIES=" +
                        quoted((git_.host_common_dir / "objects").str())};
    call.input = revisions + of_host;
    std::string name(trim(PD_TRY(git_output(std::move(call)))));
    if (!is_object_id(name)) return Error(Code::data_corrupt, "git named no pack");
    return scratch_.file("out-" + name + ".pack");
  }

  Status take_pack(const model::HostPath& pack) {
    GitCall call = on_host({"index-pack", "--strict", "--stdin"});
    call.input_file = pack;
    std::string said(trim(PD_TRY(git_output(std::move(call)))));
    std::string name = said.substr(said.find_last_of("\t ") + 1);
    if (!is_object_id(name)) return Error(Code::data_corrupt, "git kept no pack");
    for (const char* suffix : {".pack", ".idx", ".rev"}) {
      PD_TRY(give_to_owner("objects/pack/pack-" + name + suffix));
    }
    return {};
  }

  // Root works on a user's repository: what git made there is the user's.
  Status give_to_owner(const std::string& path) {
    if (::geteuid() != 0) return {};
    struct stat owner = PD_TRY(sys::stat_path(git_.host_common_dir.str()));
    sys::DirFd root = PD_TRY(sys::open_dir(git_.host_common_dir.str()));
    for (size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      PD_TRY(chown_if_ours(root, path.substr(0, slash), owner));
    }
    return chown_if_ours(root, path, owner);
  }

  static Status chown_if_ours(const sys::DirFd& root, const std::string& path,
                              const struct stat& owner) {
    auto opened = sys::open_beneath(root, path, O_RDONLY | O_NONBLOCK);
    if (!opened.ok()) return {};
    struct stat st {};
    if (::fstat(opened->get(), &st) != 0 || st.st_uid != 0 || owner.st_uid == 0) return {};
    if (::fchown(opened->get(), owner.st_uid, owner.st_gid) == 0) return {};
    return Error::from_errno(errno, "giving " + printable(path) + " to the repository's owner");
  }

  const GitView& git_;
  const ScratchRepository& scratch_;
  std::string ref_;
};

Status check_branch_name(const std::string& branch) {
  GitCall call;
  call.args = {"check-ref-format", "refs/heads/" + branch};
  bool plain = !branch.empty() && branch[0] != '-' && branch.find('\0') == std::string::npos;
  if (plain && PD_TRY(run_git(std::move(call))).exit_code == 0) return {};
  return Error(Code::invalid_argument, "'" + printable(branch) + "' is no name for a branch");
}

}  // namespace

Result<std::string> bring_branch(const GitView& git, const std::string& branch) {
  PD_TRY(check_branch_name(branch));
  const std::vector<model::HostPath> none;
  auto in_view = PD_TRY(
      resolve_head({git.git_layers, git.host_git_dir}, {git.common_layers, git.host_common_dir}));
  auto on_host = PD_TRY(resolve_head({none, git.host_git_dir}, {none, git.host_common_dir}));
  if (!in_view || in_view == on_host) {
    return Error(Code::not_found, "no commit was made in the view")
        .set_remedy("`paddock apply` without --branch brings working files");
  }
  ObjectFormat format = PD_TRY(object_format_of(git.host_common_dir));
  ScratchRepository scratch = PD_TRY(ScratchRepository::create(git.scratch, format));
  Bringer bringer(git, scratch, "refs/heads/" + branch);
  if (PD_TRY(bringer.host_has(*in_view))) {
    return Error(Code::not_found, "no commit was made in the view: HEAD is at one of the host's")
        .set_remedy("`git branch` names it");
  }
  std::string other = PD_TRY(bringer.ref_in_the_way());
  if (!other.empty()) {
    return Error(Code::already_exists, other == "refs/heads/" + branch
                                           ? "branch " + printable(branch) + " is there already"
                                           : printable(other) + " is in the way of that name")
        .set_remedy("name another one");
  }
  PD_TRY(bringer.bring(*in_view));
  return *in_view;
}

}  // namespace paddock::view
