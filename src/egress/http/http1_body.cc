#include "egress/http/http1_body.h"

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::egress::http {
namespace {

constexpr size_t kBodyRead = 16 * 1024;

Error cut_off() {
  return Error(Code::unavailable, "HTTP: the connection ended inside a body");
}

}  // namespace

Result<size_t> Inflow::read_more(net::Task& task) {
  PD_TRY(stream->wait_readable(task));
  std::array<char, kBodyRead> buffer;
  const size_t count = PD_TRY(stream->read(task, buffer));
  pending.append(buffer.data(), count);
  return count;
}

Result<size_t> Http1Body::read_more(net::Task& task) {
  if (auto before = std::exchange(before_, nullptr)) PD_TRY(before(task));
  return inflow_.read_more(task);
}

Result<std::string> Http1Body::read_sized(net::Task& task) {
  if (left_ == 0) return std::string();
  if (inflow_.pending.empty() && PD_TRY(read_more(task)) == 0) return cut_off();
  const size_t count = static_cast<size_t>(std::min<uint64_t>(left_, inflow_.pending.size()));
  left_ -= count;
  if (count == inflow_.pending.size()) return std::exchange(inflow_.pending, {});
  std::string out = inflow_.pending.substr(0, count);
  inflow_.pending.erase(0, count);
  return out;
}

Result<std::string> Http1Body::read_chunked(net::Task& task) {
  std::string out;
  size_t used = 0;
  while (!decoder_.finished()) {
    const auto step = PD_TRY(decoder_.next(std::string_view(inflow_.pending).substr(used)));
    out += step.data;
    used += step.used;
    if (step.used > 0) continue;
    inflow_.pending.erase(0, std::exchange(used, 0));
    if (!out.empty()) return out;
    if (PD_TRY(read_more(task)) == 0) return cut_off();
  }
  inflow_.pending.erase(0, used);
  return out;
}

Result<std::string> Http1Body::read_some(net::Task& task) {
  auto bytes = read_any(task);
  broken_ = !bytes.ok();
  return bytes;
}

Result<std::string> Http1Body::read_any(net::Task& task) {
  switch (body_.kind) {
    case BodyKind::none:
      return std::string();
    case BodyKind::sized:
      return read_sized(task);
    case BodyKind::chunked:
      return read_chunked(task);
    case BodyKind::until_close:
      if (inflow_.pending.empty()) PD_TRY(read_more(task));
      return std::exchange(inflow_.pending, {});
  }
  return std::string();
}

Status send_http1_body(net::Task& task, net::Stream& to, BodySource& from, const Body& framing,
                       BodyFilter& filter) {
  const bool chunked = framing.kind == BodyKind::chunked;
  std::string out;
  while (framing.kind != BodyKind::none) {
    const std::string bytes = PD_TRY(from.read(task));
    out.clear();
    PD_TRY(bytes.empty() ? filter.finish(out) : filter.feed(bytes, out));
    if (!out.empty()) PD_TRY(to.write(task, chunked ? chunk_of(out) : out));
    if (bytes.empty()) break;
  }
  if (!chunked) return {};
  Fields trailers = from.trailers();
  PD_TRY(filter.see_trailers(trailers));
  return to.write(task, last_chunk(trailers));
}

}  // namespace paddock::egress::http
