#include "engine/denials.h"

#include <algorithm>
#include <string>
#include <utility>

namespace paddock::engine {
namespace {

constexpr size_t kMaxText = 512;

std::string bounded(const std::string& text) {
  return text.substr(0, kMaxText);
}

bool same_thing(const model::Denial& a, const model::Denial& b) {
  return a.kind == b.kind && a.what == b.what && a.rule == b.rule && a.process == b.process;
}

constexpr const char* kNoEgress =
    "no policy gives a sandbox network access in this version: fetch what is needed before, and "
    "hand it "
    "in with --mount";

}  // namespace

void Denials::add(const wire::Denied& denied) {
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
      denial.rule = "network = none";
      denial.remedy = kNoEgress;
      break;
    default:
      denial.kind = model::DenialKind::syscall;
      denial.rule = "seccomp:" + denial.what;
      break;
  }
  dropped_inside_ = std::max(dropped_inside_, denied.dropped());
  add(std::move(denial));
}

void Denials::add(model::Denial denial) {
  auto same = std::find_if(records_.begin(), records_.end(),
                           [&](const model::Denial& other) { return same_thing(other, denial); });
  if (same != records_.end()) {
    same->count += denial.count;
  } else if (records_.size() < kMaxDenials) {
    records_.push_back(std::move(denial));
  } else {
    dropped_by_us_ += denial.count;
  }
}

}  // namespace paddock::engine
