#include <unistd.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/gate/push_channel.h"
#include "egress/git/exec_command.h"
#include "egress/ssh/host.h"

namespace paddock::egress {
namespace {

using namespace std::chrono_literals;
using wire::SshFrame;
using wire::SshFrameKind;

constexpr auto kPatienceWithHost = 120s;  // for the host's next word
constexpr size_t kMaxRefs = 64u << 20;    // a list of refs may be long
constexpr size_t kMaxSshAnswer = 1u << 20;
constexpr size_t kMaxErrors = 4096;

// One session of git-receive-pack.
class SshPush : public PushChannel {
 public:
  explicit SshPush(const PushPlace& place) : place_(place) {}

  Result<git::Refs> refs(net::Task& task) override {
    PD_TRY(begin(task));
    while (true) {
      auto refs = PD_TRY(git::parse_advertisement(output_));
      if (refs) return std::move(*refs);
      if (PD_TRY(read_more(task)) == More::none || output_.size() > kMaxRefs) return said();
    }
  }

  // The host answers when it has all of it.
  Result<std::string> send(net::Task& task, const sys::FileFd& file, uint64_t bytes) override {
    std::string piece(wire::kSshPiece, '\0');
    for (uint64_t sent = 0; sent < bytes;) {
      const ssize_t count =
          ::pread(file.get(), piece.data(), piece.size(), static_cast<off_t>(sent));
      if (count <= 0) return Error(Code::data_corrupt, "a held push is cut off");
      PD_TRY(host_->write(task, SshFrameKind::data, {piece.data(), static_cast<size_t>(count)}));
      sent += static_cast<uint64_t>(count);
    }
    PD_TRY(host_->write(task, SshFrameKind::end, ""));
    output_.clear();
    while (PD_TRY(read_more(task)) == More::some) {
      if (output_.size() > kMaxSshAnswer) return Error(Code::resource_exhausted, "a long answer");
    }
    if (output_.empty()) return said();
    return std::move(output_);
  }

  void leave(net::Task& task) override {
    if (host_ != nullptr) host_->stop(task, 0s);
  }

 private:
  Status begin(net::Task& task) {
    const SshIdentity identity =
        PD_TRY(ssh::identity_for(place_.rules.credentials.get(), place_.target));
    const git::ExecCommand command{.step = GitStep::list_to_push,
                                   .path = place_.push.path,
                                   .repository = place_.push.repository};
    PD_TRY(git::parse_exec_command(command.command()));
    dialled_ = PD_TRY(place_.core.dialler.dial(task, place_.target, *place_.rules.policy));
    host_ = PD_TRY(ssh::start_on_host(task, *dialled_->stream,
                                      {.program = place_.core.ssh_program,
                                       .target = place_.target,
                                       .identity = identity,
                                       .known_hosts = place_.rules.known_hosts,
                                       .command = command.command(),
                                       .git_protocol = {}}));
    return {};
  }

  enum class More { some, none };
  Result<More> read_more(net::Task& task) {
    const SshFrame frame = PD_TRY(host_->read_within(task, kPatienceWithHost));
    if (frame.kind == SshFrameKind::data) output_ += frame.payload;
    if (frame.kind == SshFrameKind::error_data && errors_.size() < kMaxErrors) {
      errors_ += frame.payload;
    }
    return frame.kind == SshFrameKind::exit ? More::none : More::some;
  }

  Error said() const { return Error(Code::unavailable, "the host: " + printable(trim(errors_))); }

  PushPlace place_;
  std::optional<Upstream> dialled_;
  std::unique_ptr<ssh::Helper> host_;
  std::string output_, errors_;
};

}  // namespace

std::unique_ptr<PushChannel> open_ssh_push(const PushPlace& place) {
  return std::make_unique<SshPush>(place);
}

}  // namespace paddock::egress
