#include "service/quota.h"

#include <fmt/core.h>

#include "base/strings.h"

namespace paddock::service {
namespace {

Error over(std::string what) {
  return Error(Code::resource_exhausted, "this API key's quota: " + std::move(what))
      .set_remedy("kill sandboxes that are not needed, or have the server's operator raise it");
}

std::string counted(double number) {
  return fmt::format("{:g}", number);
}

}  // namespace

void Holding::add(const Holding& other) {
  sandboxes += other.sandboxes;
  memory_bytes += other.memory_bytes;
  disk_bytes += other.disk_bytes;
  cpus += other.cpus;
}

Status check_quota(const Quota& quota, const Holding& held, const Holding& asked) {
  if (quota.sandboxes != 0 && held.sandboxes + asked.sandboxes > quota.sandboxes) {
    return over(fmt::format("{} sandboxes at a time", quota.sandboxes));
  }
  auto check = [](const char* what, auto limit, auto have, auto want, auto&& text) -> Status {
    if (limit == 0 || have + want <= limit) return {};
    return over(fmt::format("{} of {} in all, {} are held and {} asked for", text(limit), what,
                            text(have), text(want)));
  };
  PD_TRY(check("memory", quota.memory_bytes, held.memory_bytes, asked.memory_bytes, format_bytes));
  PD_TRY(check("disk", quota.disk_bytes, held.disk_bytes, asked.disk_bytes, format_bytes));
  return check("processors", quota.cpus, held.cpus, asked.cpus, counted);
}

}  // namespace paddock::service
