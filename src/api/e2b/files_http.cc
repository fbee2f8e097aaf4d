#include "api/e2b/files_http.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "api/e2b/body_source.h"
#include "api/e2b/entry_json.h"
#include "api/e2b/multipart.h"
#include "base/strings.h"
#include "engine/live/guest_files.h"

namespace paddock::api::e2b {
namespace {

using engine::FileCommand;

constexpr size_t kPiece = 16u << 10;  // on a coroutine's stack
constexpr size_t kMaxMetadataKey = 246;
constexpr size_t kMaxFileMetadata = 4096;
constexpr std::string_view kMetadataHeader = "x-metadata-";

Status respond_failure(const Call& call, const Error& error, const std::string& path) {
  std::string message = error.describe();
  if (error.errno_value() == ENOENT) message = "path '" + path + "' does not exist";
  if (error.errno_value() == EISDIR) message = "path '" + path + "' is a directory";
  return respond_http_error(call.task, call.exchange, files_status(error), message);
}

// ---- down

Status send_file(const Call& call, FileCommand& reading, uint64_t size) {
  net::http::Response head{200, {{"Content-Type", "application/octet-stream"}}, ""};
  std::string piece = PD_TRY(reading.more(call.task));
  // Files of /proc have no size and are not empty; an empty one must say so.
  if (size == 0 && piece.empty()) return call.exchange.respond(call.task, head);
  const std::optional<uint64_t> length = size == 0 ? std::nullopt : std::optional(size);
  PD_TRY(call.exchange.begin(call.task, head, length));
  uint64_t left = length.value_or(UINT64_MAX);
  while (!piece.empty() && left > 0) {
    piece.resize(std::min<uint64_t>(piece.size(), left));  // it has grown since
    PD_TRY(call.exchange.write(call.task, piece));
    left -= piece.size();
    if (left > 0) piece = PD_TRY(reading.more(call.task));
  }
  return call.exchange.finish(call.task);
}

// ---- up

// One file on its way in.
struct Upload {
  std::string path;
  std::unique_ptr<FileCommand> writing;
};

Result<wire::FileEntry> complete(const Call& call, Upload& upload) {
  // When the commit cannot be sent the reply says why.
  (void)upload.writing->commit(call.task).ok();
  wire::FilesReply reply = PD_TRY(upload.writing->reply(call.task));
  if (reply.entries_size() != 1) return Error(Code::data_corrupt, "no answer to a write");
  return std::move(*reply.mutable_entries(0));
}

// Input that is not taken any more has its reason in the reply.
Status send_piece(const Call& call, Upload& upload, std::string_view bytes) {
  Status sent = upload.writing->send(call.task, bytes);
  if (sent.ok()) return sent;
  auto reply = upload.writing->reply(call.task);
  return reply.ok() ? std::move(sent) : Status(std::move(reply).error());
}

// What a failed upload was about, for the message.
struct Failed {
  Error error;
  std::string path;
};

// The kernel keeps no quota on the host's disk: what is sent must fit.
uint64_t room_of(const Call& call) {
  const uint64_t limit = call.sandbox->setup().limits.disk_bytes;
  return limit - std::min(limit, call.sandbox->disk_used(call.task));
}

Error beyond_limit() {
  return Error::from_errno(ENOSPC, "writing beyond the sandbox's disk limit");
}

class Uploads {
 public:
  Uploads(const Call& call, uint64_t room, std::vector<std::string> metadata)
      : call_(call), room_(room), metadata_(std::move(metadata)) {}

  std::optional<Failed> begin(const std::string& path) {
    auto absolute = engine::guest_path(path, call_.home(), call_.directory());
    if (!absolute.ok()) return Failed{absolute.error(), path};
    auto writing = engine::begin_write(call_.task, call_.inside(), {*absolute, metadata_});
    if (!writing.ok()) return Failed{writing.error(), path};
    current_ = Upload{*absolute, std::move(*writing)};
    return std::nullopt;
  }
  std::optional<Failed> add(std::string_view bytes) {
    if (!current_) return std::nullopt;  // a field that is no file
    if (bytes.size() > room_) return Failed{beyond_limit(), current_->path};
    room_ -= bytes.size();
    Status sent = send_piece(call_, *current_, bytes);
    if (!sent.ok()) return Failed{sent.error(), current_->path};
    return std::nullopt;
  }
  std::optional<Failed> end() {
    if (!current_) return std::nullopt;
    auto entry = complete(call_, *current_);
    if (!entry.ok()) return Failed{entry.error(), current_->path};
    current_.reset();
    written_.push_back(std::move(*entry));
    return std::nullopt;
  }
  const std::vector<wire::FileEntry>& written() const { return written_; }

