#include "engine/live/agent_session.h"

#include <fcntl.h>

#include <utility>
#include <variant>

#include "base/strings.h"

namespace paddock::engine {
namespace {

Error gone() {
  return Error(Code::unavailable, "the sandbox is gone");
}

Error refusal(const wire::Failure& failure) {
  const std::string text = "the agent: " + printable(failure.message());
  if (failure.error() == 0) return Error(Code::failed_precondition, text);
  // The code and errno of the cause, in the agent's words.
  return Error::from_errno(failure.error(), text);
}

}  // namespace

AgentSession::AgentSession(net::Loop& loop, std::unique_ptr<AgentLink> link, sys::SocketFd waiting,
                           Listener listener)
    : loop_(loop),
      link_(std::move(link)),
      waiting_(loop, std::move(waiting)),
      listener_(std::move(listener)),
      must_write_(loop),
      has_room_(loop) {}

void AgentSession::carry(std::unique_ptr<EgressBridge> bridge) {
  bridge_ = std::move(bridge);
  sys::SocketFd events(::fcntl(bridge_->fd(), F_DUPFD_CLOEXEC, 3));
  bridge_events_ = std::make_unique<net::SocketStream>(loop_, std::move(events));
}

void AgentSession::start() {
  loop_.spawn([self = shared_from_this()](net::Task& task) { self->read(task); });
  loop_.spawn([self = shared_from_this()](net::Task& task) { self->write(task); });
  if (!bridge_) return;
  loop_.spawn([self = shared_from_this()](net::Task& task) { self->watch_bridge(task); });
}

void AgentSession::close() {
  listener_ = {};
  die(gone());
}

void AgentSession::die(const Error& why) {
  if (std::exchange(dead_, true)) return;
  waiting_.abort();
  if (bridge_events_) bridge_events_->abort();
  bridge_.reset();  // every connection breaks off
  has_room_.notify_all();
  must_write_.notify_all();
  for (auto& [number, call] : std::exchange(calls_, {})) call->done.set();
  for (auto& [stream, user] : std::exchange(users_, {})) user->on_abort(stream);
  if (auto on_dead = std::exchange(listener_.on_dead, nullptr)) on_dead(why);
}

void AgentSession::read(net::Task& task) {
  // What came with the answer to Setup is there already.
  dispatch();
  while (!dead_) {
    Status readable = waiting_.wait_readable(task);
    if (dead_) return;
    if (readable.ok()) readable = link_->fill();
    // Events before a violation still hold.
    dispatch();
    if (!readable.ok()) die(readable.error());
    flush();
    move(task);
    while (!dead_ && !loop_.is_ending() && link_->channel().output().size() >= kMaxAgentBacklog) {
      has_room_.wait(task);
    }
  }
}

void AgentSession::write(net::Task& task) {
  while (!dead_) {
    if (!link_->wants_to_write()) {
      must_write_.wait(task);
      if (loop_.is_ending()) return;
      continue;
    }
    const Status writable = waiting_.wait_writable(task);
    if (dead_) return;
    if (!writable.ok()) return die(writable.error());
    flush();
    move(task);
  }
}

void AgentSession::watch_bridge(net::Task& task) {
  while (!dead_) {
    if (!bridge_events_->wait_readable(task).ok() || dead_) return;
    bridge_->on_ready();
    move(task);
    task.yield();
  }
}

// Bytes of connections, as far as there is room: whoever makes room calls it again.
void AgentSession::move(net::Task& task) {
  if (!bridge_ || std::exchange(moving_, true)) return;
  while (!dead_ && bridge_->pump()) {
    flush();
    task.yield();
  }
  moving_ = false;
  flush();
}

void AgentSession::flush() {
  if (dead_) return;
  const Status flushed = link_->flush();
  if (!flushed.ok()) return die(flushed.error());
  if (link_->wants_to_write()) must_write_.notify_all();
  if (link_->channel().output().size() < kMaxAgentBacklog) has_room_.notify_all();
}

void AgentSession::dispatch() {
  while (!dead_) {
    auto event = link_->channel().next_event();
    if (!event) return;
    if (take_egress(*event)) continue;
    if (auto* message = std::get_if<wire::ToHost>(&*event)) {
      take(std::move(*message));
      continue;
    }
    auto user_of = [&](wire::StreamId stream) {
      auto found = users_.find(stream);
      return found == users_.end() ? nullptr : found->second;
    };
    if (auto* data = std::get_if<wire::StreamData>(&*event)) {
      if (auto* user = user_of(data->stream)) user->on_data(data->stream, std::move(data->bytes));
    } else if (auto* end = std::get_if<wire::StreamEnd>(&*event)) {
      if (auto* user = user_of(end->stream)) user->on_end(end->stream);
    } else if (auto* reset = std::get_if<wire::StreamReset>(&*event)) {
      if (auto* user = user_of(reset->stream)) user->on_reset(reset->stream);
    } else if (auto* abort = std::get_if<wire::StreamAbort>(&*event)) {
      if (auto* user = user_of(abort->stream)) user->on_abort(abort->stream);
    } else if (auto* credit = std::get_if<wire::CreditGained>(&*event)) {
      if (auto* user = user_of(credit->stream)) user->on_credit(credit->stream);
    }
  }
}

// Without a bridge nothing leaves: of a sandbox that was taken over, whose programs may still ask.
void AgentSession::refuse(const wire::ToHost& question) {
  constexpr const char* kWhy = "nothing leaves this sandbox";
  wire::ToAgent answer;
  if (question.has_name_query()) {
    answer.mutable_name_answer()->set_query(question.name_query().query());
    answer.mutable_name_answer()->set_reason(kWhy);
  } else {
    answer.mutable_connect_answer()->set_query(question.connect_query().query());
    answer.mutable_connect_answer()->set_reason(kWhy);
  }
  (void)link_->post(std::move(answer)).ok();
}

// Questions for the gate, and whatever is about a connection.
bool AgentSession::take_egress(wire::HostChannel::Event& event) {
  if (auto* message = std::get_if<wire::ToHost>(&event)) {
    if (!message->has_name_query() && !message->has_connect_query()) return false;
    if (!bridge_) {
      refuse(*message);
    } else if (message->has_name_query()) {
      bridge_->take(message->name_query());
    } else {
      bridge_->take(message->connect_query());
    }
    return true;
  }
  return std::visit(
      [&](auto& about) {
        if constexpr (requires { about.stream; }) {
          if (!bridge_ || !bridge_->owns(about.stream)) return false;
          bridge_->take(std::move(about));
          return true;
        }
        return false;
      },
      event);
}

void AgentSession::take(wire::ToHost message) {
  if (message.request() == 0) {
    if (listener_.on_message) listener_.on_message(std::move(message));
    return;
  }
  auto found = calls_.find(message.request());
  if (found == calls_.end()) return;  // its caller has given up
  found->second->answer = std::move(message);
  found->second->done.set();
  calls_.erase(found);
}

Result<wire::ToHost> AgentSession::call(net::Task& task, wire::ToAgent message,
                                        std::chrono::milliseconds patience) {
  if (dead_) return gone();
  const uint64_t number = link_->next_request();
  PD_TRY(link_->post(std::move(message)));
  auto call = std::make_shared<Call>(loop_);
  calls_.emplace(number, call);
  flush();
  call->done.wait_for(task, patience);
  if (call->answer) {
    if (call->answer->has_failure()) return refusal(call->answer->failure());
    return std::move(*call->answer);
  }
  if (dead_ || loop_.is_ending()) return gone();
  calls_.erase(number);
  return Error(Code::timed_out, "the sandbox does not answer");
}

void AgentSession::tell(wire::ToAgent message) {
  if (dead_ || !link_->post(std::move(message)).ok()) return;
  flush();
}

Result<wire::StreamId> AgentSession::open_stream(StreamUser& user, uint32_t credit) {
  if (dead_) return gone();
  // No number comes again within two thousand million: frames of a former stream are long gone.
  last_stream_ = last_stream_ == UINT32_MAX ? EgressBridge::kLastStream + 1 : last_stream_ + 1;
  const wire::StreamId stream = last_stream_;
  PD_TRY(link_->channel().open_stream(stream, credit));
  users_.emplace(stream, &user);
  return stream;
}

void AgentSession::close_stream(wire::StreamId stream) {
  users_.erase(stream);
  if (dead_) return;
  link_->channel().close_stream(stream);
  flush();
}

void AgentSession::abort_stream(wire::StreamId stream) {
  users_.erase(stream);
  if (dead_) return;
  link_->channel().abort_stream(stream);
  flush();
}

size_t AgentSession::sendable(wire::StreamId stream) const {
  return dead_ ? 0 : link_->channel().sendable(stream);
}

void AgentSession::send_data(wire::StreamId stream, std::string_view bytes) {
  if (dead_) return;
  link_->channel().send_data(stream, bytes);
  flush();
}

void AgentSession::end_stream(wire::StreamId stream) {
  if (dead_) return;
  link_->channel().end_stream(stream);
  flush();
}

void AgentSession::consumed(wire::StreamId stream, size_t count) {
  if (dead_) return;
  link_->channel().consumed(stream, count);
  flush();
}

}  // namespace paddock::engine
