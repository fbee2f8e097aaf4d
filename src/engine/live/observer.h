// Whoever keeps count of live sandboxes: metrics, an audit log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "model/denial.h"
#include "model/egress_event.h"
#include "model/outcome.h"

namespace paddock::engine {

class LiveSandbox;
struct CreateRequest;
struct LiveInfo;

// Called on the loop's thread, when it has happened. May not wait.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void on_created(const LiveSandbox& sandbox, int64_t took_us) = 0;
  virtual void on_refused(const CreateRequest& request, const Error& why) = 0;
  virtual void on_ended(const LiveInfo& info, const model::Usage& usage) = 0;
  // A client's command, not work of our own.
  virtual void on_command_started(const LiveInfo& info) = 0;
  // `took_us` from its start to its last word.
  virtual void on_command_ended(const LiveInfo& info, int64_t took_us) = 0;
  // Once for equal denials of one sandbox, and for a bounded number of them.
  virtual void on_denied(const LiveInfo& info, const model::Denial& denial) = 0;
  // Whether one of the pool's was there for a request that it could serve.
  enum class Pool { hit, miss };
  virtual void on_pool_asked(const std::string& template_name, Pool answer) = 0;
  virtual void on_pool_size(const std::string& template_name, size_t ready) = 0;
  virtual void on_pool_failed(const std::string& template_name, const Error& why) = 0;
  // What its gate decided about a name, a connection or a request.
  virtual void on_egress(const LiveInfo& info, const model::EgressEvent& event) = 0;
  // That many more, which came too fast to be told one by one.
  virtual void on_more_egress(const LiveInfo& info, uint64_t count) = 0;
};

}  // namespace paddock::engine
