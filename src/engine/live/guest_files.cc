#include "engine/live/guest_files.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "base/strings.h"
#include "engine/live/start_up.h"

namespace paddock::engine {
namespace {

constexpr std::chrono::seconds kFilesPatience{60};
constexpr size_t kFrameHead = 4;
constexpr uint32_t kMaxReply = 32u << 20;
constexpr size_t kMaxFrame = 256u << 10;

uint32_t length_at(std::string_view bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kFrameHead; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

std::string frame_of(std::string_view bytes) {
  std::string frame;
  frame.reserve(kFrameHead + bytes.size());
  for (int shift = 0; shift < 32; shift += 8) {
    frame.push_back(static_cast<char>(bytes.size() >> shift & 0xff));
  }
  return frame.append(bytes);
}

Error no_sense() {
  return Error(Code::data_corrupt, "the sandbox's file program was disturbed");
}

Result<wire::FilesReply> ask(net::Task& task, const Inside& inside,
                             std::vector<std::string> words) {
  auto command =
      PD_TRY(FileCommand::start(task, inside, std::move(words), ProcessRequest::Input::none));
  return command->reply(task);
}

Result<wire::FileEntry> ask_for_entry(net::Task& task, const Inside& inside,
                                      std::vector<std::string> words) {
  wire::FilesReply reply = PD_TRY(ask(task, inside, std::move(words)));
  if (reply.entries_size() != 1) return no_sense();
  return std::move(*reply.mutable_entries(0));
}

}  // namespace

Result<std::string> guest_path(std::string_view text, const std::string& home) {
  return guest_path(text, home, home);
}

Result<std::string> guest_path(std::string_view text, const std::string& home,
                               const std::string& from) {
  if (text.find('\0') != std::string_view::npos) {
    return Error(Code::invalid_argument, "a path with a zero byte");
  }
  std::string whole(text);
  if (text == "~" || text.starts_with("~/")) {
    whole = home + std::string(text.substr(1));
  } else if (!text.starts_with('/')) {
    whole = from + "/" + whole;
  }
  std::vector<std::string> kept;
  for (std::string& part : split(whole, '/')) {
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(std::move(part));
    }
  }
  std::string path = "/" + join(kept, "/");
  if (path.size() >= PATH_MAX) return Error(Code::invalid_argument, "a path that is too long");
  return path;
}

// ---- one operation

Result<std::unique_ptr<FileCommand>> FileCommand::start(net::Task& task, const Inside& inside,
                                                        std::vector<std::string> words,
                                                        ProcessRequest::Input input) {
  ProcessRequest request;
  request.argv = {kAgentInside, "files"};
  const LiveSetup& setup = inside.sandbox.setup();
  if (setup.users == isolation::Users::several) {
    // As E2B's: files are reached by root and made as the user, who could become root anyway.
    const GuestUser& owner = inside.user ? *inside.user : setup.user;
    request.argv.insert(request.argv.end(), {"--as", fmt::format("{}:{}", owner.uid, owner.gid)});
    request.user = GuestUser{.name = "root", .home = "/", .shell = "/bin/sh"};
  }
  std::move(words.begin(), words.end(), std::back_inserter(request.argv));
  request.directory = "/";
  request.input = input;
  LiveSandbox::Started started = PD_TRY(inside.sandbox.start_hidden(task, std::move(request)));
  return std::unique_ptr<FileCommand>(new FileCommand(net::loop_of(task), std::move(started)));
}

FileCommand::~FileCommand() {
  if (started_.process->has_ended()) return;
  // Closing the input of an unfinished write makes it give up by itself; a reader that nobody hears
  // is ended.
  loop_.spawn([process = started_.process](net::Task& task) {
    process->close_input();
    (void)process->signal(task, SIGTERM).ok();
  });
}

Result<FileCommand::Filled> FileCommand::fill_within(net::Task& task,
                                                     std::chrono::milliseconds patience) {
  while (!ended_) {
    auto output = PD_TRY(started_.reader->next(task, patience));
    if (!output) return Filled::no;
    if (auto* data = std::get_if<OutputData>(&*output)) {
      if (data->kind != OutputKind::standard_output) continue;
      buffer_ += data->bytes;
      return Filled::yes;
    }
    ended_ = true;
    const wire::Ended& ended = std::get<OutputEnd>(*output).ended;
    if (ended.how() != wire::Ended::EXITED || ended.code() != 0) return no_sense();
  }
  return Filled::ended;
}

Result<bool> FileCommand::fill(net::Task& task) {
  const Filled filled = PD_TRY(fill_within(task, kFilesPatience));
  if (filled == Filled::no) {
    return Error(Code::timed_out, "the sandbox's file program does not answer");
  }
  return filled == Filled::yes;
}

bool FileCommand::has_frame() const {
  return buffer_.size() >= kFrameHead && buffer_.size() - kFrameHead >= length_at(buffer_);
}

Status FileCommand::check_length() const {
  if (buffer_.size() >= kFrameHead && length_at(buffer_) > kMaxReply) return no_sense();
  return {};
}

std::string FileCommand::take_frame() {
  const size_t length = length_at(buffer_);
  std::string frame = buffer_.substr(kFrameHead, length);
  buffer_.erase(0, kFrameHead + length);
  return frame;
}

Result<wire::FilesReply> FileCommand::reply(net::Task& task) {
  while (!has_frame()) {
    PD_TRY(check_length());
    if (!PD_TRY(fill(task))) return no_sense();
  }
  wire::FilesReply reply;
  if (!reply.ParseFromString(take_frame())) return no_sense();
  if (reply.error() == 0) return reply;
  return Error::from_errno(reply.error(), printable(reply.message().substr(0, 500)));
}

Result<std::optional<std::string>> FileCommand::next_frame(net::Task& task,
                                                           std::chrono::milliseconds patience) {
  while (!has_frame()) {
    PD_TRY(check_length());
    switch (PD_TRY(fill_within(task, patience))) {
      case Filled::yes:
        break;
      case Filled::no:
        return std::optional<std::string>();
      case Filled::ended:
        return Error(Code::unavailable, "the sandbox's file program has ended");
    }
  }
  return std::optional(take_frame());
}

Result<std::string> FileCommand::more(net::Task& task) {
  if (buffer_.empty()) (void)PD_TRY(fill(task));
  return std::exchange(buffer_, {});
}

Status FileCommand::send(net::Task& task, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxFrame);
    PD_TRY(started_.process->send_input(task, frame_of(piece), kFilesPatience));
    bytes.remove_prefix(piece.size());
  }
  return {};
}

