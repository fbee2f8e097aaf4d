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

SandboxPlan plan_of_several_users() {
  SandboxPlan out = plan();
  out.user = 1000;
  out.users = Users::several;
  return out;
}

const Subject kSeveralUsers{
    [] { return make_backend(model::Level::container).value(); }, plan_of_several_users,
    [] { return std::string(::geteuid() == 0 ? "" : "needs root: one user has one id to give"); }};
INSTANTIATE_TEST_SUITE_P(ContainerOfSeveralUsers, BackendConformance,
                         ::testing::Values(&kSeveralUsers));

const Subject kContainer{
    [] { return make_backend(model::Level::container).value(); }, plan,
    [] { return std::string(has_user_namespaces() ? "" : "needs userns: the host forbids it"); }};
INSTANTIATE_TEST_SUITE_P(Container, BackendConformance, ::testing::Values(&kContainer));

// Root inside could leave files of anybody there.
TEST(ContainerUsers, SeveralAreRefusedWhereTheHostsDirectoryIsWritableOrTheIdsAreMissing) {
  SandboxPlan several = plan_of_several_users();
  several.files.binds.push_back(
      {model::GuestPath("/given"), model::HostPath("/tmp"), model::Access::read_write});
  auto started = make_backend(model::Level::container).value()->start(several);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Code::unsupported);
  EXPECT_FALSE(started.error().remedy().empty());
}

}  // namespace
}  // namespace paddock::isolation::testing
