#include "egress/ssh/helper.h"

#include <sys/socket.h>

#include <array>

#include "net/pump.h"
#include "sys/helper_process.h"

namespace paddock::egress::ssh {
namespace {

using wire::SshFrame;
using wire::SshFrameKind;

struct SocketPair {
  sys::SocketFd ours, theirs;
};

Result<SocketPair> make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return Error::from_errno(errno, "making a socket pair");
  }
  return SocketPair{sys::SocketFd(sys::Fd(fds[0])), sys::SocketFd(sys::Fd(fds[1]))};
}

Code code_of(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(Code::internal); ++code) {
    if (to_string(static_cast<Code>(code)) == name) return static_cast<Code>(code);
  }
  return Code::unavailable;
}

Error error_of(const SshFrame& frame) {
  const std::vector<std::string> fields = wire::split_fields(frame.payload);
  if (fields.size() != 3) return Error(Code::internal, "paddock-ssh: an error that is none");
  return Error(code_of(fields[0]), fields[1]).set_remedy(fields[2]);
}

net::Tap pass() {
  return [](std::string_view bytes) -> Result<std::string_view> { return bytes; };
}

}  // namespace

Helper::Helper(net::Loop& loop, sys::SocketFd wire, sys::SocketFd frames, net::Stream& peer)
    : peer_(peer), wire_(loop, std::move(wire)), frames_(loop, std::move(frames)), pumped_(loop) {}

Result<std::unique_ptr<Helper>> Helper::start(net::Loop& loop, const std::string& program,
                                              const std::string& side, net::Stream& peer,
                                              sys::Fd agent) {
  if (program.empty()) {
    return Error(Code::unsupported, "git over ssh needs paddock-ssh, which is not installed")
        .set_remedy("install it beside paddock, or use https");
  }
  SocketPair wire = PD_TRY(make_socket_pair());
  SocketPair frames = PD_TRY(make_socket_pair());
  sys::HelperProcess process{.program = program, .words = {side}, .fds = {}};
  process.fds.push_back(std::move(wire.theirs));
  process.fds.push_back(std::move(frames.theirs));
  if (agent.is_open()) process.fds.push_back(std::move(agent));
  sys::Process started = PD_TRY(sys::start_helper(std::move(process)));
  std::unique_ptr<Helper> helper(
      new Helper(loop, std::move(wire.ours), std::move(frames.ours), peer));
  helper->process_ = std::move(started);
  helper->begin_pump(loop);
  return helper;
}

void Helper::begin_pump(net::Loop& loop) {
  loop.spawn([this](net::Task& task) {
    (void)net::pump_both_ways(task, peer_, wire_, {.a_to_b = pass(), .b_to_a = pass()});
    pumped_.set();
  });
}

Result<std::optional<SshFrame>> Helper::read(net::Task& task) {
  while (true) {
    if (auto frame = PD_TRY(wire::take_ssh_frame(incoming_))) {
      if (frame->kind == SshFrameKind::failed) return error_of(*frame);
      return frame;
    }
    std::array<char, 65536> buffer;
    const size_t count = PD_TRY(frames_.read(task, buffer));
    if (count == 0) return std::optional<SshFrame>();
    incoming_.append(buffer.data(), count);
  }
}

Result<SshFrame> Helper::read_within(net::Task& task, std::chrono::milliseconds patience) {
  net::Deadline deadline(net::loop_of(task), patience, [this] { frames_.cancel_waits(); });
  auto frame = read(task);
  if (deadline.expired()) return Error(Code::timed_out, "ssh: no answer in time");
  auto found = PD_TRY(std::move(frame));
  if (found) return std::move(*found);
  return Error(Code::unavailable, "ssh: the connection ended");
}

Status Helper::write(net::Task& task, SshFrameKind kind, std::string_view payload) {
  do {
    const std::string_view piece = payload.substr(0, wire::kSshPiece);
    PD_TRY(frames_.write(task, wire::encode_ssh_frame(kind, piece)));
    payload.remove_prefix(piece.size());
  } while (!payload.empty());
  return {};
}

void Helper::stop(net::Task& task, std::chrono::milliseconds patience) {
  {
    net::Deadline deadline(net::loop_of(task), patience, [this] { frames_.cancel_waits(); });
    while (true) {
      auto frame = read(task);
      if (!frame.ok() || !frame->has_value()) break;
    }
  }
  if (pumped_.wait_for(task, patience) == net::Event::Outcome::timed_out) abort();
  pumped_.wait_surely(task);
}

void Helper::abort() {
  frames_.abort();
  wire_.abort();
  peer_.abort();
}

}  // namespace paddock::egress::ssh
