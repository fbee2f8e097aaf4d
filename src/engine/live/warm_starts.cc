// Of Sandboxes: those that are made before anybody asks for them, and who gets them.
#include <utility>

#include "engine/live/catalogue.h"
#include "engine/live/live_record.h"
#include "engine/live/sandboxes.h"
#include "sys/fault_point.h"
#include "sys/free_memory.h"

namespace paddock::engine {
namespace {

// Its agent ends with its stream as long as nobody has taken it.
constexpr int64_t kUntilTakenMs = 10LL * 365 * 86'400 * 1000;
// With less of the machine's memory free than this part none are made.
constexpr uint64_t kFreePart = 10;

}  // namespace

WarmPool::Hooks Sandboxes::pool_hooks() {
  WarmPool::Hooks hooks;
  hooks.make = [this](net::Task& task, const std::string& name) { return make_warm(task, name); };
  hooks.discard = [this](net::Task& task, Warm warm) { discard(task, std::move(warm)); };
  hooks.has_room = [this] {
    // Whoever waits goes first.
    if (!creating_.empty() || sandboxes_.size() >= options_.max_sandboxes) return false;
    const sys::FreeMemory memory = sys::free_memory();
    return memory.available_bytes >= memory.total_bytes / kFreePart;
  };
  hooks.on_failed = [this](const std::string& name, const Error& why) {
    if (options_.observer != nullptr) options_.observer->on_pool_failed(name, why);
  };
  hooks.on_changed = [this](const std::string& name, size_t ready) {
    if (options_.observer != nullptr) options_.observer->on_pool_size(name, ready);
  };
  return hooks;
}

Result<std::pair<std::string, Warm>> Sandboxes::make_warm(net::Task& task,
                                                          const std::string& template_name) {
  CreateRequest request;
  request.template_name = template_name;
  request.timeout_ms = kUntilTakenMs;
  Entry entry = PD_TRY(make(task, std::move(request), Taker::nobody_yet));
  Warm warm{std::move(entry.sandbox), std::move(entry.record)};
  warm.sandbox->begin();
  Status started = start_services(task, *warm.sandbox);
  if (!started.ok()) {
    discard(task, std::move(warm));
    return std::move(started).error();
  }
  const std::string id = warm.sandbox->id();
  return std::pair(id, std::move(warm));
}

void Sandboxes::discard(net::Task& task, Warm warm) {
  const Status destroyed = warm.sandbox->kill(task, "nobody asked for it");
  (void)books_
      .run(task,
           [&, info = warm.sandbox->info()] {
             if (!destroyed.ok()) warm.record->abandon();
             warm.record.reset();
             (void)LiveRecords(parts_.database).remove(info.id).ok();
             return Catalogue(parts_.database).set_state(info);
           })
      .ok();
  (void)collect(task).ok();
}

// One without a wish that decides how it starts.
bool Sandboxes::may_be_warm(const CreateRequest& request) const {
  const NetworkRequest& network = request.network;
  return request.purpose == LiveInfo::Purpose::client && pool_.keeps(request.template_name) &&
         !request.origin && !request.workspace && !network.narrowing && network.headers.empty() &&
         network.words.empty();
}

// nullopt: none was ready, or it is not what it was.
std::optional<Sandboxes::Entry> Sandboxes::take_warm(net::Task& task,
                                                     const CreateRequest& request) {
  if (!may_be_warm(request)) return std::nullopt;
  std::optional<Warm> warm = pool_.take(request.template_name);
  if (options_.observer != nullptr) {
    options_.observer->on_pool_asked(request.template_name,
                                     warm ? Observer::Pool::hit : Observer::Pool::miss);
  }
  if (!warm) return std::nullopt;
  if (Status taken = hand_over(task, *warm, request); !taken.ok()) {
    if (options_.observer != nullptr) {
      options_.observer->on_pool_failed(request.template_name, taken.error());
    }
    discard(task, std::move(*warm));
    return std::nullopt;
  }
  return Entry{std::move(warm->sandbox), std::move(warm->record)};
}

// In the order of one that is made: first the record, then its agent may outlive us.
Status Sandboxes::hand_over(net::Task& task, const Warm& warm, const CreateRequest& request) {
  LiveSandbox& sandbox = *warm.sandbox;
  sandbox.hand_over(info_of(request, sandbox.info().id), request.network);
  const bool is_leased = options_.lifetime == isolation::Lifetime::leased;
  Status listed = books_.run(task, [&, info = sandbox.info()]() -> Status {
    Catalogue catalogue(parts_.database);
    PD_TRY(catalogue.add(info));
    PD_TRY(catalogue.set_layer(info.id, info.layer));
    if (!is_leased) return {};
    return LiveRecords(parts_.database).put(info.id, record_of(sandbox));
  });
  sys::fault_point("live.warm.recorded");
  if (listed.ok()) listed = sandbox.set_deadline(task, sandbox.info().deadline_ms);
  if (listed.ok() && is_leased) listed = sandbox.outlive(task);
  sys::fault_point("live.warm.leased");
  return listed;
}

}  // namespace paddock::engine
