// Files of a live sandbox, through `paddock-agent files` inside (wire/files.proto): the host opens
// no path of the sandbox's. Where the sandbox has several users it reaches every file, as root
// there, and what it makes is the named user's. What comes back is hostile and bounded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/guest_user.h"
#include "engine/live/live_sandbox.h"
#include "wire/files.pb.h"

namespace paddock::engine {

// A path as a client wrote it, made absolute as text: relative ones and "~" are of `home`, "." and
// ".." are taken out. What symlinks mean is decided inside. invalid_argument: a zero byte, or
// longer than a path can be.
Result<std::string> guest_path(std::string_view text, const std::string& home);
// The same, where relative ones are of `from`.
Result<std::string> guest_path(std::string_view text, const std::string& home,
                               const std::string& from);

// Each a command inside of its own. Errors carry the errno of inside: not_found, already_exists,
// permission_denied, resource_exhausted (the disk is full) …
Result<wire::FileEntry> stat_file(net::Task& task, const Inside& inside, const std::string& path);
struct Listing {
  std::vector<wire::FileEntry> entries;
  bool truncated = false;
};
Result<Listing> list_files(net::Task& task, const Inside& inside, const std::string& path,
                           uint32_t depth);
Result<wire::FileEntry> make_directory(net::Task& task, const Inside& inside,
                                       const std::string& path);
Result<wire::FileEntry> move_file(net::Task& task, const Inside& inside, const std::string& from,
                                  const std::string& to);
Status remove_file(net::Task& task, const Inside& inside, const std::string& path);

// One running operation of that program.
class FileCommand {
 public:
  static Result<std::unique_ptr<FileCommand>> start(net::Task& task, const Inside& inside,
                                                    std::vector<std::string> words,
                                                    ProcessRequest::Input input);
  // Ends the operation if it still runs.
  ~FileCommand();

  // The reply's frame. Its error comes back as an Error.
  Result<wire::FilesReply> reply(net::Task& task);
  // A frame that follows the reply. nullopt: none came within the time, or wake() was called.
  // unavailable: the operation has ended.
  Result<std::optional<std::string>> next_frame(net::Task& task,
                                                std::chrono::milliseconds patience);
  // Ends the wait of next_frame(), now or the next one.
  void wake() { started_.reader->wake(); }
  // Input without a frame around it.
  Status send_raw(net::Task& task, std::string_view bytes);
  // What follows the reply, as it comes; empty at a good end.
  Result<std::string> more(net::Task& task);
  // A frame of input; not empty. The reply tells why when it fails.
  Status send(net::Task& task, std::string_view bytes);
  // The last frame.
  Status commit(net::Task& task);

 private:
  FileCommand(net::Loop& loop, LiveSandbox::Started started)
      : loop_(loop), started_(std::move(started)) {}
  enum class Filled { yes, no, ended };
  // More bytes into buffer_, or nothing within the time.
  Result<Filled> fill_within(net::Task& task, std::chrono::milliseconds patience);
  // The same, where silence is an error; false: the end.
  Result<bool> fill(net::Task& task);
  bool has_frame() const;
  // no_sense: longer than any reply.
  Status check_length() const;
  std::string take_frame();

  net::Loop& loop_;
  LiveSandbox::Started started_;
  std::string buffer_;
  bool ended_ = false;
};

struct WriteOptions {
  std::string path;
  std::vector<std::string> metadata;  // "key=value"
};
// Bytes go in by send(), and become the file by commit() and a good reply().
Result<std::unique_ptr<FileCommand>> begin_write(net::Task& task, const Inside& inside,
                                                 const WriteOptions& options);
// The reply has the file's entry; more() its bytes.
Result<std::unique_ptr<FileCommand>> begin_read(net::Task& task, const Inside& inside,
                                                const std::string& path);

}  // namespace paddock::engine
