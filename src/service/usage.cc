#include "service/usage.h"

#include "service/audit_line.h"

namespace paddock::service {
namespace {

int64_t number(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace

void KeyUsage::add(const KeyUsage& other) {
  sandboxes += other.sandboxes;
  sandbox_ms += other.sandbox_ms;
  cpu_us += other.cpu_us;
  received_bytes += other.received_bytes;
  sent_bytes += other.sent_bytes;
}

std::string day_of(int64_t wall_ms) {
  return rfc3339(wall_ms).substr(0, 10);
}

Status UsageBook::add(const std::map<std::string, KeyUsage>& by_key, const std::string& day) {
  return database_
      .transaction([&]() -> Status {
        for (const auto& [key, used] : by_key) {
          PD_TRY(database_.execute(
              "INSERT INTO key_usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key, day) DO UPDATE "
              "SET sandboxes = sandboxes + excluded.sandboxes, sandbox_ms = sandbox_ms + "
              "excluded.sandbox_ms, cpu_us = cpu_us + excluded.cpu_us, received_bytes = "
              "received_bytes + excluded.received_bytes, sent_bytes = sent_bytes + "
              "excluded.sent_bytes",
              {key, day, number(used.sandboxes), number(used.sandbox_ms), number(used.cpu_us),
               number(used.received_bytes), number(used.sent_bytes)}));
        }
        return {};
      })
      .with_context("writing what keys used");
}

Result<std::vector<UsageRow>> UsageBook::list(const std::string& since) {
  std::vector<UsageRow> out;
  for (const store::Row& row : PD_TRY(database_.query(
           "SELECT u.key, ifnull(k.label, ''), u.day, u.sandboxes, u.sandbox_ms, u.cpu_us, "
           "u.received_bytes, u.sent_bytes FROM key_usage u LEFT JOIN api_key k ON k.id = u.key "
           "WHERE u.day >= ? ORDER BY u.day, u.key",
           {since}))) {
    auto value = [&](size_t column) { return static_cast<uint64_t>(row.integer(column)); };
    out.push_back({row.text(0),
                   row.text(1),
                   row.text(2),
                   {value(3), value(4), value(5), value(6), value(7)}});
  }
  return out;
}

}  // namespace paddock::service
