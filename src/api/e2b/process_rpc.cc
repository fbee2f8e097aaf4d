// process.Process of envd.
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "api/e2b/json.h"
#include "api/e2b/process_json.h"
#include "api/e2b/rpc.h"
#include "base/strings.h"
#include "engine/live/guest_files.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using engine::Process;
using std::chrono::milliseconds;

constexpr milliseconds kInputPatience{60'000};
constexpr uint64_t kMaxTimeoutMs = 7ull * 86'400'000;

ConnectError invalid(std::string message) {
  return {ConnectCode::invalid_argument, std::move(message)};
}

std::variant<std::shared_ptr<Process>, ConnectError> find_process(const Call& call,
                                                                  const object& message) {
  auto selector = object_field(message, "process");
  if (!selector.ok()) return connect_error(selector.error());
  if (!*selector) return invalid("'process' is missing");
  auto pid = number_field(**selector, "pid");
  auto tag = text_field(**selector, "tag");
  if (!pid.ok()) return connect_error(pid.error());
  if (!tag.ok()) return connect_error(tag.error());
  if (*pid) {
    if (auto process = call.sandbox->find_process(static_cast<int>(**pid))) return process;
    return ConnectError{ConnectCode::not_found,
                        "process with pid " + std::to_string(**pid) + " not found"};
  }
  if (!*tag) return invalid("'process' names neither pid nor tag");
  if (auto process = call.sandbox->find_process(**tag)) return process;
  return ConnectError{ConnectCode::not_found,
                      "process with tag '" + printable(**tag) + "' not found"};
}

// What a command's events are sent by, until it ends, its client leaves or the stream's own time is
// up. The command goes on when the client leaves.
class EventPump {
 public:
  EventPump(const Call& call, Process::Reader& reader)
      : call_(call), reader_(reader), stream_(call) {
    ping_ = milliseconds(
        1000 * std::clamp<uint64_t>(
                   header_number(call, "keepalive-ping-interval", kDefaultPingSeconds), 1, 3600));
    call.exchange.on_client_gone([this] {
      client_gone_ = true;
      reader_.wake();
    });
  }
  ~EventPump() { call_.exchange.on_client_gone(nullptr); }

  // Says of all output which of the command's bytes it begins with.
  void number() { numbered_ = true; }
  void end_after(uint64_t ms) { end_us_ = ms == 0 ? 0 : sys::monotonic_us() + int64_t(ms) * 1000; }

  Status run(int pid) {
    PD_TRY(stream_.begin());
    PD_TRY(stream_.send(start_event(pid)));
    while (!client_gone_) {
      auto output = reader_.next(call_.task, patience());
      if (client_gone_) break;
      // The sandbox is gone. Clients whose stream is cut ask for its health, and say that.
      if (!output.ok()) return output.error();
      if (!*output) {
        if (end_us_ != 0 && sys::monotonic_us() >= end_us_) return stream_.end(too_late());
        PD_TRY(stream_.send(keepalive_event()));
      } else if (auto* data = std::get_if<engine::OutputData>(&**output)) {
        object event = data_event(*data);
        if (numbered_) event["sequence"] = data->sequence;
        PD_TRY(stream_.send(event));
      } else {
        return finish(std::get<engine::OutputEnd>(**output).ended);
      }
    }
    return Error(Code::unavailable, "the client left");
  }

 private:
  static ConnectError too_late() {
    return {ConnectCode::deadline_exceeded, "the time given by connect-timeout-ms is up"};
  }

  milliseconds patience() const {
    if (end_us_ == 0) return ping_;
    const int64_t left_ms = (end_us_ - sys::monotonic_us()) / 1000 + 1;
    return std::clamp(milliseconds(left_ms), milliseconds(1), ping_);
  }

  Status finish(const wire::Ended& ended) {
    if (ended.how() == wire::Ended::TIMED_OUT) return stream_.end(too_late());
    PD_TRY(stream_.send(end_event(ended)));
    return stream_.end();
  }

  const Call& call_;
  Process::Reader& reader_;
  EventStream stream_;
  milliseconds ping_{};
  int64_t end_us_ = 0;  // 0: none
  bool client_gone_ = false;
  bool numbered_ = false;
};

// Why a command could not be started, in the words that clients know.
ConnectError start_error(const Error& error, const std::string& directory) {
  if (error.errno_value() == ENOENT && error.message().find("directory") != std::string::npos) {
    return invalid("cwd '" + printable(directory) + "' does not exist");
  }
  return connect_error(error);
}

Status start(const Call& call) {
  auto message = read_first(call);
  if (auto* error = std::get_if<ConnectError>(&message)) return refuse_stream(call, *error);
  auto request = process_request(std::get<object>(message));
  if (!request.ok()) return refuse_stream(call, connect_error(request.error()));
  auto directory = engine::guest_path(request->directory, call.home(), call.directory());
  if (!directory.ok()) return refuse_stream(call, connect_error(directory.error()));
  request->directory = *directory;
  request->user = call.user;
  // The time of the call is the command's: at its end the command is killed.
  request->timeout_ms = std::min(header_number(call, "connect-timeout-ms", 0), kMaxTimeoutMs);
  auto started = call.sandbox->start(call.task, std::move(*request));
  if (!started.ok()) return refuse_stream(call, start_error(started.error(), *directory));
  return EventPump(call, *started->reader).run(started->process->pid());
}

Status connect(const Call& call) {
  auto message = read_first(call);
  if (auto* error = std::get_if<ConnectError>(&message)) return refuse_stream(call, *error);
  auto found = find_process(call, std::get<object>(message));
  if (auto* error = std::get_if<ConnectError>(&found)) return refuse_stream(call, *error);
  auto process = std::get<std::shared_ptr<Process>>(found);
  // Our own word: output from that byte of it on, as far as it is kept. E2B's begins with now.
  const auto from = parse_u64(call.exchange.request().headers.get("x-paddock-output-from"));
  Process::Reader reader = from ? Process::Reader(process, *from) : Process::Reader(process);
  EventPump pump(call, reader);
  if (from) pump.number();
  pump.end_after(std::min(header_number(call, "connect-timeout-ms", 0), kMaxTimeoutMs));
  return pump.run(process->pid());
}

// ---- unary calls

Answer done(const Status& status) {
  if (!status.ok()) return connect_error(status.error());
  return object();
}

Answer list(const Call& call) {
  boost::json::array processes;
  for (const auto& process : call.sandbox->processes()) {
    if (!process->has_ended()) processes.emplace_back(to_json(*process));
  }
  object out;
  out["processes"] = std::move(processes);
  return out;
}

Answer send_input(const Call& call, Process& process, const object& message) {
  auto input = input_of(message);
  if (!input.ok()) return connect_error(input.error());
  return done(process.send_input(call.task, input->bytes, kInputPatience));
}

Answer send_signal(const Call& call, Process& process, const object& message) {
  auto name = text_field(message, "signal");
  if (!name.ok()) return connect_error(name.error());
  if (*name == "SIGNAL_SIGKILL") return done(process.signal(call.task, SIGKILL));
  if (*name == "SIGNAL_SIGTERM") return done(process.signal(call.task, SIGTERM));
  return invalid("'signal' must be SIGNAL_SIGTERM or SIGNAL_SIGKILL");
}

Answer update(const Call& call, Process& process, const object& message) {
  auto pty = object_field(message, "pty");
  if (!pty.ok()) return connect_error(pty.error());
  if (!*pty) return object();
  auto size = terminal_size(**pty);
  if (!size.ok()) return connect_error(size.error());
  return done(process.resize(call.task, *size));
}

Answer process_call(const Call& call, std::string_view method) {
  auto message = read_unary(call);
  if (auto* error = std::get_if<ConnectError>(&message)) return *error;
  if (method == "List") return list(call);
  const object& body = std::get<object>(message);
  auto found = find_process(call, body);
  if (auto* error = std::get_if<ConnectError>(&found)) return *error;
  Process& process = *std::get<std::shared_ptr<Process>>(found);
  if (method == "SendInput") return send_input(call, process, body);
  if (method == "SendSignal") return send_signal(call, process, body);
  if (method == "Update") return update(call, process, body);
  process.close_input();
  return object();
}

// ---- the call whose request is a stream

// Envelopes of the request as they come.
class RequestStream {
 public:
  explicit RequestStream(const Call& call) : call_(call), reader_(kMaxMessage) {}

  // nullopt: the end.
  Result<std::optional<object>> next() {
    while (true) {
      auto envelope = PD_TRY(reader_.next());
      if (envelope) return std::optional(PD_TRY(parse_object(envelope->message)));
      char piece[8192];
      const size_t count = PD_TRY(call_.exchange.read_body(call_.task, piece));
      if (count == 0) return std::optional<object>();
      reader_.add({piece, count});
    }
  }

 private:
  const Call& call_;
  EnvelopeReader reader_;
};

std::optional<ConnectError> take_input(const Call& call, RequestStream& stream) {
  std::shared_ptr<Process> process;
  while (true) {
    auto message = stream.next();
    if (!message.ok()) return connect_error(message.error());
    if (!*message) return std::nullopt;
    const object& body = **message;
    auto event = object_field(body, "event");
    if (!event.ok()) return connect_error(event.error());
    // The parts of a oneof stand in the message itself; some clients nest them.
    const object& fields = *event ? **event : body;
    if (fields.contains("keepalive")) continue;
    auto part = object_field(fields, fields.contains("start") ? "start" : "data");
    if (!part.ok() || !*part) return invalid("a message that is neither start nor data");
    if (fields.contains("start")) {
      auto found = find_process(call, **part);
      if (auto* error = std::get_if<ConnectError>(&found)) return *error;
      process = std::get<std::shared_ptr<Process>>(found);
      continue;
    }
    if (!process) return invalid("data before start");
    auto input = input_of(**part);
    if (!input.ok()) return connect_error(input.error());
    Status sent = process->send_input(call.task, input->bytes, kInputPatience);
    if (!sent.ok()) return connect_error(sent.error());
  }
}

Status stream_input(const Call& call) {
  RequestStream request(call);
  const auto error = take_input(call, request);
  EventStream stream(call);
  PD_TRY(stream.begin());
  if (error) return stream.end(*error);
  PD_TRY(stream.send({}));
  return stream.end();
}

}  // namespace

Status serve_process(const Call& call, std::string_view method) {
  if (method == "Start") return start(call);
  if (method == "Connect") return connect(call);
  if (method == "StreamInput") return stream_input(call);
  for (const char* known : {"List", "SendInput", "SendSignal", "Update", "CloseStdin"}) {
    if (method == known) return respond(call, process_call(call, method));
  }
  return respond_error(call.task, call.exchange,
                       {ConnectCode::unimplemented, "process.Process has no such method"});
}

}  // namespace paddock::api::e2b
