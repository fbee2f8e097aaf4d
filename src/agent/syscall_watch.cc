#include "agent/syscall_watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "sys/seccomp.h"

namespace paddock::agent {
namespace {

constexpr size_t kStackBytes = 64u << 10;

// The name of process `pid`; empty when it has gone.
std::array<char, 16> read_comm(uint32_t pid) {
  std::array<char, 16> comm{};
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%u/comm", pid);
  const sys::Fd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.is_open() ? ::read(file.get(), comm.data(), comm.size()) : 0;
  const size_t length = n > 0 ? static_cast<size_t>(n) - 1 : 0;  // without the newline
  std::fill(comm.begin() + static_cast<ptrdiff_t>(std::min(length, comm.size() - 1)), comm.end(),
            '\0');
  return comm;
}

}  // namespace

Result<std::unique_ptr<SyscallWatch>> SyscallWatch::start(
    sys::Fd listener, const google::protobuf::RepeatedPtrField<wire::ReportedSyscall>& reported) {
  sys::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return Error::from_errno(errno, "opening an eventfd");
  std::unique_ptr<SyscallWatch> watch(new SyscallWatch(std::move(listener), std::move(event)));
  for (const auto& row : reported) {
    watch->rules_.push_back({static_cast<int>(row.number()), row.error(), row.name()});
  }
  std::ranges::sort(watch->rules_, {}, &Rule::number);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = ::pthread_create(&thread, &attributes, &SyscallWatch::run, watch.get());
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return Error::from_errno(error, "starting the seccomp listener's thread");
  return watch;
}

void* SyscallWatch::run(void* self) {
  while (true) static_cast<SyscallWatch*>(self)->answer_one();
}

const SyscallWatch::Rule* SyscallWatch::find(int number) const {
  auto at = std::ranges::lower_bound(rules_, number, {}, &Rule::number);
  return at != rules_.end() && at->number == number ? &*at : nullptr;
}

void SyscallWatch::answer_one() {
  auto call = sys::receive_notification(listener_);
  if (!call.ok()) ::pthread_exit(nullptr);  // calls then fail with ENOSYS
  if (!*call) return;
  const sys::SyscallNotification& heard = **call;
  Record record{
      .number = heard.number, .pid = heard.pid, .process = read_comm(heard.pid), .count = 1};
  // Its pid may name another process by now.
  if (!sys::is_still_waiting(listener_, heard.id)) return;
  push(record);
  const Rule* rule = find(heard.number);
  sys::refuse_notification(listener_, heard.id,
                           rule != nullptr && rule->error > 0 ? rule->error : EPERM);
}

void SyscallWatch::push(const Record& record) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = used_ == 0 && lost_ == 0;
    Record* last = used_ > 0 ? &records_[used_ - 1] : nullptr;
    if (last != nullptr && last->number == record.number && last->pid == record.pid &&
        last->process == record.process) {
      ++last->count;
    } else if (used_ < records_.size()) {
      records_[used_++] = record;
    } else {
      ++lost_;
    }
  }
  const uint64_t one = 1;
  if (first) (void)!::write(event_.get(), &one, sizeof one);
}

void SyscallWatch::drain(DenialLog& log) {
  uint64_t ignored = 0;
  (void)!::read(event_.get(), &ignored, sizeof ignored);
  const std::lock_guard lock(mutex_);
  for (const Record& record : std::span(records_).first(used_)) {
    const Rule* rule = find(record.number);
    log.note({.kind = wire::Denied::SYSCALL,
              .what = rule != nullptr ? rule->name : "syscall " + std::to_string(record.number),
              .pid = static_cast<int32_t>(record.pid),
              .process = record.process.data()},
             record.count);
  }
  if (lost_ > 0) log.note_lost(lost_);
  used_ = 0;
  lost_ = 0;
}

}  // namespace paddock::agent