Status FileCommand::send_raw(net::Task& task, std::string_view bytes) {
  return started_.process->send_input(task, bytes, kFilesPatience);
}

Status FileCommand::commit(net::Task& task) {
  return started_.process->send_input(task, frame_of({}), kFilesPatience);
}

// ---- operations

Result<wire::FileEntry> stat_file(net::Task& task, const Inside& inside, const std::string& path) {
  return ask_for_entry(task, inside, {"stat", path});
}

Result<Listing> list_files(net::Task& task, const Inside& inside, const std::string& path,
                           uint32_t depth) {
  wire::FilesReply reply = PD_TRY(ask(task, inside, {"list", std::to_string(depth), path}));
  Listing listing;
  listing.truncated = reply.truncated();
  for (wire::FileEntry& entry : *reply.mutable_entries()) {
    listing.entries.push_back(std::move(entry));
  }
  return listing;
}

Result<wire::FileEntry> make_directory(net::Task& task, const Inside& inside,
                                       const std::string& path) {
  return ask_for_entry(task, inside, {"mkdir", path});
}

Result<wire::FileEntry> move_file(net::Task& task, const Inside& inside, const std::string& from,
                                  const std::string& to) {
  return ask_for_entry(task, inside, {"move", from, to});
}

Status remove_file(net::Task& task, const Inside& inside, const std::string& path) {
  (void)PD_TRY(ask(task, inside, {"remove", path}));
  return {};
}

Result<std::unique_ptr<FileCommand>> begin_write(net::Task& task, const Inside& inside,
                                                 const WriteOptions& options) {
  std::vector<std::string> words{"write", options.path};
  words.insert(words.end(), options.metadata.begin(), options.metadata.end());
  return FileCommand::start(task, inside, std::move(words), ProcessRequest::Input::open);
}

Result<std::unique_ptr<FileCommand>> begin_read(net::Task& task, const Inside& inside,
                                                const std::string& path) {
  return FileCommand::start(task, inside, {"read", path}, ProcessRequest::Input::none);
}

}  // namespace paddock::engine
