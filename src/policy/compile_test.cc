#include "policy/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/testing/policies.h"

namespace paddock::policy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the helpers of policy/testing

constexpr uint64_t kGiB = 1ull << 30;

model::Settings settings_of(std::vector<Tier> tiers, std::vector<FlagValue> flags = {}) {
  auto compiled = compile_tiers(std::move(tiers), std::move(flags));
  EXPECT_TRUE(compiled.ok()) << compiled.error().describe();
  return compiled.ok() ? compiled->settings : model::Settings{};
}

Error error_of(std::vector<Tier> tiers, std::vector<FlagValue> flags = {}) {
  auto compiled = compile_tiers(std::move(tiers), std::move(flags));
  EXPECT_FALSE(compiled.ok());
  return compiled.ok() ? Error(Code::internal, "it compiled") : compiled.error();
}

TEST(Compile, NothingGivenIsTheShippedPolicy) {
  auto compiled = compile_tiers({});
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(dump(compiled->settings), dump(model::Settings{}));
  EXPECT_EQ(compiled->settings.accepted_by, "shipped policy");
  for (const Setting& setting : settings()) {
    EXPECT_EQ(describe(compiled->origins.at(std::string(setting.key)).back()), "shipped policy");
  }
}

TEST(Compile, EmptyFilesChangeNothing) {
  EXPECT_EQ(dump(settings_of({admin(""), user("# nothing\n"), project("[limits]\n[files]\n")})),
            dump(model::Settings{}));
}

TEST(Compile, LaterTiersSpeakLastAndTheirOriginIsKept) {
  auto compiled = compile_tiers({project("limits.memory = \"1G\""), user("limits.memory = \"8G\"\n"
                                                                         "trust = \"reviewed\"")},
                                {{"limits.pids", "99"}});
  ASSERT_TRUE(compiled.ok()) << compiled.error().describe();
  EXPECT_EQ(compiled->settings.limits.memory_bytes, kGiB);
  EXPECT_EQ(compiled->settings.limits.pids, 99u);
  EXPECT_EQ(compiled->settings.trust, model::Trust::reviewed);
  EXPECT_EQ(describe(compiled->origins["limits.memory"].back()), "project policy paddock.toml:1");
  EXPECT_EQ(describe(compiled->origins["trust"].back()), "user policy /home/u/user.toml:2");
  EXPECT_EQ(describe(compiled->origins["limits.pids"].back()), "flag --pids");
}

