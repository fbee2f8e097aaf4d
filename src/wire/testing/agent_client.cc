#include "wire/testing/agent_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "wire/build_id.h"

namespace paddock::wire::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxBacklog = 1u << 20;

}  // namespace

AgentClient::AgentClient(int fd, int patience_ms) : fd_(fd), patience_ms_(patience_ms) {}

Result<Hello> AgentClient::hello() {
  PD_TRY(wait_until([&] { return hello_.has_value(); }));
  return *hello_;
}

Result<Evidence> AgentClient::setup(Setup setup) {
  if (setup.build_id().empty()) setup.set_build_id(std::string(build_id()));
  ToAgent message;
  *message.mutable_setup() = std::move(setup);
  ToHost answer = PD_TRY(request(std::move(message)));
  if (answer.has_failure()) return Error(Code::failed_precondition, answer.failure().message());
  return answer.evidence();
}

uint64_t AgentClient::send(ToAgent message) {
  message.set_request(next_request_++);
  if (!channel_.send(message).ok()) closed_ = true;
  return message.request();
}

Result<std::vector<CommandState>> AgentClient::resume() {
  ToAgent message;
  message.mutable_resume();
  const ToHost answer = PD_TRY(request(std::move(message)));
  if (answer.has_failure()) return Error(Code::failed_precondition, answer.failure().message());
  for (const CommandState& state : states_) {
    next_command_ = std::max(next_command_, state.command() + 1);
  }
  return states_;
}

Result<Attached> AgentClient::attach(uint32_t id, uint64_t from) {
  ClientCommand& command = commands_[id];
  auto open = [&] {
    const StreamId stream = next_stream_++;
    (void)channel_.open_stream(stream).ok();
    owners_[stream] = id;
    return stream;
  };
  command.input_stream = open();
  command.output_stream = open();
  command.error_stream = open();
  ToAgent message;
  message.mutable_attach()->set_command(id);
  message.mutable_attach()->set_from(from);
  message.mutable_attach()->set_stdin_stream(command.input_stream);
  message.mutable_attach()->set_stdout_stream(command.output_stream);
  message.mutable_attach()->set_stderr_stream(command.error_stream);
  const ToHost answer = PD_TRY(request(std::move(message)));
  if (answer.has_failure()) return Error(Code::failed_precondition, answer.failure().message());
  return answer.attached();
}

void AgentClient::forget(uint32_t id) {
  ToAgent message;
  message.mutable_forget()->set_command(id);
  send(std::move(message));
}

uint32_t AgentClient::start(Start start, Outputs outputs) {
  const uint32_t id = next_command_++;
  ClientCommand& command = commands_[id];
  auto open = [&] {
    const StreamId stream = next_stream_++;
    (void)channel_.open_stream(stream).ok();
    owners_[stream] = id;
    return stream;
  };
  command.input_stream = open();
  command.output_stream = open();
  if (outputs == Outputs::merged) {
    command.error_stream = command.output_stream;
  } else if (!start.has_terminal()) {
    command.error_stream = open();
  }
  start.set_command(id);
  start.set_stdin_stream(command.input_stream);
  start.set_stdout_stream(command.output_stream);
  start.set_stderr_stream(command.error_stream);
  ToAgent message;
  *message.mutable_start() = std::move(start);
  starts_[send(std::move(message))] = id;
  return id;
}

void AgentClient::write_input(uint32_t id, std::string_view bytes) {
  command(id).input.append(bytes);
  flush_input(command(id));
}

void AgentClient::end_input(uint32_t id) {
  command(id).end_input = true;
  flush_input(command(id));
}

void AgentClient::flush_input(ClientCommand& command) {
  if (channel_.output().size() > kMaxBacklog) return;
  const size_t count = std::min(command.input.size(), channel_.sendable(command.input_stream));
  channel_.send_data(command.input_stream, std::string_view(command.input).substr(0, count));
  command.input.erase(0, count);
  if (command.end_input && command.input.empty()) channel_.end_stream(command.input_stream);
}

void AgentClient::resume(uint32_t id) {
  ClientCommand& resumed = command(id);
  resumed.paused = false;
  for (auto& [stream, count] : resumed.unacknowledged) channel_.consumed(stream, count);
  resumed.unacknowledged.clear();
}

void AgentClient::reset_output(uint32_t id) {
  channel_.reset_stream(command(id).output_stream);
}

