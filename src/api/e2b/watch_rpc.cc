#include "api/e2b/watch_rpc.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "api/e2b/entry_json.h"
#include "api/e2b/json.h"
#include "base/strings.h"
#include "engine/live/directory_watch.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using engine::DirectoryWatch;
using engine::WatchRequest;
using std::chrono::milliseconds;

constexpr const char* kMethods[] = {"WatchDir", "CreateWatcher", "GetWatcherEvents",
                                    "RemoveWatcher"};

const char* name_of(wire::WatchEvent::Type type) {
  switch (type) {
    case wire::WatchEvent::CREATE:
      return "EVENT_TYPE_CREATE";
    case wire::WatchEvent::WRITE:
      return "EVENT_TYPE_WRITE";
    case wire::WatchEvent::REMOVE:
      return "EVENT_TYPE_REMOVE";
    case wire::WatchEvent::RENAME:
      return "EVENT_TYPE_RENAME";
    case wire::WatchEvent::CHMOD:
      return "EVENT_TYPE_CHMOD";
    default:
      return "EVENT_TYPE_UNSPECIFIED";
  }
}

Result<WatchRequest> request_of(const Call& call, const object& message) {
  WatchRequest request;
  const auto path = PD_TRY(text_field(message, "path"));
  request.path = PD_TRY(engine::guest_path(path.value_or(""), call.home(), call.directory()));
  if (PD_TRY(flag_field(message, "recursive")).value_or(false)) {
    request.reach = WatchRequest::Reach::tree;
  }
  if (PD_TRY(flag_field(message, "includeEntry")).value_or(false)) {
    request.entries = WatchRequest::Entries::yes;
  }
  if (PD_TRY(flag_field(message, "allowNetworkMounts")).value_or(false)) {
    request.network = WatchRequest::Network::allow;
  }
  return request;
}

ConnectError watch_error(const Error& error, const std::string& path) {
  if (error.errno_value() == EINVAL) {
    return {ConnectCode::invalid_argument,
            "'" + printable(path) + "' is on a network file system: what others change there is " +
                "not told; allowNetworkMounts watches it all the same"};
  }
  return file_error(error, path);
}

// The end of a watch that ran. Clients know no code for lost events but this.
ConnectError end_error(const Error& error) {
  if (error.code() == Code::resource_exhausted) {
    return {ConnectCode::internal, "watcher error: " + error.describe() + "; " + error.remedy()};
  }
  return connect_error(error);
}

struct Began {
  std::string path;
  std::unique_ptr<DirectoryWatch> watch;
};
std::variant<Began, ConnectError> begin_watch(const Call& call, const object& message) {
  auto request = request_of(call, message);
  if (!request.ok()) return connect_error(request.error());
  auto watch = DirectoryWatch::start(call.task, call.inside(), *request);
  if (!watch.ok()) return watch_error(watch.error(), request->path);
  return Began{request->path, std::move(*watch)};
}

// Events until the client leaves, the stream's own time is up or the watch ends.
class WatchPump {
 public:
  WatchPump(const Call& call, DirectoryWatch& watch) : call_(call), watch_(watch), stream_(call) {
    const uint64_t ping = header_number(call, "keepalive-ping-interval", kDefaultPingSeconds);
    ping_ = milliseconds(1000 * std::clamp<uint64_t>(ping, 1, 3600));
    const uint64_t time = header_number(call, "connect-timeout-ms", 0);
    constexpr uint64_t kWeek = 7ull * 86'400'000;
    if (time != 0) end_us_ = sys::monotonic_us() + 1000 * int64_t(std::min(time, kWeek));
    call.exchange.on_client_gone([this] {
      client_gone_ = true;
      watch_.wake();
    });
  }
  ~WatchPump() { call_.exchange.on_client_gone(nullptr); }

  Status run() {
    PD_TRY(stream_.begin());
    PD_TRY(stream_.send({{"start", object()}}));
    while (!client_gone_) {
      auto events = watch_.next(call_.task, patience());
      if (client_gone_) break;
      if (!events.ok()) return stream_.end(end_error(events.error()));
      if (*events) {
        for (const wire::WatchEvent& event : **events) {
          PD_TRY(stream_.send({{"filesystem", to_json(event)}}));
        }
      } else {
        PD_TRY(stream_.send({{"keepalive", object()}}));
      }
      if (end_us_ != 0 && sys::monotonic_us() >= end_us_) {
        return stream_.end(
            {ConnectCode::deadline_exceeded, "the time given by connect-timeout-ms is up"});
      }
    }
    return Error(Code::unavailable, "the client left");
  }

 private:
  milliseconds patience() const {
    if (end_us_ == 0) return ping_;
    const int64_t left_ms = (end_us_ - sys::monotonic_us()) / 1000 + 1;
    return std::clamp(milliseconds(left_ms), milliseconds(1), ping_);
  }

  const Call& call_;
  DirectoryWatch& watch_;
  EventStream stream_;
  milliseconds ping_{};
  int64_t end_us_ = 0;  // 0: none
  bool client_gone_ = false;
};

Status watch_dir(const Call& call) {
  auto message = read_first(call);
  if (auto* error = std::get_if<ConnectError>(&message)) return refuse_stream(call, *error);
  auto began = begin_watch(call, std::get<object>(message));
  if (auto* error = std::get_if<ConnectError>(&began)) return refuse_stream(call, *error);
  return WatchPump(call, *std::get<Began>(began).watch).run();
}

Answer create_watcher(const Call& call, const object& message) {
  auto began = begin_watch(call, message);
  if (auto* error = std::get_if<ConnectError>(&began)) return *error;
  auto name = call.sandbox->watches().keep(std::move(std::get<Began>(began).watch));
  if (!name.ok()) return connect_error(name.error());
  object out;
  out["watcherId"] = *name;
  return out;
}

ConnectError unknown_watcher(const std::string& name) {
  return {ConnectCode::not_found,
          "watcher with id " + printable(name.substr(0, 100)) + " not found"};
}

Answer watcher_events(const Call& call, const std::string& name) {
  const auto watch = call.sandbox->watches().find(name);
  if (!watch) return unknown_watcher(name);
  auto events = watch->take_until_now(call.task);
  if (!events.ok()) return end_error(events.error());
  boost::json::array all;
  for (const wire::WatchEvent& event : *events) all.emplace_back(to_json(event));
  object out;
  out["events"] = std::move(all);
  return out;
}

Answer watch_call(const Call& call, std::string_view method) {
  auto message = read_unary(call);
  if (auto* error = std::get_if<ConnectError>(&message)) return *error;
  const object& body = std::get<object>(message);
  if (method == "CreateWatcher") return create_watcher(call, body);
  auto name = text_field(body, "watcherId");
  if (!name.ok()) return connect_error(name.error());
  if (method == "GetWatcherEvents") return watcher_events(call, name->value_or(""));
  if (call.sandbox->watches().forget(name->value_or("")) ==
      engine::KeptWatches::Forgotten::was_unknown) {
    return unknown_watcher(name->value_or(""));
  }
  return object();
}

}  // namespace

boost::json::object to_json(const wire::WatchEvent& event) {
  object out;
  out["name"] = text_of(event.name());
  out["type"] = name_of(event.type());
  if (event.has_entry()) out["entry"] = to_json(event.entry());
  return out;
}

bool is_watch_method(std::string_view method) {
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

Status serve_watch(const Call& call, std::string_view method) {
  if (method == "WatchDir") return watch_dir(call);
  return respond(call, watch_call(call, method));
}

}  // namespace paddock::api::e2b