TEST(Compile, EverySettingReachesTheSandbox) {
  model::Settings s = settings_of({user(R"(
trust = "reviewed"
level = "gvisor"
rootfs = "/srv/root/"
mounts = ["/a:/b:ro", "~/c:/d"]
sockets = ["/run/a.sock", "~/b.sock:/run/c.sock"]
accept.reviewed = "process"
accept.generated = "gvisor"
accept.hostile = "microvm"
workspace.mode = "direct"
[limits]
cpus = 1.5
memory = "1G"
pids = 100
disk = 2097152
shm = "64M"
timeout = "15m"
output = "1M"
open_files = 256
[files]
hide = ["secrets/**"]
show = ["*.pem"]
read = ["/opt/data//x/"]
write = ["~/.cache"]
deny = ["/usr/bin/ssh", "vendor"]
[env]
pass = ["LANG"]
set = { A = "1", B = "" }
[views]
keep = "1d"
keep_size = "1G"
[apply]
host_exec = ["**/Makefile"]
[egress]
presets = ["git-hosts"]
allow = ["a.example:8443"]
registries = ["packages.example"]
)")});
  EXPECT_THAT(s.egress.presets, ElementsAre("git-hosts"));
  EXPECT_THAT(s.egress.allow, ElementsAre("a.example:8443"));
  EXPECT_THAT(s.egress.registries, ElementsAre("packages.example"));
  EXPECT_EQ(s.trust, model::Trust::reviewed);
  EXPECT_EQ(s.level, model::Level::gvisor);
  EXPECT_EQ(s.rootfs, "/srv/root");
  ASSERT_EQ(s.mounts.size(), 2u);
  EXPECT_EQ(s.mounts[0].access, model::Access::read_only);
  EXPECT_EQ(s.mounts[1].source, "/home/u/c");
  ASSERT_EQ(s.sockets.size(), 2u);
  EXPECT_EQ(s.sockets[0].target, "/run/a.sock");
  EXPECT_EQ(s.sockets[1].source, "/home/u/b.sock");
  EXPECT_EQ(s.sockets[1].target, "/run/c.sock");
  EXPECT_EQ(s.accept.at(model::Trust::reviewed), model::Level::process);
  EXPECT_EQ(s.accept.at(model::Trust::generated), model::Level::gvisor);
  EXPECT_EQ(s.mode, model::WorkspaceMode::direct);
  EXPECT_DOUBLE_EQ(s.limits.cpus, 1.5);
  EXPECT_EQ(s.limits.memory_bytes, kGiB);
  EXPECT_EQ(s.limits.pids, 100u);
  EXPECT_EQ(s.limits.disk_bytes, 2097152u);
  EXPECT_EQ(s.limits.shm_bytes, 64u << 20);
  EXPECT_EQ(s.limits.timeout_seconds, 900u);
  EXPECT_EQ(s.limits.output_bytes, 1u << 20);
  EXPECT_EQ(s.limits.open_files, 256u);
  EXPECT_EQ(s.files.hide.back(), "secrets/**");
  EXPECT_EQ(s.files.hide.size(), model::FileRules{}.hide.size() + 1);
  EXPECT_THAT(s.files.show, ElementsAre("*.pem"));
  EXPECT_THAT(s.files.read, ElementsAre("/opt/data/x"));
  EXPECT_THAT(s.files.write, ElementsAre("/home/u/.cache"));
  EXPECT_THAT(s.files.deny, ElementsAre("/usr/bin/ssh", "vendor"));
  EXPECT_EQ(s.env, (std::map<std::string, std::string>{{"A", "1"}, {"B", ""}}));
  EXPECT_THAT(s.pass_env, ElementsAre("LANG"));
  EXPECT_EQ(s.views.keep_seconds, 86400u);
  EXPECT_EQ(s.views.keep_bytes, kGiB);
  EXPECT_THAT(s.views.host_exec, ElementsAre("**/Makefile"));
  EXPECT_EQ(s.accepted_by, "user policy /home/u/user.toml:7");
}

// --- the project tier
// -----------------------------------------------------------------------------

struct Widening {
  const char* user;     // what is in force
  const char* project;  // what would widen it
  const char* named;    // in the message
};

class ProjectWidens : public ::testing::TestWithParam<Widening> {};

TEST_P(ProjectWidens, IsRefusedByNameAndTheUserMayDoTheSame) {
  const Widening& c = GetParam();
  Error error = error_of({user(c.user), project(c.project)});
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_THAT(error.describe(),
              AllOf(HasSubstr(c.named), HasSubstr("project policy paddock.toml:1"),
                    ::testing::ContainsRegex("\\((user|shipped) policy")));
  EXPECT_FALSE(error.remedy().empty());
  // The twin: with the guard off, because the user wrote it, the same words take effect.
  auto widened = compile_tiers({user(c.project)});
  ASSERT_TRUE(widened.ok()) << widened.error().describe();
  EXPECT_NE(dump(widened->settings), dump(settings_of({user(c.user)})));
}

INSTANTIATE_TEST_SUITE_P(
    Compile, ProjectWidens,
    ::testing::Values(
        Widening{"", "trust = \"reviewed\"", "trust = \"reviewed\" is wider than \"generated\""},
        Widening{"level = \"microvm\"", "level = \"container\"", "level"},
        Widening{"level = \"container\"", "level = \"auto\"", "level"},
        Widening{"", "accept.reviewed = \"process\"", "accept.reviewed"},
        Widening{"", "accept.generated = \"process\"", "accept.generated"},
        Widening{"accept.generated = \"microvm\"", "accept.generated = \"container\"",
                 "accept.generated"},
        Widening{"", "workspace.mode = \"direct\"", "workspace.mode"},
        Widening{"", "rootfs = \"/srv/x\"", "rootfs"},
        Widening{"limits.cpus = 2", "limits.cpus = 2.001", "limits.cpus = 2.001 is wider than 2"},
        Widening{"limits.cpus = 2", "limits.cpus = \"all\"", "limits.cpus"},
        Widening{"", "limits.memory = \"5G\"", "limits.memory = \"5G\" is wider than \"4G\""},
        Widening{"", "limits.pids = 1025", "limits.pids"},
        Widening{"", "limits.disk = \"1T\"", "limits.disk"},
        Widening{"", "limits.shm = \"2G\"", "limits.shm"},
        Widening{"limits.timeout = \"1h\"", "limits.timeout = \"none\"", "limits.timeout"},
        Widening{"limits.output = \"1M\"", "limits.output = \"none\"", "limits.output"},
        Widening{"", "limits.open_files = 100000", "limits.open_files"},
        Widening{"", "files.show = [\".env.example\", \"*.pem\"]", "files.show = [\"*.pem\"]"},
        Widening{"", "files.read = [\"/etc/shadow\"]", "files.read"},
        Widening{"files.read = [\"/srv\"]", "files.read = [\"/srv/link\"]", "files.read"},
        Widening{"files.read = [\"/srv\"]", "files.write = [\"/srv\"]", "files.write"},
        Widening{"", "mounts = [\"/etc:/x\"]", "mounts"},
        Widening{"mounts = [\"/a:/b:ro\"]", "mounts = [\"/a:/b\"]", "mounts"},
        Widening{"mounts = [\"/a:/b\"]", "mounts = [\"/a/c:/b\"]", "mounts"},
        Widening{"", "sockets = [\"/run/docker.sock\"]", "sockets"},
        Widening{"sockets = [\"/run/a\"]", "sockets = [\"/run/a/docker.sock\"]", "sockets"},
        Widening{"sockets = [\"/run/a\"]", "sockets = [\"/run/a:/other\"]", "sockets"},
        Widening{"", "env.pass = [\"AWS_SECRET_ACCESS_KEY\"]", "env.pass"},
        Widening{"env.set.A = \"1\"", "env.set.A = \"2\"", "env.set"},
        Widening{"", "egress.presets = [\"open\"]", "egress.presets"},
        Widening{"egress.presets = [\"git-hosts\"]", "egress.presets = [\"open\"]",
                 "egress.presets"},
        Widening{"egress.allow = [\"a.example\"]", "egress.allow = [\"a.example:22\"]",
                 "egress.allow"},
        Widening{"", "egress.registries = [\"a.example\"]", "egress.registries"},
        Widening{"", "views.keep = \"1s\"", "views.keep"},
        Widening{"", "views.keep_size = \"100M\"", "views.keep_size"}));

TEST(Compile, AProjectCanNarrowEverything) {
  model::Settings s = settings_of({user(R"(
mounts = ["/a:/b", "/c:/d"]
files.read = ["/srv", "/opt"]
env.pass = ["A", "B"]
)"),
                                   project(R"(
trust = "hostile"
level = "microvm"
mounts = ["/a:/b:ro"]
accept.generated = "gvisor"
workspace.mode = "none"
limits = { cpus = 1, memory = "1G", pids = 64, timeout = "1m", output = "1M" }
files = { hide = ["secrets/**"], show = [], read = ["/opt"], deny = ["vendor"] }
env = { pass = [], set = { CI = "1" } }
apply.host_exec = ["**/Makefile"]
)")});
  EXPECT_EQ(s.trust, model::Trust::hostile);
  ASSERT_EQ(s.mounts.size(), 1u);
  EXPECT_EQ(s.mounts[0].access, model::Access::read_only);
  EXPECT_THAT(s.files.read, ElementsAre("/opt"));
  EXPECT_TRUE(s.files.show.empty());
  EXPECT_TRUE(s.pass_env.empty());
  EXPECT_EQ(s.env.at("CI"), "1");
  EXPECT_DOUBLE_EQ(s.limits.cpus, 1);
}

TEST(Compile, HostileCodeGetsNoSocketOfTheHost) {
  const Error error = error_of({user("sockets = [\"/run/s\"]")}, {{"trust", "hostile"}});
  EXPECT_EQ(error.code(), Code::permission_denied);
  EXPECT_THAT(error.describe(), HasSubstr("socket"));
}

TEST(Compile, AProjectMayRepeatWhatIsInForce) {
  EXPECT_TRUE(compile_tiers({user("rootfs = \"/srv/x\"\nviews.keep = \"2d\""),
                             project("rootfs = \"/srv/x\"\nviews.keep = \"2d\"")})
                  .ok());
}

TEST(Compile, AProjectSpeaksAgainstWhatHeldBeforeItsOwnProfile) {
  model::Settings s = settings_of({project("profile = \"untrusted\"\nlimits.memory = \"3G\"")});
  EXPECT_EQ(s.limits.memory_bytes, 3 * kGiB);
  EXPECT_EQ(s.trust, model::Trust::hostile);
  EXPECT_THAT(error_of({project("profile = \"untrusted\"\nlimits.memory = \"5G\"")}).describe(),
              HasSubstr("limits.memory"));
}

// --- lists
// ----------------------------------------------------------------------------------------

TEST(Compile, ListsThatRestrictAddUpAndNoTierUndoesAnother) {
  auto compiled = compile_tiers(
      {admin("files.deny = [\"/a\"]"), user("files.deny = [\"/b\"]"), project("files.deny = []")},
      {{"files.hide", "*.secret"}});
  ASSERT_TRUE(compiled.ok());
  EXPECT_THAT(compiled->settings.files.deny, ElementsAre("/a", "/b"));
  EXPECT_EQ(compiled->settings.files.hide.back(), "*.secret");
  EXPECT_EQ(compiled->origins["files.hide"].size(), 2u);
}

TEST(Compile, AnEmptyListGrantsNothingAtAnyTier) {
  for (const char* key :
       {"mounts", "sockets", "files.read", "files.write", "files.show", "env.pass"}) {
    std::string empty = std::string(key) + " = []";
    for (const Tier& tier : {admin(empty), user(empty), project(empty)}) {
      auto compiled = compile_tiers({tier});
      ASSERT_TRUE(compiled.ok()) << compiled.error().describe();
      Value value = find_setting(key)->access.get(compiled->settings);
      EXPECT_TRUE(std::get<List>(value).empty()) << key;
    }
  }
}

TEST(Compile, AnEmptyListOfTheAdminIsNotAPermission) {
  EXPECT_THAT(error_of({admin("files.read = []"), user("files.read = [\"/srv\"]")}).describe(),
              HasSubstr("is wider than []"));
  EXPECT_THAT(error_of({admin("bounds.mounts = []")}, {{"mounts", "/a:/b"}}).describe(),
              HasSubstr("is wider than []"));
}

TEST(Compile, FlagsAddToListsAndPairs) {
  model::Settings s =
      settings_of({user("env.pass = [\"A\"]\nenv.set = { X = \"1\" }")},
                  {{"env.pass", "B"}, {"env.set", "Y=a=b"}, {"mounts", "/a:/b:ro"}});
  EXPECT_THAT(s.pass_env, ElementsAre("A", "B"));
  EXPECT_EQ(s.env.at("X"), "1");
  EXPECT_EQ(s.env.at("Y"), "a=b");
  EXPECT_EQ(s.mounts.size(), 1u);
}

// --- bounds
// ---------------------------------------------------------------------------------------

TEST(Compile, WhatTheAdminSetsIsTheLimitOfUserAndFlags) {
  Tier limit = admin("limits.memory = \"2G\"");
  EXPECT_EQ(settings_of({limit}).limits.memory_bytes, 2 * kGiB);
  EXPECT_EQ(settings_of({limit}, {{"limits.memory", "1G"}}).limits.memory_bytes, kGiB);
  for (Error error : {error_of({limit, user("limits.memory = \"3G\"")}),
                      error_of({limit}, {{"limits.memory", "3G"}})}) {
    EXPECT_EQ(error.code(), Code::permission_denied);
    EXPECT_THAT(error.describe(), AllOf(HasSubstr("\"3G\" is wider than \"2G\""),
                                        HasSubstr("admin policy /etc/admin.toml:1")));
  }
  EXPECT_EQ(settings_of({}, {{"limits.memory", "3G"}}).limits.memory_bytes, 3 * kGiB);
}

TEST(Compile, ABoundMovesTheLimitApartFromTheValue) {
  Tier policy = admin("limits.memory = \"2G\"\nbounds.limits.memory = \"8G\"");
  EXPECT_EQ(settings_of({policy}).limits.memory_bytes, 2 * kGiB);
  EXPECT_EQ(settings_of({policy}, {{"limits.memory", "8G"}}).limits.memory_bytes, 8 * kGiB);
  EXPECT_THAT(error_of({policy}, {{"limits.memory", "9G"}}).describe(),
              HasSubstr("admin policy /etc/admin.toml:2"));
}

TEST(Compile, ABoundAloneNarrowsTheShippedValue) {
  auto compiled = compile_tiers({admin("[bounds]\nlimits.memory = \"1G\"\nlevel = \"gvisor\"")});
  ASSERT_TRUE(compiled.ok()) << compiled.error().describe();
  EXPECT_EQ(compiled->settings.limits.memory_bytes, kGiB);
  EXPECT_EQ(compiled->settings.level, model::Level::gvisor);
  EXPECT_EQ(describe(compiled->origins["limits.memory"].back()), "admin policy /etc/admin.toml:2");
}

TEST(Compile, AnAdminCannotContradictTheOwnBound) {
  EXPECT_THAT(error_of({admin("limits.memory = \"2G\"\nbounds.limits.memory = \"1G\"")}).describe(),
              HasSubstr("is wider than \"1G\", the bound of admin policy /etc/admin.toml:2"));
}

TEST(Compile, GrantsStayBelowTheirBounds) {
  Tier policy = admin(
      "[bounds]\nfiles.read = [\"/srv\"]\nmounts = [\"/data:/:ro\"]\n"
      "files.show = [\"fixtures/**\", \"*.pub\"]");
  EXPECT_TRUE(
      compile_tiers({policy, user("files.read = [\"/srv/a\"]\nmounts = [\"/data/x:/y:ro\"]\n"
                                  "files.show = [\"fixtures/a/key.pem\", \"id.pub\"]")})
          .ok());
  for (const char* wider :
       {"files.read = [\"/srvx\"]", "files.read = [\"/\"]", "mounts = [\"/data/x:/y\"]",
        "mounts = [\"/etc:/y:ro\"]", "files.show = [\"**\"]", "files.show = [\"*.pem\"]",
        "files.show = [\"a/id.pub\"]"}) {
    EXPECT_FALSE(compile_tiers({policy, user(wider)}).ok()) << wider;
  }
}

TEST(Compile, FilesTheAdminHidesCannotBeShownAgain) {
  Tier hides = admin("files.hide = [\"prod.key\"]");
  EXPECT_THAT(error_of({hides, user("files.show = [\"prod.key\"]")}).describe(),
              HasSubstr("files.show = [\"prod.key\"]"));
  EXPECT_TRUE(
      compile_tiers({user("files.hide = [\"prod.key\"]\nfiles.show = [\"prod.key\"]")}).ok());
  EXPECT_TRUE(compile_tiers({admin("files.hide = [\"prod.key\"]\nbounds.files.show = [\"**\"]"),
                             user("files.show = [\"prod.key\"]")})
                  .ok());
}

TEST(Compile, VariablesOfTheAdminAreFixed) {
  Tier policy = admin("env.set.HTTP_PROXY = \"proxy:8080\"");
  EXPECT_EQ(error_of({policy}, {{"env.set", "HTTP_PROXY=x"}}).code(), Code::permission_denied);
  EXPECT_TRUE(compile_tiers({policy}, {{"env.set", "OTHER=x"}}).ok());
}

TEST(Compile, ABoundHoldsForWhereAGrantLeads) {
  auto compiled =
      compile_tiers({admin("bounds.files.read = [\"/srv\"]\nbounds.mounts = [\"/d:/\"]\n"
                           "bounds.sockets = [\"/run/user\"]"),
                     user("files.read = [\"/srv/link\"]\nmounts = [\"/d/link:/x\"]")});
  ASSERT_TRUE(compiled.ok()) << compiled.error().describe();
  EXPECT_TRUE(check_resolved(*compiled, "files.read", "/srv/real").ok());
  EXPECT_EQ(check_resolved(*compiled, "files.read", "/etc").error().code(),
            Code::permission_denied);
  EXPECT_TRUE(check_resolved(*compiled, "mounts", "/d/real:/x").ok());
  EXPECT_TRUE(check_resolved(*compiled, "sockets", "/run/user/7/bus:/x").ok());
  EXPECT_FALSE(check_resolved(*compiled, "sockets", "/run/docker.sock:/x").ok());
  EXPECT_FALSE(check_resolved(*compiled, "mounts", "/etc:/x").ok());
  EXPECT_TRUE(check_resolved(*compiled, "files.write", "/etc").ok()) << "no bound was set";
}

TEST(Compile, OnlyTheAdminSetsBoundsAndOnlyWhereTheyMeanSomething) {
  EXPECT_EQ(error_of({user("bounds.limits.memory = \"1G\"")}).code(), Code::permission_denied);
  EXPECT_EQ(error_of({project("bounds.limits.memory = \"1G\"")}).code(), Code::permission_denied);
  for (const char* none : {"bounds.files.hide = []", "bounds.rootfs = \"/x\"",
                           "bounds.env.set = {}", "bounds.profile = \"ci\""}) {
    EXPECT_THAT(error_of({admin(none)}).describe(), HasSubstr("cannot have a bound")) << none;
  }
}

// --- profiles
// -------------------------------------------------------------------------------------

TEST(Compile, AProfileIsABundleAndTheTiersOwnWordsWin) {
  auto compiled = compile_tiers({user("profile = \"untrusted\"\nlimits.memory = \"6G\"")});
  ASSERT_TRUE(compiled.ok()) << compiled.error().describe();
  EXPECT_EQ(compiled->settings.trust, model::Trust::hostile);
  EXPECT_EQ(compiled->settings.limits.memory_bytes, 6 * kGiB);
  EXPECT_EQ(compiled->settings.profile, "untrusted");
  EXPECT_EQ(describe(compiled->origins["trust"].back()),
            "profile untrusted of user policy /home/u/user.toml:1");
}

TEST(Compile, AProfileFlagComesBeforeTheOtherFlags) {
  model::Settings s =
      settings_of({user("mounts = [\"/a:/b\"]")},
                  {{"limits.memory", "1G"}, {"mounts", "/c:/d"}, {"profile", "untrusted"}});
  EXPECT_EQ(s.limits.memory_bytes, kGiB);
  ASSERT_EQ(s.mounts.size(), 1u);
  EXPECT_EQ(s.mounts[0].source, "/c");
}

TEST(Compile, PolicyDefinesFurtherProfiles) {
  std::string defined = "[profiles.lab]\nlimits.memory = \"1G\"\n";
  EXPECT_EQ(settings_of({admin(defined), project("profile = \"lab\"")}).limits.memory_bytes, kGiB);
  EXPECT_EQ(error_of({project(defined)}).code(), Code::permission_denied);
  EXPECT_EQ(error_of({admin(defined), user(defined)}).code(), Code::already_exists);
  EXPECT_EQ(error_of({user("[profiles.ci]\n")}).code(), Code::already_exists);
  Error unknown = error_of({}, {{"profile", "lap"}});
  EXPECT_EQ(unknown.code(), Code::not_found);
  EXPECT_THAT(unknown.remedy(), HasSubstr("edit, ci, untrusted"));
}

TEST(Compile, AProjectCannotWidenThroughAProfile) {
  EXPECT_THAT(
      error_of({user("[profiles.wide]\ntrust = \"reviewed\""), project("profile = \"wide\"")})
          .describe(),
      AllOf(HasSubstr("trust"), HasSubstr("profile wide of project policy paddock.toml:1")));
}

// --- flags and files
// ------------------------------------------------------------------------------

TEST(Compile, FlagsOfUnknownOrFileOnlyKeysAreRefused) {
  EXPECT_EQ(error_of({}, {{"accept.generated", "process"}}).code(), Code::invalid_argument);
  EXPECT_EQ(error_of({}, {{"nonsense", "1"}}).code(), Code::invalid_argument);
  EXPECT_THAT(error_of({}, {{"limits.memory", "lots"}}).describe(),
              HasSubstr("--memory: expected a size"));
}

TEST(Compile, ATierIsGivenOnce) {
  EXPECT_EQ(error_of({user(""), user("")}).code(), Code::invalid_argument);
  EXPECT_EQ(error_of({Tier{TierKind::flag, "x", ""}}).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace paddock::policy
