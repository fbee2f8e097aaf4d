#include "cmd/push_commits.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/git/push_request.h"
#include "sys/files.h"
#include "view/git/git_run.h"
#include "view/git/git_scratch.h"

namespace paddock::cmd {
namespace {

using model::HostPath;

constexpr size_t kMaxRequest = 128u << 20;
constexpr size_t kMaxPatch = 32u << 20;
constexpr size_t kMaxCommits = 1000;
// A pack is whatever a sandbox made: a few bytes may stand for any number of them.
constexpr sys::CommandLimits kLimits{
    .cpu_seconds = 60, .memory_bytes = 1u << 30, .file_bytes = 512u << 20, .wall_ms = 120'000};

// The objects of the repository that holds this directory; empty: there is none.
std::string objects_near(HostPath directory) {
  for (std::string path = directory.str(); !path.empty();) {
    struct stat info {};
    const std::string objects = path + (path == "/" ? "" : "/") + ".git/objects";
    if (::lstat(objects.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return objects;
    if (path == "/") break;
    path.resize(std::max<size_t>(path.find_last_of('/'), 1));
  }
  return {};
}

class Reader {
 public:
  explicit Reader(const PushReading& reading)
      : reading_(reading), borrowed_(objects_near(reading.near)) {}

  Result<PushContents> read() {
    const auto& changes = reading_.push.changes;
    const bool sha256 = !changes.empty() && changes.front().new_id.size() == 64;
    const auto scratch = PD_TRY(view::ScratchRepository::create(
        reading_.scratch, sha256 ? view::ObjectFormat::sha256 : view::ObjectFormat::sha1));
    git_dir_ = scratch.git_dir();
    PD_TRY(index());
    const std::vector<std::string> ids = PD_TRY(commits());
    PushContents out;
    if (ids.empty()) return out;
    out.commits = PD_TRY(describe(ids));
    if (reading_.patch == PushReading::Patch::yes) out.patch = PD_TRY(patch(ids));
    return out;
  }

 private:
  Result<std::string> git(std::vector<std::string> args, std::string input = {}) {
    view::GitCall call{.args = std::move(args),
                       .git_dir = git_dir_,
                       .directory = {},
                       .input = std::move(input),
                       .input_file = {},
                       .output_limit = kMaxPatch,
                       .environment = {},
                       .limits = kLimits};
    if (!borrowed_.empty()) {
      call.environment.push_back("GIT_ALTERNATE_OBJECT_DIRECTORIES=" + borrowed_);
    }
    return view::git_output(std::move(call));
  }

  Status index() {
    std::string request =
        PD_TRY(sys::read_file(reading_.store.request_path(reading_.push.id), kMaxRequest));
    const auto commands = PD_TRY(egress::git::parse_push_request(request));
    if (!commands) return Error(Code::data_corrupt, "its commands are cut off");
    request.erase(0, commands->size);
    if (request.empty()) return {};
    auto indexed = git({"index-pack", "--stdin", "--fix-thin"}, std::move(request));
    if (indexed.ok()) return {};
    return std::move(
        indexed.error().set_remedy("look at it from within a clone of the repository"));
  }

  // Of the pack: what was borrowed is not part of the push.
  Result<std::vector<std::string>> commits() {
    const HostPath packs = git_dir_ / "objects/pack";
    if (!sys::exists(packs.str())) return std::vector<std::string>();
    std::string ids;
    const sys::DirFd directory = PD_TRY(sys::open_dir(packs.str()));
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(directory))) {
      if (!entry.name.ends_with(".idx")) continue;
      std::string bytes = PD_TRY(sys::read_file((packs / entry.name).str()));
      const std::string index = PD_TRY(git({"show-index"}, std::move(bytes)));
      for (const std::string& line : split(index, '\n')) {
        const std::vector<std::string> words = split(line, ' ');
        if (words.size() >= 2) ids += words[1] + "\n";
      }
    }
    const std::string kinds = PD_TRY(git({"cat-file", "--batch-check"}, std::move(ids)));
    std::vector<std::string> out;
    for (const std::string& line : split(kinds, '\n')) {
      const std::vector<std::string> words = split(line, ' ');
      if (words.size() == 3 && words[1] == "commit") out.push_back(words[0]);
    }
    if (out.size() > kMaxCommits) out.resize(kMaxCommits);
    return out;
  }

  Result<std::string> log(const std::vector<std::string>& ids, std::vector<std::string> args) {
    args.insert(args.begin(), {"log", "--no-walk=sorted", "--stdin", "--no-color"});
    return git(std::move(args), join(ids, "\n") + "\n");
  }

  Result<std::vector<PushedCommit>> describe(const std::vector<std::string>& ids) {
    std::vector<PushedCommit> out;
    const std::string text = PD_TRY(log(ids, {"--format=%H%x00%an <%ae>%x00%aI%x00%s"}));
    for (const std::string& line : split(text, '\n')) {
      const std::vector<std::string> fields = split(line, '\0');
      if (fields.size() == 4) out.push_back({fields[0], fields[1], fields[2], fields[3]});
    }
    return out;
  }

  Result<std::string> patch(const std::vector<std::string>& ids) {
    return log(ids, {"--patch", "--stat", "--no-ext-diff", "--no-textconv"});
  }

  const PushReading& reading_;
  std::string borrowed_;
  HostPath git_dir_;
};

}  // namespace

Result<PushContents> read_push(const PushReading& reading) {
  return Reader(reading).read();
}

}  // namespace paddock::cmd
