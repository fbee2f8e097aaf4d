// The thread that answers refused system calls which are to be reported.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "agent/denial_log.h"
#include "base/result.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

// Owns the seccomp listener and one detached thread that lives as long as the process. The thread
// refuses every call it hears: it decides nothing, reads no memory of the caller, and makes only
// calls that no sensible filter reports (ioctl openat read close write futex), or it would wait for
// itself.
class SyscallWatch {
 public:
  // Takes over the listener. `reported` says what each number is called and which errno it gets; a
  // call that is not among them gets EPERM.
  static Result<std::unique_ptr<SyscallWatch>> start(
      sys::Fd listener, const google::protobuf::RepeatedPtrField<wire::ReportedSyscall>& reported);

  // Readable when drain() has something to say.
  const sys::Fd& event() const { return event_; }
  // Moves what was heard into the log. A call is heard before its caller goes on.
  void drain(DenialLog& log);

 private:
  struct Rule {
    int number;
    int error;
    std::string name;
  };
  struct Record {
    int number = 0;
    uint32_t pid = 0;
    std::array<char, 16> process{};  // comm, with the terminating zero
    uint64_t count = 0;
  };

  SyscallWatch(sys::Fd listener, sys::Fd event)
      : listener_(std::move(listener)), event_(std::move(event)) {}
  static void* run(void* self);
  void answer_one();
  void push(const Record& record);
  const Rule* find(int number) const;

  sys::Fd listener_;
  sys::Fd event_;            // eventfd
  std::vector<Rule> rules_;  // sorted by number; constant once the thread runs

  std::mutex mutex_;  // guards what follows
  std::array<Record, 256> records_;
  size_t used_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace paddock::agent
