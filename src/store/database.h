// paddock.db: one SQLite file in WAL mode, written by every `run` and by the daemon in short
// transactions. Layers above declare their tables in store/schema.cc and keep their own queries.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace paddock::store {

using Value = std::variant<std::monostate, int64_t, std::string>;  // NULL, INTEGER, TEXT or BLOB

class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}
  bool is_null(size_t column) const { return values_.at(column).index() == 0; }
  int64_t integer(size_t column) const;          // 0 for NULL
  const std::string& text(size_t column) const;  // "" for NULL

 private:
  std::vector<Value> values_;
};

// One connection. Used by one thread at a time; processes share the file. Busy waits up to 10 s.
class Database {
 public:
  // Creates the file (0600) and brings its schema to this build's version. failed_precondition when
  // a newer build wrote it; data_corrupt when it is no database of ours.
  static Result<Database> open(const std::string& path);

  // Runs one statement with `?` parameters.
  Result<std::vector<Row>> query(std::string_view sql, const std::vector<Value>& parameters = {});
  Status execute(std::string_view sql, const std::vector<Value>& parameters = {});
  // BEGIN IMMEDIATE … COMMIT around `body`; rolled back when it fails.
  Status transaction(const std::function<Status()>& body);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  explicit Database(sqlite3* db) : db_(db) {}
  Status migrate();

  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace paddock::store
