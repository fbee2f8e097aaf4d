#include "egress/git/push_request.h"

#include <algorithm>

#include "base/strings.h"
#include "egress/git/packet.h"

namespace paddock::egress::git {
namespace {

constexpr size_t kMaxChanges = 1024;
constexpr size_t kMaxChangesBytes = 256 * 1024;
constexpr std::string_view kPushOptions = "push-options";

Error corrupt_changes(std::string why) {
  return Error(Code::data_corrupt, "reading what a push changes: " + std::move(why));
}

bool is_id(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// A name that a terminal, a file and another git can be shown.
bool is_ref(std::string_view text) {
  return !text.empty() && text.size() <= 1024 && std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
  });
}

// "OLD NEW REF".
Result<RefChange> parse_change(std::string_view line) {
  const std::vector<std::string> words = split(line, ' ');
  if (words.size() != 3 || !is_id(words[0]) || !is_id(words[1]) ||
      words[0].size() != words[1].size() || !is_ref(words[2])) {
    return corrupt_changes("'" + printable(line.substr(0, 80)) + "' is no command");
  }
  return RefChange{words[0], words[1], words[2]};
}

Status take_command(std::string_view line, PushRequest& request) {
  if (line.starts_with("push-cert")) return corrupt_changes("a signed push");
  if (line.starts_with("shallow ")) return {};
  const size_t nul = line.find('\0');
  if (nul != std::string_view::npos) {
    if (!request.changes.empty()) return corrupt_changes("capabilities behind the first command");
    for (std::string& word : split(line.substr(nul + 1), ' ')) {
      if (!word.empty()) request.capabilities.push_back(std::move(word));
    }
  }
  request.changes.push_back(PD_TRY(parse_change(line.substr(0, nul))));
  if (request.changes.size() > kMaxChanges) return corrupt_changes("too many commands");
  return {};
}

}  // namespace

bool is_null_id(std::string_view id) {
  return id.find_first_not_of('0') == std::string_view::npos;
}

bool PushRequest::has(std::string_view capability) const {
  return std::find(capabilities.begin(), capabilities.end(), capability) != capabilities.end();
}

std::vector<std::string> PushRequest::refs() const {
  std::vector<std::string> out;
  for (const RefChange& change : changes) out.push_back(change.ref);
  return out;
}

bool PushRequest::brings_pack() const {
  return std::any_of(changes.begin(), changes.end(),
                     [](const RefChange& change) { return !is_null_id(change.new_id); });
}

Result<std::optional<PushRequest>> parse_push_request(std::string_view bytes) {
  PushRequest request;
  std::string_view rest = bytes;
  enum class Section { commands, options } section = Section::commands;
  while (true) {
    if (bytes.size() - rest.size() > kMaxChangesBytes) return corrupt_changes("too many commands");
    const std::optional<Packet> packet = PD_TRY(take_packet(rest));
    if (!packet) return std::optional<PushRequest>();
    if (!packet->flush) {
      if (section == Section::commands) PD_TRY(take_command(packet->text(), request));
      continue;
    }
    if (section == Section::options || !request.has(kPushOptions)) break;
    section = Section::options;
  }
  request.size = bytes.size() - rest.size();
  return std::optional(std::move(request));
}

}  // namespace paddock::egress::git
