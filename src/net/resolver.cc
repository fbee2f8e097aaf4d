#include "net/resolver.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "net/event.h"
#include "sys/files.h"

namespace paddock::net {
namespace {

using model::IpAddress;
using Addresses = std::vector<IpAddress>;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxThreads = 16;
constexpr size_t kMaxQueue = 1024;
constexpr size_t kMaxKept = 1024;
constexpr std::chrono::seconds kKeep{5};

Error no_answer(const std::string& name, int error) {
  const bool absent = error == EAI_NONAME || error == EAI_NODATA;
  return Error(absent ? Code::not_found : Code::unavailable,
               fmt::format("resolving {}: {}", name, gai_strerror(error)));
}

void add_address(Addresses& out, const sockaddr& address) {
  std::string raw;
  // SAFETY: the family says which structure it is; their bytes are copied out.
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    raw.assign(reinterpret_cast<const char*>(&v4), sizeof v4);
  } else if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    raw.assign(reinterpret_cast<const char*>(&v6), sizeof v6);
  }
  auto parsed = IpAddress::from_bytes(raw);
  if (parsed.ok() && std::find(out.begin(), out.end(), *parsed) == out.end())
    out.push_back(*parsed);
}

// The dot at the end keeps the search list of resolv.conf out of it.
Result<Addresses> ask_libc(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = getaddrinfo((name + ".").c_str(), nullptr, &hints, &list);
  if (error != 0) return no_answer(name, error);
  Addresses out;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    add_address(out, *entry->ai_addr);
  }
  freeaddrinfo(list);
  if (out.empty()) return no_answer(name, EAI_NODATA);
  return out;
}

Result<Addresses> ask_host(const std::string& name) {
  auto hosts = sys::read_file("/etc/hosts");
  if (hosts.ok()) {
    Addresses found = find_in_hosts_file(*hosts, name);
    if (!found.empty()) return found;
  }
  return ask_libc(name);
}

// One question and who waits for it: nobody any more when their loop ends before the answer.
struct Question {
  std::string name;
  Loop* loop = nullptr;       // under the resolver's lock
  Event* answered = nullptr;  // on the loop's thread
  Result<Addresses> answer = Error(Code::unavailable, "resolving: given up");
};

class SystemResolver : public Resolver {
 public:
  ~SystemResolver() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Result<Addresses> resolve(Task& task, const std::string& name) override {
    Event answered(loop_of(task));
    auto question = std::make_shared<Question>();
    *question = {.name = name, .loop = &loop_of(task), .answered = &answered};
    {
      std::lock_guard lock(mutex_);
      if (const auto kept = kept_.find(name);
          kept != kept_.end() && kept->second.until > Clock::now()) {
        return kept->second.addresses;
      }
      if (queue_.size() >= kMaxQueue) {
        return Error(Code::resource_exhausted, "resolving " + name + ": too many names at once");
      }
      queue_.push_back(question);
      if (idle_ == 0 && threads_.size() < kMaxThreads) threads_.emplace_back([this] { work(); });
    }
    wake_.notify_one();
    answered.wait(task);
    std::lock_guard lock(mutex_);
    question->loop = nullptr;
    question->answered = nullptr;
    return question->answer;
  }

 private:
  struct Kept {
    Addresses addresses;
    Clock::time_point until;
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      --idle_;
      if (stopping_) return;
      std::shared_ptr<Question> question = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      Result<Addresses> answer = ask_host(question->name);
      lock.lock();
      if (answer.ok()) keep(question->name, *answer);
      if (question->loop == nullptr) continue;
      question->loop->post([question, answer = std::move(answer)]() mutable {
        if (question->answered == nullptr) return;
        question->answer = std::move(answer);
        question->answered->set();
      });
    }
  }

  void keep(const std::string& name, const Addresses& addresses) {
    if (kept_.size() >= kMaxKept) kept_.clear();
    kept_[name] = {addresses, Clock::now() + kKeep};
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Question>> queue_;
  std::map<std::string, Kept> kept_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace

Addresses find_in_hosts_file(std::string_view text, std::string_view name) {
  Addresses out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    std::vector<std::string> words;
    for (std::string& word : split(std::string(line), ' ')) {
      for (std::string& part : split(word, '\t')) {
        if (std::string_view trimmed = trim(part); !trimmed.empty()) words.emplace_back(trimmed);
      }
    }
    const bool names_it = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return &word != &words.front() && word.size() == name.size() &&
             std::equal(word.begin(), word.end(), name.begin(),
                        [](char a, char b) { return std::tolower(a) == std::tolower(b); });
    });
    auto address =
        words.empty() ? Result<IpAddress>(Error(Code::not_found, "")) : IpAddress::parse(words[0]);
    if (names_it && address.ok()) out.push_back(*address);
  }
  return out;
}

std::unique_ptr<Resolver> make_system_resolver() {
  return std::make_unique<SystemResolver>();
}

}  // namespace paddock::net
