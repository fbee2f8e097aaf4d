#include "store/database.h"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings.h"
#include "store/schema.h"

namespace paddock::store {
namespace {

constexpr int kBusyTimeoutMs = 10'000;
constexpr int kRetryMs = 5;

Error fail(sqlite3* db, std::string_view doing) {
  int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  Code ours = code == SQLITE_FULL                                  ? Code::resource_exhausted
              : code == SQLITE_BUSY                                ? Code::unavailable
              : code == SQLITE_CORRUPT || code == SQLITE_NOTADB    ? Code::data_corrupt
              : code == SQLITE_CONSTRAINT                          ? Code::already_exists
              : code == SQLITE_CANTOPEN || code == SQLITE_READONLY ? Code::permission_denied
                                                                   : Code::internal;
  return Error(ours,
               fmt::format("{}: {}", doing, db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

int bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (auto* integer = std::get_if<int64_t>(&value))
    return sqlite3_bind_int64(statement, index, *integer);
  if (auto* text = std::get_if<std::string>(&value)) {
    int size = static_cast<int>(text->size());
    // Bytes that are no text (file names) are kept as a BLOB; readers see both as std::string.
    return is_valid_utf8(*text) && text->find('\0') == std::string::npos
               ? sqlite3_bind_text(statement, index, text->data(), size, SQLITE_TRANSIENT)
               : sqlite3_bind_blob(statement, index, text->data(), size, SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, index);
}

Value column(sqlite3_stmt* statement, int index) {
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_NULL:
      return std::monostate{};
    case SQLITE_INTEGER:
      return static_cast<int64_t>(sqlite3_column_int64(statement, index));
    default: {
      const void* bytes = sqlite3_column_blob(statement, index);
      auto size = static_cast<size_t>(sqlite3_column_bytes(statement, index));
      return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
    }
  }
}

}  // namespace

int64_t Row::integer(size_t column) const {
  auto* value = std::get_if<int64_t>(&values_.at(column));
  return value == nullptr ? 0 : *value;
}

const std::string& Row::text(size_t column) const {
  static const std::string kEmpty;
  auto* value = std::get_if<std::string>(&values_.at(column));
  return value == nullptr ? kEmpty : *value;
}

void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

Result<Database> Database::open(const std::string& path) {
  sqlite3* raw = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, nullptr);
  Database db(raw);
  if (code != SQLITE_OK) return fail(raw, "opening " + printable(path));
  ::chmod(path.c_str(), 0600);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  // Closing the last connection would copy the log into the file and sync both: four waits for the
  // disk in every `run`. The log is copied when it is long instead.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // Switching to WAL fails at once, without the busy handler, while another process opens the file.
  for (int waited_ms = 0;; waited_ms += kRetryMs) {
    Status switched = db.execute("PRAGMA journal_mode=WAL");
    if (switched.ok()) break;
    if (switched.error().code() != Code::unavailable || waited_ms >= kBusyTimeoutMs)
      return std::move(switched).error();
    ::usleep(kRetryMs * 1000);
  }
  // NORMAL: a transaction survives the death of the process, and the last ones may be lost with the
  // machine. What must survive that (layers, bases, journals of apply) syncs on its own first.
  // The first process to open the file reads the log from its beginning: 200 pages are read in half
  // a millisecond, the default of 1000 in two and a half, and are written by some ten runs.
  for (const char* pragma : {"PRAGMA synchronous=NORMAL", "PRAGMA wal_autocheckpoint=200",
                             "PRAGMA foreign_keys=ON", "PRAGMA trusted_schema=OFF"}) {
    PD_TRY(db.execute(pragma));
  }
  PD_TRY_CTX("opening " + printable(path), db.migrate());
  return db;
}

Status Database::migrate() {
  auto version = [&]() -> Result<size_t> {
    auto rows = PD_TRY(query("PRAGMA user_version"));
    return static_cast<size_t>(rows.at(0).integer(0));
  };
  if (PD_TRY(version()) == kMigrations.size()) return {};
  return transaction([&]() -> Status {
    // Read again under the lock: another process may have migrated meanwhile.
    size_t from = PD_TRY(version());
    if (from > kMigrations.size()) {
      return Error(Code::failed_precondition, "the database was written by a newer paddock")
          .set_remedy("use that version, or another PADDOCK_HOME");
    }
    for (size_t step = from; step < kMigrations.size(); ++step) {
      if (sqlite3_exec(db_.get(), std::string(kMigrations[step]).c_str(), nullptr, nullptr,
                       nullptr) != SQLITE_OK) {
        return fail(db_.get(), fmt::format("migrating the schema from version {}", step));
      }
    }
    return execute(fmt::format("PRAGMA user_version={}", kMigrations.size()));
  });
}

Result<std::vector<Row>> Database::query(std::string_view sql,
                                         const std::vector<Value>& parameters) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr) !=
      SQLITE_OK) {
    return fail(db_.get(), "preparing a statement");
  }
  Statement statement(raw);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (bind(raw, static_cast<int>(i) + 1, parameters[i]) != SQLITE_OK) {
      return fail(db_.get(), "binding a parameter");
    }
  }
  std::vector<Row> rows;
  while (true) {
    int code = sqlite3_step(raw);
    if (code == SQLITE_DONE) return rows;
    if (code != SQLITE_ROW) return fail(db_.get(), "running a statement");
    std::vector<Value> values;
    for (int i = 0; i < sqlite3_column_count(raw); ++i) values.push_back(column(raw, i));
    rows.emplace_back(std::move(values));
  }
}

Status Database::execute(std::string_view sql, const std::vector<Value>& parameters) {
  (void)PD_TRY(query(sql, parameters));
  return {};
}

Status Database::transaction(const std::function<Status()>& body) {
  PD_TRY(execute("BEGIN IMMEDIATE"));
  Status done = body();
  if (done.ok()) done = execute("COMMIT");
  if (!done.ok()) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

}  // namespace paddock::store
