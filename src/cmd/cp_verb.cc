// cp: one file into a sandbox of the daemon's, or out of it.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <optional>
#include <string>

#include "base/strings.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/sandbox_choice.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "sys/files.h"

namespace paddock::cmd {
namespace {

// "SANDBOX:PATH"; nullopt: a path of this machine, which is one with a slash before any colon.
struct Inside {
  std::string sandbox;
  std::string path;
};
std::optional<Inside> inside_of(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == std::string::npos || word.find('/') < colon) return std::nullopt;
  return Inside{word.substr(0, colon), word.substr(colon + 1)};
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Result<std::string> target_of(const model::HostPath& home, const Inside& inside) {
  return fmt::format("/paddock/v1/sandboxes/{}/files?path={}",
                     PD_TRY(find_sandbox(home, inside.sandbox)), url_encode(inside.path));
}

Result<uint64_t> copy_in(const model::HostPath& home, const std::string& from, Inside to) {
  const sys::FileFd file = PD_TRY(sys::open_file(from, O_RDONLY));
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) return Error::from_errno(errno, printable(from));
  if (!S_ISREG(st.st_mode)) {
    return Error(Code::unsupported, printable(from) + " is not a regular file")
        .set_remedy("for a tree: tar -c DIR | paddock exec -i SANDBOX -- tar -x");
  }
  if (to.path.empty() || to.path.ends_with('/')) to.path += base_name(from);
  DaemonCall::Request request;
  request.method = "PUT";
  request.target = PD_TRY(target_of(home, to));
  request.type = "application/octet-stream";
  request.file = file.get();
  request.file_size = static_cast<uint64_t>(st.st_size);
  DaemonCall call = PD_TRY(DaemonCall::start(home, request));
  PD_TRY(call.check());
  return request.file_size;
}

// Beside its place first: a copy that breaks off leaves no half file.
Result<uint64_t> copy_out(const model::HostPath& home, const Inside& from, std::string to) {
  DaemonCall::Request request;
  request.method = "GET";
  request.target = PD_TRY(target_of(home, from));
  DaemonCall call = PD_TRY(DaemonCall::start(home, request));
  PD_TRY(call.check());
  struct stat st {};
  if (::stat(to.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) to += "/" + base_name(from.path);
  const std::string partial = to + ".paddock-part";
  const sys::FileFd file =
      PD_TRY(sys::open_file(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644));
  uint64_t size = 0;
  Status copied = [&]() -> Status {
    while (!call.is_done()) {
      const std::string piece = PD_TRY(call.read());
      size += piece.size();
      PD_TRY(sys::write_all(file, piece));
    }
    return {};
  }();
  if (copied.ok() && ::rename(partial.c_str(), to.c_str()) != 0) {
    copied = Error::from_errno(errno, "writing " + printable(to));
  }
  if (copied.ok()) return size;
  ::unlink(partial.c_str());
  return copied.error();
}

Status copy(const CpArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const auto from = inside_of(args.from);
  const auto to = inside_of(args.to);
  if (from.has_value() == to.has_value()) {
    return Error(Code::invalid_argument, "one of the two is SANDBOX:PATH, the other a local path")
        .set_remedy("paddock cp FILE SANDBOX:PATH, or paddock cp SANDBOX:PATH FILE");
  }
  const uint64_t size =
      to ? PD_TRY(copy_in(home, args.from, *to)) : PD_TRY(copy_out(home, *from, args.to));
  if (args.json) print(model::pretty_json(boost::json::object{{"bytes", size}}));
  return {};
}

}  // namespace

int cp(const CpArgs& args, Context& context) {
  const Status copied = copy(args, context);
  return copied.ok() ? 0 : fail(copied.error());
}

}  // namespace paddock::cmd
