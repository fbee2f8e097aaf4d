#include "engine/agent_resume.h"

#include <utility>

#include "base/strings.h"
#include "wire/build_id.h"

namespace paddock::engine {
namespace {

// A loaded machine is slow; one that says nothing this long keeps the daemon from starting.
constexpr int kResumePatienceMs = 10'000;
constexpr size_t kMaxCommands = 8192;  // more than an agent keeps

}  // namespace

Status let_outlive(AgentLink& link) {
  wire::ToAgent message;
  message.mutable_adopt();
  const wire::ToHost answer = PD_TRY(link.call(std::move(message), kResumePatienceMs));
  if (answer.has_done()) return {};
  return Error(Code::data_corrupt, "the agent does not say whether it outlives its host");
}

Result<Resumed> resume_agent(AgentLink& link) {
  const wire::ToHost hello = PD_TRY(link.next_message(kResumePatienceMs));
  if (!hello.has_hello()) return Error(Code::data_corrupt, "the agent did not introduce itself");
  if (hello.hello().protocol() != wire::kProtocolVersion ||
      hello.hello().protocol_id() != wire::protocol_id()) {
    return Error(
               Code::failed_precondition,
               "it was started by another build of paddock, whose protocol this one does not speak")
        .set_remedy("kill it, or let the paddock that started it serve until its time is up");
  }
  wire::ToAgent message;
  message.mutable_resume();
  const uint64_t request = link.next_request();
  PD_TRY(link.post(std::move(message)));
  Resumed resumed;
  while (true) {
    wire::ToHost answer = PD_TRY(link.next_message(kResumePatienceMs));
    if (answer.has_command_state() && resumed.commands.size() < kMaxCommands) {
      resumed.commands.push_back(std::move(*answer.mutable_command_state()));
    }
    if (answer.request() != request) continue;
    if (!answer.has_done()) {
      return Error(Code::data_corrupt, "the agent: " + printable(answer.failure().message()));
    }
    resumed.last_command = answer.done().last_command();
    return resumed;
  }
}

}  // namespace paddock::engine