Result<ClientCommand> AgentClient::run(std::vector<std::string> argv) {
  return run(start_of(std::move(argv)));
}

Result<ClientCommand> AgentClient::run(Start start) {
  const uint32_t id = this->start(std::move(start));
  end_input(id);
  PD_TRY(wait_for(id));
  return take(id);
}

ClientCommand AgentClient::take(uint32_t id) {
  return std::move(commands_.extract(id).mapped());
}

Status AgentClient::wait_for(uint32_t id) {
  return wait_until([&] { return command(id).is_over(); });
}

Result<ToHost> AgentClient::request(ToAgent message) {
  const uint64_t number = send(std::move(message));
  PD_TRY(wait_until([&] { return answers_.contains(number); }));
  return std::move(answers_.extract(number).mapped());
}

Status AgentClient::signal(uint32_t id, int number, bool whole_tree) {
  ToAgent message;
  message.mutable_signal()->set_command(id);
  message.mutable_signal()->set_number(number);
  message.mutable_signal()->set_whole_tree(whole_tree);
  ToHost answer = PD_TRY(request(std::move(message)));
  if (answer.has_failure()) return Error::from_errno(answer.failure().error(), "signalling");
  return {};
}

std::optional<Denied> AgentClient::find_denial(Denied::Kind kind, std::string_view what) {
  std::optional<Denied> found;
  (void)wait_until([&] {
    for (const Denied& denied : denials_) {
      if (denied.kind() == kind && denied.what() == what && denied.count() > 0) found = denied;
    }
    return found.has_value();
  }).ok();
  return found;
}

Status AgentClient::wait_until(const std::function<bool()>& done) {
  const auto until = Clock::now() + std::chrono::milliseconds(patience_ms_);
  while (!done()) {
    if (closed_) return Error(Code::unavailable, "the agent has closed the stream");
    if (Clock::now() > until) return Error(Code::timed_out, "waiting for the agent");
    PD_TRY(pump(100));
  }
  return {};
}

Status AgentClient::pump(int timeout_ms) {
  pollfd poll{.fd = fd_, .events = POLLIN, .revents = 0};
  if (!channel_.output().empty()) poll.events |= POLLOUT;
  if (::poll(&poll, 1, timeout_ms) < 0 && errno != EINTR) {
    return Error::from_errno(errno, "waiting for the agent");
  }
  if ((poll.revents & POLLOUT) != 0) {
    const std::string_view bytes = channel_.output();
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) channel_.written(static_cast<size_t>(n));
  }
  if ((poll.revents & ~POLLOUT) != 0) {
    static std::array<char, 256u << 10> buffer;
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) closed_ = true;
    if (n > 0) PD_TRY(channel_.receive({buffer.data(), static_cast<size_t>(n)}));
  }
  while (auto event = channel_.next_event()) {
    on_connection_event(*event);
    if (auto* message = std::get_if<ToHost>(&*event)) on_message(*message);
    if (auto* data = std::get_if<StreamData>(&*event)) on_data(*data);
    if (auto* end = std::get_if<StreamEnd>(&*event)) on_end(end->stream);
    if (auto* reset = std::get_if<StreamReset>(&*event)) {
      if (ClientCommand* command = owner_of(reset->stream)) command->input_was_reset = true;
    }
  }
  for (auto& [id, command] : commands_) {
    if (!command.input.empty()) flush_input(command);
  }
  for (auto& [stream, connection] : connections_) flush(stream, connection);
  return {};
}

ClientCommand* AgentClient::owner_of(StreamId stream) {
  auto owner = owners_.find(stream);
  auto found = owner == owners_.end() ? commands_.end() : commands_.find(owner->second);
  return found == commands_.end() ? nullptr : &found->second;
}

void AgentClient::on_data(const StreamData& data) {
  ClientCommand* command = owner_of(data.stream);
  if (command == nullptr) return;
  command->out_bytes += data.bytes.size();
  if (!command->discard_output) {
    (data.stream == command->output_stream ? command->out : command->err) += data.bytes;
  }
  if (command->paused) {
    command->unacknowledged[data.stream] += data.bytes.size();
  } else {
    channel_.consumed(data.stream, data.bytes.size());
  }
}

void AgentClient::on_end(StreamId stream) {
  ClientCommand* command = owner_of(stream);
  if (command == nullptr) return;
  if (stream == command->output_stream) command->out_ended = true;
  if (stream == command->error_stream) command->err_ended = true;
}

