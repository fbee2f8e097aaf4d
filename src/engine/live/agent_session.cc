#include "engine/live/agent_session.h"

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
      must_write_(loop) {}

void AgentSession::start() {
  loop_.spawn([self = shared_from_this()](net::Task& task) { self->read(task); });
  loop_.spawn([self = shared_from_this()](net::Task& task) { self->write(task); });
}

void AgentSession::close() {
  listener_ = {};
  die(gone());
}

void AgentSession::die(const Error& why) {
  if (std::exchange(dead_, true)) return;
  waiting_.abort();
  must_write_.notify_all();
  for (auto& [number, call] : std::exchange(calls_, {})) call->done.set();
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
  }
}

void AgentSession::flush() {
  if (dead_) return;
  const Status flushed = link_->flush();
  if (!flushed.ok()) return die(flushed.error());
  if (link_->wants_to_write()) must_write_.notify_all();
}

void AgentSession::dispatch() {
  while (!dead_) {
    auto event = link_->channel().next_event();
    if (!event) return;
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
    } else if (auto* credit = std::get_if<wire::CreditGained>(&*event)) {
      if (auto* user = user_of(credit->stream)) user->on_credit(credit->stream);
    }
  }
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

Result<wire::StreamId> AgentSession::open_stream(StreamUser& user) {
  if (dead_) return gone();
  const wire::StreamId stream = ++last_stream_;
  PD_TRY(link_->channel().open_stream(stream));
  users_.emplace(stream, &user);
  return stream;
}

void AgentSession::close_stream(wire::StreamId stream) {
  users_.erase(stream);
  if (dead_) return;
  link_->channel().close_stream(stream);
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
