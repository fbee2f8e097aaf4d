// `paddock-agent files …`: file operations inside the sandbox, as its user, one a process. The
// protocol is in wire/files.proto.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "wire/files.pb.h"

namespace paddock::agent::files {

inline constexpr size_t kMaxEntries = 50'000;

// Runs the operation that the arguments name over descriptors 0 and 1. Returns the exit status.
int run(const std::vector<std::string>& arguments);

// Its parts, for tests.
Result<wire::FileEntry> describe(const std::string& path);
Status list(const std::string& path, uint64_t depth, wire::FilesReply& reply);
Status make_directory(const std::string& path);
Status move(const std::string& from, const std::string& to);

struct WriteRequest {
  std::string path;
  std::vector<std::string> metadata;  // "key=value"
};
// Frames from `input`; see the protocol.
Status write(const WriteRequest& request, const sys::Fd& input);

}  // namespace paddock::agent::files
