#include "service/audit_files.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::service {
namespace {

constexpr std::string_view kFilePrefix = "audit-";
constexpr std::string_view kSuffix = ".jsonl";

std::optional<uint64_t> number_of(std::string_view name) {
  if (!name.starts_with(kFilePrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const auto number =
      parse_u64(name.substr(kFilePrefix.size(), name.size() - kFilePrefix.size() - kSuffix.size()));
  if (!number || segment_name(*number) != name) return std::nullopt;
  return number;
}

}  // namespace

std::string segment_name(uint64_t number) {
  return fmt::format("{}{:08}{}", kFilePrefix, number, kSuffix);
}

Result<std::vector<uint64_t>> audit_segments(const std::string& directory) {
  std::vector<uint64_t> out;
  const sys::DirFd folder = PD_TRY(sys::open_dir(directory));
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(folder))) {
    if (const auto number = number_of(entry.name)) out.push_back(*number);
  }
  std::ranges::sort(out);
  return out;
}

Result<std::optional<AuditPoint>> read_audit_head(const std::string& directory) {
  auto text = sys::read_file(directory + "/head", 4096);
  if (!text.ok() && text.error().code() == Code::not_found) return std::optional<AuditPoint>();
  if (!text.ok()) return std::move(text).error();
  const std::string_view line = trim(*text);
  const size_t blank = line.find(' ');
  const auto seq = parse_u64(line.substr(0, blank));
  if (!seq || blank == std::string_view::npos || line.size() - blank != 65) {
    return Error(Code::data_corrupt, "the audit log's `head` is not what was written");
  }
  return std::optional(AuditPoint{*seq, std::string(line.substr(blank + 1))});
}

Status write_audit_head(const std::string& directory, const AuditPoint& point) {
  return sys::replace_file(directory + "/head", fmt::format("{} {}\n", point.seq, point.hash),
                           0600);
}

}  // namespace paddock::service
