// A push that was kept from leaving until somebody has looked at it.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "egress/git/push_request.h"
#include "model/push_id.h"

namespace paddock::egress {

enum class GitTransport { https, ssh };
inline constexpr EnumNames<GitTransport, 2> kGitTransportNames{
    {{GitTransport::https, "https"}, {GitTransport::ssh, "ssh"}}};

// `releasing`: a release was begun and its end is not on record.
enum class PushState { held, releasing, released };
inline constexpr EnumNames<PushState, 3> kPushStateNames{{{PushState::held, "held"},
                                                          {PushState::releasing, "releasing"},
                                                          {PushState::released, "released"}}};

// One try to release it.
enum class ReleaseEnd { sent, already_there, refused, failed };
inline constexpr EnumNames<ReleaseEnd, 4> kReleaseEndNames{
    {{ReleaseEnd::sent, "sent"},
     {ReleaseEnd::already_there, "already_there"},
     {ReleaseEnd::refused, "refused"},  // by the rules in force, or by the host
     {ReleaseEnd::failed, "failed"}}};

struct PushRelease {
  int64_t time_ms = 0;
  uint32_t uid = 0;  // who asked for it
  ReleaseEnd end = ReleaseEnd::failed;
  std::string reason;  // where nothing was sent; a host's words are masked
};
inline constexpr size_t kMaxPushReleases = 32;  // on record; the newest

struct HeldPush {
  model::PushId id;
  model::SandboxId sandbox;  // that pushed
  PushState state = PushState::held;
  GitTransport transport = GitTransport::https;
  std::string host;  // canonical
  uint16_t port = 443;
  std::string path;        // of the repository, as the program wrote it: "/acme/app.git"
  std::string repository;  // as rules name it: "acme/app"
  std::string rule;        // that held it, "egress:NAME"
  std::string reason;
  std::vector<git::RefChange> changes;
  uint64_t bytes = 0;  // of commands and pack
  int64_t held_ms = 0;
  int64_t released_ms = 0;
  std::vector<PushRelease> releases{};  // oldest first

  // "https://git.example/acme/app.git"
  std::string url() const;
};

// The public form, which is the stored one too. data_corrupt names the field that is wrong.
boost::json::object to_json(const HeldPush& push);
Result<HeldPush> parse_held_push(std::string_view text);

}  // namespace paddock::egress
