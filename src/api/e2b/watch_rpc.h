// The calls of filesystem.Filesystem that watch directories.
#pragma once

#include <string_view>

#include "api/e2b/rpc.h"
#include "wire/files.pb.h"

namespace paddock::api::e2b {

bool is_watch_method(std::string_view method);
// WatchDir streams; CreateWatcher, GetWatcherEvents and RemoveWatcher are for who asks from time to
// time.
Status serve_watch(const Call& call, std::string_view method);

// As one message of the stream has it.
boost::json::object to_json(const wire::WatchEvent& event);

}  // namespace paddock::api::e2b
