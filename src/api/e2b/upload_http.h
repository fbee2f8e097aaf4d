// Archives of COPY steps on their way in, by signed links: whoever has one needs no API key.
#pragma once

#include <string>
#include <string_view>

#include "api/e2b/access.h"
#include "api/e2b/control_request.h"
#include "engine/live/builds/uploads.h"
#include "net/http/exchange.h"

namespace paddock::api::e2b {

inline constexpr std::string_view kUploadPath = "/paddock/uploads/";

// Good for an hour, for that one file of that owner.
std::string upload_url(const ControlRequest& request, const engine::UploadName& name);

struct UploadLink {
  std::string owner;  // a key's id, or "keeper"
  std::string hash;
  int64_t expires_s = 0;  // unix time
};
// Path and query, without the host. Pure.
std::string link_text(const UploadLink& link, const AccessTokens& tokens);
// permission_denied: it is not one of ours, or its time is up.
Result<UploadLink> read_link(std::string_view target, const AccessTokens& tokens, int64_t now_s);

// The PUT itself.
Status serve_upload(net::Task& task, net::http::Exchange& exchange, engine::Uploads& uploads,
                    const AccessTokens& tokens);

}  // namespace paddock::api::e2b
