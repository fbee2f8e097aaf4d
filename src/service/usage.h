// What each API key used, by day: what a bill is made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace paddock::service {

struct KeyUsage {
  uint64_t sandboxes = 0;   // that ended
  uint64_t sandbox_ms = 0;  // they lived
  uint64_t cpu_us = 0;
  uint64_t received_bytes = 0;  // of requests
  uint64_t sent_bytes = 0;      // of answers
  bool operator==(const KeyUsage&) const = default;

  void add(const KeyUsage& other);
};

struct UsageRow {
  std::string key;    // id; empty: the keeper's, without a key
  std::string label;  // of the key
  std::string day;    // UTC, "2026-11-30"
  KeyUsage usage;
};

std::string day_of(int64_t wall_ms);

// The table `key_usage`. Used by the thread that uses the database.
class UsageBook {
 public:
  explicit UsageBook(store::Database& database) : database_(database) {}

  // To what that key has used on that day, in one transaction.
  Status add(const std::map<std::string, KeyUsage>& by_key, const std::string& day);
  // From that day on (empty: all), by day and key.
  Result<std::vector<UsageRow>> list(const std::string& since);

 private:
  store::Database& database_;
};

}  // namespace paddock::service
