// filesystem.Filesystem of envd.
#include <cerrno>
#include <utility>

#include "api/e2b/entry_json.h"
#include "api/e2b/json.h"
#include "api/e2b/rpc.h"
#include "api/e2b/watch_rpc.h"
#include "engine/live/guest_files.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;

constexpr int64_t kMaxDepth = 256;

Result<std::string> path_field(const Call& call, const object& message, std::string_view name) {
  const auto text = PD_TRY(text_field(message, name));
  return engine::guest_path(text.value_or(""), call.home(), call.directory());
}

Answer entry_answer(const Result<wire::FileEntry>& entry, const std::string& path) {
  if (!entry.ok()) return file_error(entry.error(), path);
  object out;
  out["entry"] = to_json(*entry);
  return out;
}

Answer stat(const Call& call, const std::string& path) {
  return entry_answer(engine::stat_file(call.task, call.inside(), path), path);
}

Answer make_dir(const Call& call, const std::string& path) {
  auto made = engine::make_directory(call.task, call.inside(), path);
  if (!made.ok() && made.error().errno_value() == EEXIST) {
    return ConnectError{ConnectCode::already_exists, "directory already exists: " + path};
  }
  if (!made.ok() && made.error().errno_value() == ENOTDIR) {
    return ConnectError{ConnectCode::invalid_argument,
                        "path already exists but it is not a directory: " + path};
  }
  return entry_answer(made, path);
}

Answer move(const Call& call, const object& message) {
  auto from = path_field(call, message, "source");
  auto to = path_field(call, message, "destination");
  if (!from.ok()) return connect_error(from.error());
  if (!to.ok()) return connect_error(to.error());
  return entry_answer(engine::move_file(call.task, call.inside(), *from, *to), *from);
}

Answer list_dir(const Call& call, const object& message, const std::string& path) {
  auto depth = number_field(message, "depth");
  if (!depth.ok()) return connect_error(depth.error());
  const int64_t wanted = std::max<int64_t>(depth->value_or(1), 1);
  auto listing = engine::list_files(call.task, call.inside(), path,
                                    static_cast<uint32_t>(std::min(wanted, kMaxDepth)));
  if (!listing.ok()) return file_error(listing.error(), path);
  if (listing->truncated) {
    return ConnectError{ConnectCode::resource_exhausted,
                        "too many entries below " + path + "; list its parts"};
  }
  boost::json::array entries;
  for (const wire::FileEntry& entry : listing->entries) entries.emplace_back(to_json(entry));
  object out;
  out["entries"] = std::move(entries);
  return out;
}

Answer remove(const Call& call, const std::string& path) {
  const Status removed = engine::remove_file(call.task, call.inside(), path);
  if (!removed.ok()) return file_error(removed.error(), path);
  return object();
}

Answer filesystem_call(const Call& call, std::string_view method) {
  auto message = read_unary(call);
  if (auto* error = std::get_if<ConnectError>(&message)) return *error;
  const object& body = std::get<object>(message);
  if (method == "Move") return move(call, body);
  auto path = path_field(call, body, "path");
  if (!path.ok()) return connect_error(path.error());
  if (method == "Stat") return stat(call, *path);
  if (method == "MakeDir") return make_dir(call, *path);
  if (method == "ListDir") return list_dir(call, body, *path);
  return remove(call, *path);
}

}  // namespace

Status serve_filesystem(const Call& call, std::string_view method) {
  for (const char* known : {"Stat", "MakeDir", "Move", "ListDir", "Remove"}) {
    if (method == known) return respond(call, filesystem_call(call, method));
  }
  if (is_watch_method(method)) return serve_watch(call, method);
  return respond(
      call, ConnectError{ConnectCode::unimplemented, "filesystem.Filesystem has no such method"});
}

}  // namespace paddock::api::e2b
