#include "api/e2b/secrets.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/e2b/json.h"
#include "base/strings.h"
#include "egress/credentials/hmac.h"
#include "egress/http/message.h"
#include "sys/clock.h"
#include "sys/random.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;

constexpr std::string_view kIdPrefix = "sec_";
constexpr size_t kIdBytes = 10;
constexpr size_t kMaxSecrets = 1000;
constexpr size_t kMaxName = 64;
constexpr size_t kMaxValue = 8192;
constexpr size_t kMaxSecretMetadata = 32;
constexpr size_t kMaxMetadataBytes = 8192;

Error wrong_secret(std::string why) {
  return Error(Code::invalid_argument, std::move(why));
}

Error unknown(const std::string& key) {
  return Error(Code::not_found, "no secret " + printable(key.substr(0, kMaxName)));
}

Status check_name(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
  if (plain && !name.empty() && name.size() <= kMaxName && !name.starts_with(kIdPrefix)) return {};
  return wrong_secret(
             fmt::format("'{}' is no name of a secret", printable(name.substr(0, kMaxName))))
      .set_remedy("use letters, digits, '-', '_' and '.', not beginning with sec_");
}

Status check_change(const SecretBook::Change& change) {
  const bool clean = std::ranges::all_of(
      change.value, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (change.value.empty() || change.value.size() > kMaxValue || !clean) {
    return wrong_secret(fmt::format(
        "the value is empty, longer than {} bytes or holds control characters", kMaxValue));
  }
  size_t bytes = 0;
  for (const auto& [key, value] : change.metadata) bytes += key.size() + value.size();
  if (change.metadata.size() > kMaxSecretMetadata || bytes > kMaxMetadataBytes) {
    return wrong_secret(fmt::format("more metadata than {} entries or {} bytes", kMaxSecretMetadata,
                                    kMaxMetadataBytes));
  }
  return {};
}

}  // namespace

Result<SecretBook::Record> SecretBook::read(const std::string& id) const {
  const egress::Secret sealed = PD_TRY(store_.get(id));
  const object fields = PD_TRY(parse_object(sealed.reveal()));
  Record record;
  record.row.id = id;
  record.row.name = PD_TRY(text_field(fields, "name")).value_or("");
  const std::string owner = PD_TRY(text_field(fields, "owner")).value_or("");
  if (!owner.empty()) record.row.owner.key = PD_TRY(model::KeyId::parse(owner));
  record.row.version = PD_TRY(number_field(fields, "version")).value_or(1);
  record.row.metadata = PD_TRY(map_field(fields, "metadata"));
  record.row.created_ms = PD_TRY(number_field(fields, "created")).value_or(0);
  record.row.updated_ms = PD_TRY(number_field(fields, "updated")).value_or(0);
  record.value = PD_TRY(text_field(fields, "value")).value_or("");
  return record;
}

Status SecretBook::write(const Record& record) const {
  object fields, metadata;
  for (const auto& [key, value] : record.row.metadata) metadata[key] = value;
  fields["name"] = record.row.name;
  fields["owner"] = record.row.owner.key.str();
  fields["version"] = record.row.version;
  fields["metadata"] = std::move(metadata);
  fields["created"] = record.row.created_ms;
  fields["updated"] = record.row.updated_ms;
  fields["value"] = record.value;
  return store_.put(record.row.id, egress::Secret(boost::json::serialize(fields)));
}

Result<SecretBook::Record> SecretBook::find_record(const model::Caller& caller,
                                                   const std::string& key) const {
  const std::string wanted = egress::http::lower_case(key);
  for (const std::string& id : PD_TRY(store_.names())) {
    if (wanted.starts_with(kIdPrefix) && id != wanted) continue;
    Record record = PD_TRY(read(id));
    if (!caller.may_see(record.row.owner)) continue;
    if (id == wanted || record.row.name == wanted) return record;
  }
  return unknown(key);
}

Result<SecretRow> SecretBook::create(const model::Caller& caller, const std::string& name,
                                     Change change) const {
  Record record;
  record.row.name = egress::http::lower_case(name);
  record.row.owner = caller.owner;
  PD_TRY(check_name(record.row.name));
  PD_TRY(check_change(change));
  auto before = find_record({.owner = caller.owner}, record.row.name);
  if (before.ok()) return Error(Code::already_exists, "there is a secret " + record.row.name);
  if (before.error().code() != Code::not_found) return std::move(before).error();
  if (PD_TRY(store_.names()).size() >= kMaxSecrets) {
    return Error(Code::resource_exhausted, fmt::format("more than {} secrets", kMaxSecrets))
        .set_remedy("delete some that are not needed");
  }
  record.row.id = std::string(kIdPrefix) + egress::to_hex(sys::random_bytes(kIdBytes));
  record.row.metadata = std::move(change.metadata);
  record.row.created_ms = record.row.updated_ms = sys::wall_clock_ms();
  record.value = std::move(change.value);
  PD_TRY(write(record));
  return record.row;
}

Result<SecretRow> SecretBook::replace(const model::Caller& caller, const std::string& key,
                                      Change change) const {
  Record record = PD_TRY(find_record(caller, key));
  PD_TRY(check_change(change));
  ++record.row.version;
  record.row.metadata = std::move(change.metadata);
  record.row.updated_ms = sys::wall_clock_ms();
  record.value = std::move(change.value);
  PD_TRY(write(record));
  return record.row;
}

Result<SecretRow> SecretBook::find(const model::Caller& caller, const std::string& key) const {
  return PD_TRY(find_record(caller, key)).row;
}

Status SecretBook::remove(const model::Caller& caller, const std::string& key) const {
  return store_.remove(PD_TRY(find_record(caller, key)).row.id);
}

Result<std::vector<SecretRow>> SecretBook::list(const model::Caller& caller) const {
  std::vector<SecretRow> rows;
  for (const std::string& id : PD_TRY(store_.names())) {
    SecretRow row = PD_TRY(read(id)).row;
    if (caller.may_see(row.owner)) rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, {}, &SecretRow::name);
  return rows;
}

Result<egress::Secret> SecretBook::value_of(const model::Caller& caller,
                                            const std::string& name) const {
  return egress::Secret(PD_TRY(find_record(caller, name)).value);
}

}  // namespace paddock::api::e2b
