#include "net/http/greeting.h"

#include <array>
#include <utility>

#include "net/event.h"
#include "net/tls_stream.h"

namespace paddock::net::http {
namespace {

// A method's first letter; TLS begins with the byte 22.
bool begins_http(char first) {
  return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

// One answer is all that there is for it.
constexpr Patience kForPlain{.idle = std::chrono::milliseconds(500),
                             .head = std::chrono::milliseconds(5'000),
                             .body = std::chrono::milliseconds(1'000),
                             .write = std::chrono::milliseconds(5'000)};

struct Met {
  std::shared_ptr<Stream> stream;
  enum class As { tls, plain } as = As::tls;
};

Result<Met> meet(Task& task, std::unique_ptr<Stream> raw, const GreetingOptions& options) {
  Stream& carrier = *raw;
  const Greetings::Place place(options.under_way, carrier, options.security.max_greetings);
  Deadline deadline(loop_of(task), options.patience.greeting, [&] { carrier.abort(); });
  std::array<char, 1024> first;
  const size_t count = PD_TRY(carrier.read(task, first));
  if (count == 0) return Error(Code::unavailable, "the client said nothing");
  auto all = std::make_unique<PrefixedStream>(std::move(raw), std::string(first.data(), count));
  if (begins_http(first[0])) return Met{std::move(all), Met::As::plain};
  auto tls = std::make_shared<TlsStream>(loop_of(task), std::move(all),
                                         PD_TRY(options.security.identity.session()));
  PD_TRY(tls->handshake(task));
  return Met{std::move(tls)};
}

}  // namespace

Greetings::Place::Place(Greetings& all, Stream& stream, size_t most) : all_(all), stream_(stream) {
  if (all_.waiting_.size() >= most) all_.give_up_oldest();
  all_.waiting_.push_back(this);
}

Greetings::Place::~Place() {
  if (!given_up_) all_.waiting_.remove(this);
}

void Greetings::give_up_oldest() {
  Place* oldest = waiting_.front();
  waiting_.pop_front();
  oldest->given_up_ = true;
  oldest->stream_.abort();
}

std::shared_ptr<Stream> greet(Task& task, std::unique_ptr<Stream> raw,
                              const GreetingOptions& options) {
  auto met = meet(task, std::move(raw), options);
  if (!met.ok()) {
    if (options.security.on_failed) options.security.on_failed(met.error());
    return nullptr;
  }
  if (met->as == Met::As::tls) return std::move(met->stream);
  serve_connection(task, std::move(met->stream), options.security.plain, kForPlain);
  return nullptr;
}

}  // namespace paddock::net::http
