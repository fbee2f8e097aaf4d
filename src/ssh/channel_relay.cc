#include "ssh/channel_relay.h"

#include <libssh/server.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/strings.h"

namespace paddock::ssh {
namespace {

using wire::SshFrame;
using wire::SshFrameKind;

constexpr size_t kMaxQueued = 1u << 20;  // towards either side
constexpr int kParting = 2000;           // ms, for the program to close its side

}  // namespace

Error ChannelRelay::broken() const {
  return Error(Code::unavailable, std::string("ssh: ") + printable(ssh_get_error(session_)));
}

Status ChannelRelay::take(const SshFrame& frame) {
  switch (frame.kind) {
    case SshFrameKind::data:
      to_channel_ += frame.payload;
      return {};
    case SshFrameKind::error_data:
      errors_to_channel_ += frame.payload;
      return {};
    case SshFrameKind::end:
      end_wanted_ = true;
      return {};
    case SshFrameKind::exit:
      exit_wanted_ = static_cast<int>(parse_u64(frame.payload).value_or(255));
      return {};
    default:
      return Error(Code::data_corrupt, "a frame that does not belong here");
  }
}

Status ChannelRelay::take_frames() {
  if (to_channel_.size() + errors_to_channel_.size() > kMaxQueued) return {};
  while (true) {
    const auto frame = PD_TRY(gate_.next());
    if (!frame) return {};
    PD_TRY(take(*frame));
  }
}

// As much as the other side's window takes: more would block.
Status ChannelRelay::write_some(std::string& bytes,
                                int (*write)(ssh_channel, const void*, uint32_t)) {
  while (!bytes.empty()) {
    const uint32_t room =
        std::min<uint32_t>(ssh_channel_window_size(channel_), static_cast<uint32_t>(bytes.size()));
    if (room == 0) return {};
    const int written = write(channel_, bytes.data(), std::min<uint32_t>(room, 1u << 18));
    if (written <= 0) return broken();
    bytes.erase(0, static_cast<size_t>(written));
  }
  return {};
}

Status ChannelRelay::write_channel() {
  if (ssh_channel_is_closed(channel_)) return {};
  PD_TRY(write_some(errors_to_channel_, ssh_channel_write_stderr));
  PD_TRY(write_some(to_channel_, ssh_channel_write));
  if (end_wanted_ && !end_sent_ && to_channel_.empty()) {
    end_sent_ = true;
    if (ssh_channel_send_eof(channel_) != SSH_OK) return broken();
  }
  return {};
}

Status ChannelRelay::read_some(bool errors, SshFrameKind kind) {
  std::array<char, wire::kSshPiece> buffer;
  while (gate_.queued() < kMaxQueued) {
    const int count =
        ssh_channel_read_nonblocking(channel_, buffer.data(), buffer.size(), errors ? 1 : 0);
    if (count == SSH_ERROR) return broken();
    if (count <= 0) return {};
    gate_.queue(kind, std::string_view(buffer.data(), static_cast<size_t>(count)));
  }
  return {};
}

Status ChannelRelay::read_channel() {
  PD_TRY(read_some(false, SshFrameKind::data));
  if (side_ == Side::host) PD_TRY(read_some(true, SshFrameKind::error_data));
  const bool ended = ssh_channel_is_eof(channel_) || ssh_channel_is_closed(channel_);
  if (ended && !end_told_ && gate_.queued() < kMaxQueued) {
    end_told_ = true;
    gate_.queue(SshFrameKind::end, "");
  }
  return {};
}

bool ChannelRelay::is_over(const int& exit_status) {
  if (side_ == Side::program) {
    const bool said = to_channel_.empty() && errors_to_channel_.empty();
    return (exit_wanted_ && said) || (ssh_channel_is_closed(channel_) && end_told_);
  }
  return end_told_ && (ssh_channel_is_closed(channel_) || exit_status >= 0);
}

Status ChannelRelay::wait() {
  const int flags = ssh_get_poll_flags(session_);
  const bool full = to_channel_.size() + errors_to_channel_.size() > kMaxQueued;
  pollfd fds[2] = {
      {ssh_get_fd(session_),
       static_cast<short>(POLLIN | ((flags & SSH_WRITE_PENDING) != 0 ? POLLOUT : 0)), 0},
      {gate_.fd(), static_cast<short>((full ? 0 : POLLIN) | (gate_.queued() > 0 ? POLLOUT : 0)),
       0}};
  if (::poll(fds, 2, -1) < 0 && errno != EINTR) return Error::from_errno(errno, "waiting");
  if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) PD_TRY(gate_.fill());
  return {};
}

// The command's end, as the program sees it.
Status ChannelRelay::end_program() {
  if (!exit_wanted_ || ssh_channel_is_closed(channel_)) return {};
  ssh_channel_request_send_exit_status(channel_, *exit_wanted_);
  if (!end_sent_) ssh_channel_send_eof(channel_);
  ssh_channel_close(channel_);
  ssh_blocking_flush(session_, kParting);
  // It closes the connection once it has read all of it; to be first could cut that off.
  char rest[4096];
  pollfd peer{ssh_get_fd(session_), POLLIN, 0};
  while (::poll(&peer, 1, kParting) > 0 && ::read(peer.fd, rest, sizeof rest) > 0) {
  }
  return {};
}

Status ChannelRelay::run(const int& exit_status) {
  ssh_event event = ssh_event_new();
  ssh_event_add_session(event, session_);
  Status status;
  while (status.ok()) {
    status = take_frames();
    if (status.ok()) status = write_channel();
    if (status.ok()) status = read_channel();
    if (status.ok()) status = gate_.flush();
    if (!status.ok() || is_over(exit_status)) break;
    status = wait();
    if (status.ok() && ssh_event_dopoll(event, 0) == SSH_ERROR && !ssh_is_connected(session_) &&
        !ssh_channel_is_eof(channel_)) {
      status = broken();
    }
  }
  ssh_event_remove_session(event, session_);
  ssh_event_free(event);
  if (status.ok() && side_ == Side::program) status = end_program();
  return status;
}

}  // namespace paddock::ssh
