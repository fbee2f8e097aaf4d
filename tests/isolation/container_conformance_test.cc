// The container level passes the suite of all backends, with the real agent.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container_fixture.h"
#include "isolation/levels.h"
#include "isolation/testing/conformance.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/testing/temp_dir.h"

namespace paddock::isolation::testing {
namespace {

// Beside this program, where run_as.py has put a copy.
SandboxPlan plan() {
  std::string self = sys::real_path("/proc/self/exe").value();
  SandboxPlan out;
  out.id = model::SandboxId::from_entropy(sys::random_bytes(8));
  out.files.overlays.push_back({model::GuestPath("/usr"), {model::HostPath("/usr")}, std::nullopt});
  out.files.owner_uid = ::geteuid();
  out.files.owner_gid = ::getegid();
  out.home = model::GuestPath("/home/user");
  out.hostname = "conformance";
  out.agent_program = model::HostPath(self.substr(0, self.rfind('/')) + "/paddock-agent");
  static const sys::testing::TempDir state;
  out.state_dir = model::HostPath(state.path() + "/" + out.id.str());
  EXPECT_EQ(::mkdir(out.state_dir.c_str(), 0755), 0);
  return out;
}

const Subject kContainer{
    [] { return make_backend(model::Level::container).value(); }, plan,
    [] { return std::string(has_user_namespaces() ? "" : "needs userns: the host forbids it"); }};
INSTANTIATE_TEST_SUITE_P(Container, BackendConformance, ::testing::Values(&kContainer));

}  // namespace
}  // namespace paddock::isolation::testing
