// Secrets that clients keep here for the headers of `network.rules`: created, replaced, listed,
// never told again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "egress/credentials/secret.h"
#include "egress/credentials/secret_store.h"
#include "model/owner.h"

namespace paddock::api::e2b {

struct SecretRow {
  std::string id;    // "sec_…"
  std::string name;  // lower case, unique for its owner
  model::Owner owner;
  int64_t version = 1;
  std::map<std::string, std::string> metadata;
  int64_t created_ms = 0;
  int64_t updated_ms = 0;
};

// In a store of the gate's own form, apart from the one that policy's credentials are in: a client
// cannot name what `paddock secret` keeps. Everything but the id is encrypted. Reads and writes
// small files; used on one thread.
class SecretBook {
 public:
  explicit SecretBook(std::string directory) : store_(std::move(directory)) {}

  struct Change {
    std::string value;
    std::map<std::string, std::string> metadata;
  };
  // What a caller may not see does not exist for it. already_exists: of that name.
  // invalid_argument: a name, value or metadata that cannot be.
  Result<SecretRow> create(const model::Caller& caller, const std::string& name,
                           Change change) const;
  // `key` is an id or a name, here and below. not_found: there is none.
  Result<SecretRow> replace(const model::Caller& caller, const std::string& key,
                            Change change) const;
  Result<SecretRow> find(const model::Caller& caller, const std::string& key) const;
  Status remove(const model::Caller& caller, const std::string& key) const;
  // By name.
  Result<std::vector<SecretRow>> list(const model::Caller& caller) const;
  Result<egress::Secret> value_of(const model::Caller& caller, const std::string& name) const;

 private:
  struct Record {
    SecretRow row;
    std::string value;
  };
  Result<Record> read(const std::string& id) const;
  Result<Record> find_record(const model::Caller& caller, const std::string& key) const;
  Status write(const Record& record) const;

  egress::SecretStore store_;
};

}  // namespace paddock::api::e2b
