#include "view/git/git_scratch.h"

#include "sys/digest.h"
#include "sys/files.h"
#include "sys/random.h"
#include "view/git/git_config.h"
#include "view/git/git_run.h"

namespace paddock::view {
namespace {

constexpr size_t kMaxConfig = 1u << 20;

}  // namespace

Result<ObjectFormat> object_format_of(const model::HostPath& common_dir) {
  Result<std::string> config = sys::read_file((common_dir / "config").str(), kMaxConfig);
  if (!config.ok()) {
    if (config.error().code() == Code::not_found) return ObjectFormat::sha1;
    return std::move(config).error();
  }
  std::string format = git_config_value(*config, "extensions", "objectformat").value_or("sha1");
  if (format == "sha1") return ObjectFormat::sha1;
  if (format == "sha256") return ObjectFormat::sha256;
  return Error(Code::data_corrupt, "the repository's object format is " + format);
}

Result<ScratchRepository> ScratchRepository::create(const model::HostPath& parent,
                                                    ObjectFormat format) {
  PD_TRY(sys::make_dirs(parent.str(), 0700));
  std::string name = "scratch-" + sys::sha256_hex(sys::random_bytes(16)).substr(0, 16);
  PD_TRY(sys::make_dir((parent / name).str(), 0700));
  ScratchRepository repository(parent / name);
  GitCall call;
  call.args = {"init",
               "--quiet",
               "--bare",
               "--template=",
               "--initial-branch=main",
               format == ObjectFormat::sha256 ? "--object-format=sha256" : "--object-format=sha1"};
  call.git_dir = repository.git_dir();
  call.directory = repository.directory_;
  PD_TRY(git_output(std::move(call)));
  return repository;
}

ScratchRepository::~ScratchRepository() {
  if (!directory_.empty()) (void)sys::remove_tree(directory_.str()).ok();
}

}  // namespace paddock::view
