#include "engine/live/process.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sys/clock.h"

namespace paddock::engine {
namespace {

Error sandbox_gone() {
  return Error(Code::unavailable, "the sandbox is gone");
}

Error no_input() {
  return Error(Code::failed_precondition, "the command takes no input (any more)");
}

}  // namespace

// ---- reading

Process::Reader::Reader(std::shared_ptr<Process> process)
    : process_(std::move(process)), next_(process_->first_ + process_->pieces_.size()) {
  process_->readers_.insert(this);
}

Process::Reader::Reader(std::shared_ptr<Process> process, uint64_t sequence)
    : Reader(std::move(process)) {
  while (next_ > process_->first_ &&
         process_->pieces_[next_ - 1 - process_->first_].sequence >= sequence) {
    --next_;
  }
  // The piece that holds it, if it begins within one.
  if (next_ > process_->first_) {
    const Piece& before = process_->pieces_[next_ - 1 - process_->first_];
    if (before.sequence + before.bytes.size() > sequence) --next_;
  }
  from_ = std::min(sequence, process_->next_sequence_);
}

Process::Reader::~Reader() {
  process_->readers_.erase(this);
  process_->trim();
}

Result<std::optional<Output>> Process::Reader::next(net::Task& task,
                                                    std::chrono::milliseconds patience) {
  Process& process = *process_;
  auto has_news = [&] { return next_ < process.first_ + process.pieces_.size(); };
  if (!has_news() && !process.has_ended() && !woken_) {
    process.changed_.wait_for(task, patience);
  }
  if (std::exchange(woken_, false)) return std::optional<Output>();
  if (has_news()) {
    const Piece& piece = process.pieces_[next_ - process.first_];
    const OutputKind kind = process.request_.terminal         ? OutputKind::terminal
                            : piece.stream == process.output_ ? OutputKind::standard_output
                                                              : OutputKind::standard_error;
    const uint64_t skipped = from_ > piece.sequence ? from_ - piece.sequence : 0;
    OutputData data{kind, piece.bytes.substr(skipped), piece.sequence + skipped};
    ++next_;
    process.trim();
    return std::optional<Output>(std::move(data));
  }
  if (process.ended_) return std::optional<Output>(OutputEnd{*process.ended_});
  if (process.gone_) return sandbox_gone();
  return std::optional<Output>();
}

void Process::Reader::wake() {
  woken_ = true;
  process_->changed_.notify_all();
}

// Gives back the credit of what every reader has taken, and keeps the latest of it.
void Process::trim() {
  uint64_t oldest = first_ + pieces_.size();
  for (const Reader* reader : readers_) oldest = std::min(oldest, reader->next_);
  for (; untaken_ < oldest; ++untaken_) {
    const Piece& piece = pieces_[untaken_ - first_];
    taken_bytes_ += piece.bytes.size();
    if (!has_ended()) session_->consumed(piece.stream, piece.bytes.size());
  }
  for (; first_ < oldest && taken_bytes_ > kKeptOutput; ++first_) {
    taken_bytes_ -= pieces_.front().bytes.size();
    pieces_.pop_front();
  }
}

void Process::on_data(wire::StreamId stream, std::string bytes) {
  const uint64_t sequence = std::exchange(next_sequence_, next_sequence_ + bytes.size());
  pieces_.push_back({stream, std::move(bytes), sequence});
  changed_.notify_all();
  trim();
}

// ---- life

Process::Process(net::Loop& loop, std::shared_ptr<AgentSession> session, ProcessRequest request)
    : loop_(loop),
      session_(std::move(session)),
      request_(std::move(request)),
      changed_(loop),
      input_changed_(loop),
      input_turns_(loop) {}

Process::~Process() {
  close_streams();
}

Status Process::open_streams(wire::Start& start) {
  output_ = PD_TRY(session_->open_stream(*this));
  start.set_stdout_stream(output_);
  if (request_.terminal) {
    input_ = PD_TRY(session_->open_stream(*this));
    start.mutable_terminal()->set_rows(request_.terminal->rows);
    start.mutable_terminal()->set_columns(request_.terminal->columns);
    start.set_stderr_stream(output_);
  } else {
    error_ = PD_TRY(session_->open_stream(*this));
    start.set_stderr_stream(error_);
    if (request_.input == ProcessRequest::Input::open) {
      input_ = PD_TRY(session_->open_stream(*this));
    }
  }
  start.set_stdin_stream(input_);
  return {};
}

void Process::close_streams() {
  for (wire::StreamId* stream : {&input_, &output_, &error_}) {
    if (*stream != 0) session_->close_stream(*stream);
  }
  input_ = 0;  // the others still tell what is kept apart
}

Status Process::start(net::Task& task, wire::Start start, uint32_t number) {
  number_ = number;
  start.set_command(number);
  for (const std::string& word : request_.argv) start.add_argv(word);
  if (!request_.directory.empty()) start.set_directory(request_.directory);
  start.set_timeout_ms(request_.timeout_ms);
  start.set_keep_leftovers(true);  // daemons that a command leaves behind are meant to stay
  Status opened = open_streams(start);
  if (opened.ok()) {
    wire::ToAgent message;
    *message.mutable_start() = std::move(start);
    auto answer = session_->call(task, std::move(message));
    if (answer.ok()) {
      pid_ = answer->started().pid();
      return {};
    }
    opened = std::move(answer).error();
  }
  gone_ = true;
  ended_ms_ = sys::wall_clock_ms();
  close_streams();
  return opened;
}

Status Process::attach(net::Task& task, const wire::CommandState& state) {
  number_ = state.command();
  pid_ = state.pid();
  wire::Start streams;
  request_.input = state.takes_input() ? ProcessRequest::Input::open : ProcessRequest::Input::none;
  Status opened = open_streams(streams);
  if (opened.ok()) {
    wire::ToAgent message;
    wire::Attach& attach = *message.mutable_attach();
    attach.set_command(number_);
    attach.set_stdin_stream(streams.stdin_stream());
    attach.set_stdout_stream(streams.stdout_stream());
    attach.set_stderr_stream(streams.stderr_stream());
    // All that is kept: it comes behind the answer.
    next_sequence_ = state.first_kept();
    auto answer = session_->call(task, std::move(message));
    if (answer.ok()) {
      // More may have been dropped since; and what follows the answer may have been taken already.
      const uint64_t dropped = answer->attached().first() - state.first_kept();
      for (Piece& piece : pieces_) piece.sequence += dropped;
      next_sequence_ += dropped;
      return {};
    }
    opened = std::move(answer).error();
  }
  on_sandbox_gone();
  close_streams();
  return opened;
}

void Process::on_ended(const wire::Ended& ended) {
  if (has_ended()) return;
  ended_ = ended;
  ended_ms_ = sys::wall_clock_ms();
  close_streams();
  changed_.notify_all();
  input_changed_.notify_all();
}

void Process::on_sandbox_gone() {
  if (has_ended()) return;
  gone_ = true;
  ended_ms_ = sys::wall_clock_ms();
  changed_.notify_all();
  input_changed_.notify_all();
}

// ---- input and control

void Process::on_credit(wire::StreamId) {
  input_changed_.notify_all();
}

void Process::on_reset(wire::StreamId stream) {
  if (stream == input_) close_input();
}

void Process::close_input() {
  if (input_ == 0) return;
  // A terminal has no end of input of its own: what a person would type.
  if (request_.terminal && session_->sendable(input_) > 0) session_->send_data(input_, "\x04");
  if (!request_.terminal) {
    session_->close_stream(input_);
    input_ = 0;
  }
  input_changed_.notify_all();
}

Status Process::send_input(net::Task& task, std::string_view bytes,
                           std::chrono::milliseconds patience) {
  const auto turn = input_turns_.enter(task);
  while (!bytes.empty()) {
    if (gone_) return sandbox_gone();
    if (input_ == 0 || ended_) return no_input();
    const size_t room = session_->sendable(input_);
    if (room == 0) {
      if (input_changed_.wait_for(task, patience) == net::Event::Outcome::timed_out) {
        return Error(Code::timed_out, "the command does not read its input");
      }
      continue;
    }
    const std::string_view piece = bytes.substr(0, room);
    session_->send_data(input_, piece);
    bytes.remove_prefix(piece.size());
  }
  return input_ == 0 ? Status(no_input()) : Status();
}

Status Process::signal(net::Task& task, int number) {
  if (has_ended()) return Error::from_errno(ESRCH, "signalling the command");
  wire::ToAgent message;
  message.mutable_signal()->set_command(number_);
  message.mutable_signal()->set_number(number);
  message.mutable_signal()->set_whole_tree(true);
  (void)PD_TRY(session_->call(task, std::move(message)));
  return {};
}

Status Process::resize(net::Task& task, const TerminalSize& size) {
  if (!request_.terminal) return Error(Code::failed_precondition, "the command has no terminal");
  if (has_ended()) return Error::from_errno(ESRCH, "resizing the command's terminal");
  wire::ToAgent message;
  message.mutable_resize()->set_command(number_);
  message.mutable_resize()->mutable_terminal()->set_rows(size.rows);
  message.mutable_resize()->mutable_terminal()->set_columns(size.columns);
  (void)PD_TRY(session_->call(task, std::move(message)));
  return {};
}

}  // namespace paddock::engine