void AgentClient::release(ClientCommand& command) {
  for (StreamId stream : {command.input_stream, command.output_stream, command.error_stream}) {
    channel_.close_stream(stream);
    owners_.erase(stream);
  }
}

void AgentClient::on_message(const ToHost& message) {
  if (message.has_hello()) {
    hello_ = message.hello();
  } else if (message.has_denied()) {
    denials_.push_back(message.denied());
  } else if (message.has_command_state()) {
    states_.push_back(message.command_state());
  } else if (message.has_name_query()) {
    name_queries_.push_back(message.name_query());
    if (on_name) answer(on_name(message.name_query()));
  } else if (message.has_connect_query()) {
    connect_queries_.push_back(message.connect_query());
  } else if (message.has_ended()) {
    auto found = commands_.find(message.ended().command());
    if (found == commands_.end()) return;
    found->second.ended = message.ended();
    release(found->second);
  } else if (auto start = starts_.find(message.request()); start != starts_.end()) {
    ClientCommand& command = commands_.at(start->second);
    starts_.erase(start);
    if (message.has_started()) command.started = message.started();
    if (message.has_failure()) {
      command.failure = message.failure();
      release(command);
    }
  } else {
    answers_[message.request()] = message;
  }
}

// ---- the way out

void AgentClient::answer(const NameAnswer& answer) {
  ToAgent message;
  *message.mutable_name_answer() = answer;
  send(std::move(message));
}

Result<ConnectQuery> AgentClient::next_connect_query() {
  PD_TRY(wait_until([&] { return !connect_queries_.empty(); }));
  ConnectQuery query = std::move(connect_queries_.front());
  connect_queries_.pop_front();
  return query;
}

StreamId AgentClient::accept(const ConnectQuery& query) {
  const StreamId stream = next_stream_++;
  (void)channel_.open_stream(stream, kConnectionCredit).ok();
  connections_[stream] = {};
  ToAgent message;
  message.mutable_connect_answer()->set_query(query.query());
  message.mutable_connect_answer()->set_stream(stream);
  send(std::move(message));
  return stream;
}

void AgentClient::refuse(const ConnectQuery& query, std::string_view reason) {
  ToAgent message;
  message.mutable_connect_answer()->set_query(query.query());
  message.mutable_connect_answer()->set_reason(std::string(reason));
  send(std::move(message));
}

void AgentClient::on_connection_event(const HostChannel::Event& event) {
  auto find = [&](StreamId stream) {
    auto found = connections_.find(stream);
    return found == connections_.end() ? nullptr : &found->second;
  };
  if (auto* data = std::get_if<StreamData>(&event)) {
    ClientConnection* connection = find(data->stream);
    if (connection == nullptr) return;
    connection->in_bytes += data->bytes.size();
    (connection->echo ? connection->out : connection->in) += data->bytes;
    if (!connection->paused) channel_.consumed(data->stream, data->bytes.size());
  } else if (auto* end = std::get_if<StreamEnd>(&event)) {
    ClientConnection* connection = find(end->stream);
    if (connection == nullptr) return;
    connection->ended = true;
    if (connection->echo) connection->end_out = true;
  } else if (auto* reset = std::get_if<StreamReset>(&event)) {
    if (ClientConnection* connection = find(reset->stream)) connection->was_reset = true;
  } else if (auto* abort = std::get_if<StreamAbort>(&event)) {
    ClientConnection* connection = find(abort->stream);
    if (connection == nullptr) return;
    connection->aborted = true;
    channel_.close_stream(abort->stream);
  }
}

void AgentClient::flush(StreamId stream, ClientConnection& connection) {
  if (!channel_.is_open(stream)) return;
  const size_t count = std::min(connection.out.size(), channel_.sendable(stream));
  channel_.send_data(stream, std::string_view(connection.out).substr(0, count));
  connection.out.erase(0, count);
  if (!connection.out.empty() || !connection.end_out) return;
  channel_.end_stream(stream);
  if (connection.ended) channel_.close_stream(stream);
}

Start start_of(std::vector<std::string> argv) {
  Start start;
  for (std::string& argument : argv) start.add_argv(std::move(argument));
  start.add_environment("PATH=/bin:/usr/bin:/sbin");
  return start;
}

Start shell(std::string script) {
  return start_of({"/bin/sh", "-c", std::move(script)});
}

}  // namespace paddock::wire::testing