 private:
  const Call& call_;
  uint64_t room_;  // bytes
  std::vector<std::string> metadata_;
  std::optional<Upload> current_;
  std::vector<wire::FileEntry> written_;
};

std::optional<Failed> take_whole(const Call& call, BodySource& body, Uploads& uploads,
                                 const std::string& path) {
  if (path.empty()) return Failed{Error(Code::invalid_argument, "'path' is missing"), ""};
  if (auto failed = uploads.begin(path)) return failed;
  while (true) {
    char piece[kPiece];
    auto count = body.read(call.task, piece);
    if (!count.ok()) return Failed{count.error(), path};
    if (*count == 0) return uploads.end();
    if (auto failed = uploads.add({piece, *count})) return failed;
  }
}

std::optional<Failed> take_event(Uploads& uploads, PartEvent& event, const std::string& path) {
  if (const auto* begin = std::get_if<PartBegin>(&event)) {
    if (begin->name != "file") return std::nullopt;
    const std::string& target = path.empty() ? begin->file_name : path;
    if (target.empty()) {
      return Failed{Error(Code::invalid_argument, "a file without a name, and no 'path'"), ""};
    }
    return uploads.begin(target);
  }
  if (const auto* data = std::get_if<PartData>(&event)) return uploads.add(data->bytes);
  return uploads.end();
}

std::optional<Failed> take_parts(const Call& call, BodySource& body, Uploads& uploads,
                                 const std::string& path) {
  auto boundary = boundary_of(call.exchange.request().headers.get("content-type"));
  if (!boundary.ok()) return Failed{boundary.error(), path};
  MultipartParser parser(*boundary);
  while (true) {
    char piece[kPiece];
    auto count = body.read(call.task, piece);
    if (!count.ok()) return Failed{count.error(), path};
    if (*count == 0) break;
    auto events = parser.feed({piece, *count});
    if (!events.ok()) return Failed{events.error(), path};
    for (PartEvent& event : *events) {
      if (auto failed = take_event(uploads, event, path)) return failed;
    }
  }
  if (!parser.is_done()) {
    return Failed{Error(Code::invalid_argument, "the multipart body is cut short"), path};
  }
  return std::nullopt;
}

boost::json::array describe(const std::vector<wire::FileEntry>& entries) {
  boost::json::array out;
  for (const wire::FileEntry& entry : entries) {
    boost::json::object one;
    one["name"] = base_name(entry.path());
    one["path"] = entry.path();
    one["type"] = "file";
    auto metadata = metadata_of(entry);
    if (!metadata.empty()) one["metadata"] = std::move(metadata);
    out.push_back(std::move(one));
  }
  return out;
}

bool is_multipart(const net::http::RequestHead& request) {
  const std::string_view type = request.headers.get("content-type");
  return net::http::equals_ignoring_case(type.substr(0, type.find(';')), "multipart/form-data");
}

}  // namespace

std::string value_of(const Query& query, const std::string& name) {
  auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

int files_status(const Error& error) {
  switch (error.errno_value()) {
    case ENOSPC:
    case EDQUOT:
      return 507;
    case EFBIG:
      return 507;
    case EISDIR:
    case ENOTDIR:
      return 400;
    default:
      return http_status(error.code());
  }
}

Status respond_http_error(net::Task& task, net::http::Exchange& exchange, int status,
                          const std::string& message) {
  boost::json::object body;
  body["code"] = status;
  body["message"] = message;
  return respond_json(task, exchange, status, body);
}

Result<std::vector<std::string>> metadata_of(const net::http::Headers& headers) {
  std::vector<std::string> out;
  size_t total = 0;
  for (const auto& [name, value] : headers.fields()) {
    if (name.size() <= kMetadataHeader.size() ||
        !net::http::equals_ignoring_case(std::string_view(name).substr(0, kMetadataHeader.size()),
                                         kMetadataHeader)) {
      continue;
    }
    std::string key = name.substr(kMetadataHeader.size());
    std::ranges::transform(key, key.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    total += key.size() + value.size();
    const bool printable = std::ranges::all_of(value, [](char c) { return c >= ' ' && c < 0x7f; });
    if (!printable || key.size() > kMaxMetadataKey || total > kMaxFileMetadata ||
        key.find('=') != std::string::npos) {
      return Error(Code::invalid_argument, "metadata must be short printable ASCII");
    }
    out.push_back(key + "=" + value);
  }
  return out;
}

Status download(const Call& call, const Query& query) {
  const std::string named = value_of(query, "path");
  auto path = engine::guest_path(named, call.home(), call.directory());
  if (!path.ok()) return respond_failure(call, path.error(), named);
  auto reading = engine::begin_read(call.task, call.inside(), *path);
  if (!reading.ok()) return respond_failure(call, reading.error(), named);
  auto reply = (*reading)->reply(call.task);
  if (reply.ok() && reply->entries_size() != 1) {
    reply = Error(Code::data_corrupt, "no answer to a read");
  }
  if (!reply.ok()) return respond_failure(call, reply.error(), named);
  return send_file(call, **reading, reply->entries(0).size());
}

Status upload(const Call& call, const Query& query) {
  const std::string path = value_of(query, "path");
  auto metadata = metadata_of(call.exchange.request().headers);
  if (!metadata.ok()) return respond_failure(call, metadata.error(), path);
  const uint64_t room = room_of(call);
  const auto length = parse_u64(call.exchange.request().headers.get("content-length"));
  if (length.value_or(0) > room) return respond_failure(call, beyond_limit(), path);
  auto body = open_body(call.exchange);
  if (!body.ok()) return respond_failure(call, body.error(), path);
  Uploads uploads(call, room, std::move(*metadata));
  auto failed = is_multipart(call.exchange.request()) ? take_parts(call, **body, uploads, path)
                                                      : take_whole(call, **body, uploads, path);
  if (failed) return respond_failure(call, failed->error, failed->path);
  return respond_json(call.task, call.exchange, 200, describe(uploads.written()));
}

}  // namespace paddock::api::e2b
