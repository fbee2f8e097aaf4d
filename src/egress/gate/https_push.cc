#include <fmt/core.h>
#include <unistd.h>

#include "egress/gate/interception.h"
#include "egress/gate/push_channel.h"
#include "egress/http/client.h"
#include "net/event.h"

namespace paddock::egress {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatienceWithAnswer = 120s;    // for one answer
constexpr size_t kMaxHttpAnswer = 64u << 20;  // a list of refs may be long
constexpr size_t kPiece = 256 * 1024;

// The next bytes of a file, empty at its end.
Result<std::string> read_piece(const sys::FileFd& file) {
  std::string piece(kPiece, '\0');
  const ssize_t count = ::read(file.get(), piece.data(), piece.size());
  if (count < 0) return Error::from_errno(errno, "reading a held push");
  piece.resize(static_cast<size_t>(count));
  return piece;
}

class HttpsPush : public PushChannel {
 public:
  explicit HttpsPush(const PushPlace& place) : place_(place) {}

  Result<git::Refs> refs(net::Task& task) override {
    http::Request request = head("GET", "/info/refs?service=git-receive-pack");
    const std::string body =
        PD_TRY(ask(task, {.request = std::move(request), .answer_limit = kMaxHttpAnswer}));
    auto refs = PD_TRY(git::parse_advertisement(body));
    if (refs) return std::move(*refs);
    return Error(Code::data_corrupt, "the host's list of refs is cut off");
  }

  Result<std::string> send(net::Task& task, const sys::FileFd& file, uint64_t bytes) override {
    http::Request request = head("POST", "/git-receive-pack");
    http::set_field(request.fields, "content-type", "application/x-git-receive-pack-request");
    http::set_field(request.fields, "accept", "application/x-git-receive-pack-result");
    return ask(task, {.request = std::move(request), .body_size = bytes, .body = [&file] {
                        return read_piece(file);
                      }});
  }

 private:
  http::Request head(std::string method, std::string_view end) const {
    const HeldPush& push = place_.push;
    return {.method = std::move(method),
            .target = push.path + std::string(end),
            .authority = push.port == 443 ? push.host : fmt::format("{}:{}", push.host, push.port),
            .fields = {{"user-agent", "git/paddock"}, {"accept", "*/*"}}};
  }

  Result<std::string> ask(net::Task& task, http::Asked asked) {
    if (place_.rules.credentials != nullptr) {
      (void)PD_TRY(place_.rules.credentials->inject(place_.target, asked.request));
    }
    Upstream dialled = PD_TRY(place_.core.dialler.dial(task, place_.target, *place_.rules.policy));
    const auto tls = PD_TRY(open_tls_to_host(
        task, place_.core,
        {.stream = *dialled.stream, .target = place_.target, .protocols = {"http/1.1"}}));
    net::Deadline deadline(net::loop_of(task), kPatienceWithAnswer,
                           [&] { dialled.stream->abort(); });
    auto answered = http::ask(task, *tls, std::move(asked));
    if (deadline.expired()) return Error(Code::timed_out, "no answer within 120 s");
    http::Answered answer = PD_TRY(std::move(answered));
    if (answer.response.status == 200) return std::move(answer.body);
    Error error(Code::unavailable, fmt::format("the host answered {}", answer.response.status));
    if (answer.response.status == 401 || answer.response.status == 403) {
      error.set_remedy("bind a [[credential]] of kind git to the host, one that may push");
    }
    return error;
  }

  PushPlace place_;
};

}  // namespace

std::unique_ptr<PushChannel> open_https_push(const PushPlace& place) {
  return std::make_unique<HttpsPush>(place);
}

}  // namespace paddock::egress
