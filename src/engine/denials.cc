#include "engine/denials.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxDenialText = 512;

std::string bounded(const std::string& text) {
  return text.substr(0, kMaxDenialText);
}

bool same_thing(const model::Denial& a, const model::Denial& b) {
  return a.kind == b.kind && a.what == b.what && a.rule == b.rule && a.process == b.process;
}

// How to ask for what the sandbox itself refused: "tcp 192.0.2.1:443" and names can be given.
std::string way_out(const model::Denial& denial) {
  constexpr std::string_view kTcp = "tcp ";
  if (denial.kind == model::DenialKind::name) return "--allow " + printable(denial.what);
  if (denial.what.starts_with(kTcp)) return "--allow " + printable(denial.what.substr(kTcp.size()));
  return "only TCP leaves a sandbox, to what --allow or policy names";
}

}  // namespace

const model::Denial* Denials::add(const wire::Denied& denied) {
  model::Denial denial;
  denial.what = bounded(denied.what());
  denial.pid = denied.pid();
  denial.process = bounded(denied.process());
  denial.count = std::max<uint64_t>(denied.count(), 1);
  denial.first_ms = denied.first_ms();
  switch (denied.kind()) {
    case wire::Denied::NETWORK:
    case wire::Denied::NAME:
      denial.kind = denied.kind() == wire::Denied::NAME ? model::DenialKind::name
                                                        : model::DenialKind::network;
      denial.rule = "egress";
      denial.remedy = way_out(denial);
      break;
    default:
      denial.kind = model::DenialKind::syscall;
      denial.rule = "seccomp:" + denial.what;
      break;
  }
  dropped_inside_ = std::max(dropped_inside_, denied.dropped());
  return add(std::move(denial));
}

const model::Denial* Denials::add(model::Denial denial) {
  auto same = std::find_if(records_.begin(), records_.end(),
                           [&](const model::Denial& other) { return same_thing(other, denial); });
  if (same != records_.end()) {
    same->count += denial.count;
  } else if (records_.size() < kMaxDenials) {
    return &records_.emplace_back(std::move(denial));
  } else {
    dropped_by_us_ += denial.count;
  }
  return nullptr;
}

}  // namespace paddock::engine
