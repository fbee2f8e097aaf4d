#include "policy/policy_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/raw_value.h"
#include "policy/testing/policies.h"

namespace paddock::policy {
namespace {

using ::testing::HasSubstr;

Error error_of(std::string text) {
  auto read = read_policy(testing::admin(std::move(text)), "/home/u");
  EXPECT_FALSE(read.ok());
  return read.ok() ? Error(Code::internal, "it was read") : read.error();
}

struct Slip {
  const char* text;
  const char* says;
  const char* remedy;
};

TEST(PolicyText, AnUnknownKeyIsAnErrorWithTheNearestOne) {
  for (const Slip& slip : {
           Slip{"\n[limits]\nmemroy = \"1G\"", "/etc/admin.toml:3: limits.memroy: unknown key",
                "limits.memory"},
           Slip{"[limit]\nmemory = \"1G\"", ":1: limit: unknown key", "limits"},
           Slip{"memory = \"1G\"", ":1: memory: unknown key", "limits.memory"},
           Slip{"[file]\nhide = []", ":1: file: unknown key", "files"},
           Slip{"[bound]\n", "bound: unknown key", "bounds"},
           Slip{"[bounds.limits]\npid = 3", ":2: limits.pid: unknown key", "limits.pids"},
           Slip{"[profiles.x]\ntrusts = \"hostile\"", ":2: trusts: unknown key", "trust"},
           Slip{"trust.level = 1", "trust: expected one of", ""},
           Slip{"\"limits.memory\" = \"1G\"", "limits.memory: unknown key", "limits.memory"},
           Slip{"zzzzzzzzzzzzzzzz = 1", "unknown key", "explain"},
           Slip{"\"\\u001b[2J\" = 1", "\\x1b[2J: unknown key", ""},
       }) {
    Error error = error_of(slip.text);
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_THAT(error.describe(), HasSubstr(slip.says));
    EXPECT_THAT(error.remedy(), HasSubstr(slip.remedy)) << slip.text;
  }
}

TEST(PolicyText, AValueOfTheWrongKindNamesPlaceAndExpectation) {
  struct Wrong {
    const char* text;
    const char* says;
  };
  for (const Wrong& wrong : {
           Wrong{"trust = \"Reviewed\"",
                 "trust: expected one of reviewed, generated, hostile, found "
                 "\"Reviewed\""},
           Wrong{"trust = 1", "found an integer \"1\""},
           Wrong{"level = \"vm\"", "auto, process, container, gvisor, microvm"},
           Wrong{"limits.memory = true", "limits.memory: expected a size"},
           Wrong{"limits.memory = true", "found a boolean \"true\""},
           Wrong{"limits.memory = 4.5", "found a decimal number"},
           Wrong{"limits.memory = \"1M\"", "between 16M and 1024T, found \"1M\""},
           Wrong{"limits.memory = \"none\"", "found \"none\""},
           Wrong{"limits.memory = 0", "found \"0\""},
           Wrong{"limits.memory = -1", "found \"-1\""},
           Wrong{"limits.memory = \"99999999999T\"", "expected a size"},
           Wrong{"limits.shm = 0", "expected a size"},
           Wrong{"limits.pids = \"64\"",
                 "expected a whole number between 8 and 4194304, found a "
                 "string \"64\""},
           Wrong{"limits.pids = 7", "found \"7\""},
           Wrong{"limits.timeout = 0", "between 1s and 366d, or \"none\", found \"0\""},
           Wrong{"limits.timeout = \"1w\"", "expected a duration"},
           Wrong{"limits.cpus = 0", "between 0.01 and 1024, or \"all\""},
           Wrong{"limits.cpus = nan", "expected a number"},
           Wrong{"limits.cpus = inf", "expected a number"},
           Wrong{"limits.cpus = -1.5", "expected a number"},
           Wrong{"limits.cpus = 1.00001", "at most three decimals"},
           Wrong{"limits.cpus = 1e300", "expected a number"},
           Wrong{"limits.cpus = \"2\"", "found a string"},
           Wrong{"limits = 3", "limits: expected a table, found an integer"},
           Wrong{"[[limits]]\nmemory = \"1G\"", "limits: expected a table, found a list"},
           Wrong{"bounds = 3", "bounds: expected a table"},
           Wrong{"profiles = []", "profiles: expected a table"},
           Wrong{"profiles.x = 1", "profiles.x: expected a table"},
           Wrong{"[profiles.x]\nprofile = \"ci\"", "a profile cannot name another"},
           Wrong{"profile = \"Not One\"", "the name of a profile"},
           Wrong{"files.hide = \"*.pem\"", "files.hide: expected a list of globs"},
           Wrong{"files.hide = [1]", "found an integer in the list"},
           Wrong{"files.hide = [[\"a\"]]", "found a list in the list"},
           Wrong{"files.hide = [\"\"]", "found \"\""},
           Wrong{"files.hide = [\"  \"]", "found \"  \""},
           Wrong{"files.hide = [\"/etc/x\"]", "relative to the workspace"},
           Wrong{"files.hide = [\"a/../b\"]", "without . and .."},
           Wrong{"files.deny = [\"../x\"]", "expected a list of paths"},
           Wrong{"files.read = [\"relative\"]", "'relative' is not an absolute path"},
           Wrong{"files.read = [\"/a/../etc\"]", "has a '.' or '..' component"},
           Wrong{"files.read = [\"/\"]", "is the whole file system"},
           Wrong{"files.read = [\"//\"]", "is the whole file system"},
           Wrong{"files.write = [\"/a\\u0000b\"]", "has a zero byte"},
           Wrong{"mounts = [\"/a\"]", "not of the form SRC:DST[:ro]"},
           Wrong{"mounts = [\"/a:/b:rx\"]", "not of the form"},
           Wrong{"mounts = [\"/a:/b:ro:x\"]", "not of the form"},
           Wrong{"mounts = [\"/:/x\"]", "source of the mount: '/' is the whole file system"},
           Wrong{"mounts = [\"/a:b\"]", "target of the mount: 'b' is not an absolute path"},
           Wrong{"sockets = [\"/a:/b:ro\"]", "not of the form SRC[:DST]"},
           Wrong{"sockets = [\"@abstract\"]", "path of the socket"},
           Wrong{"mounts = [\"/a:~/b\"]", "target of the mount"},
           Wrong{"rootfs = \"alpine\"", "not an absolute path"},
           Wrong{"env.pass = [\"A=1\"]", "names of environment variables"},
           Wrong{"env.pass = [\"*\"]", "names of environment variables"},
           Wrong{"env.set = [\"A\"]", "NAME = \"value\" pairs, found a list"},
           Wrong{"env.set.A = 1", "found A = an integer"},
           Wrong{"env.set.\"A B\" = \"x\"", "found the name \"A B\""},
           Wrong{"env.set.A = \"x\\u0000\"", "a zero byte in A"},
           Wrong{"limits.timeout = 1979-05-27", "found a date"},
       }) {
    Error error = error_of(wrong.text);
    EXPECT_EQ(error.code(), Code::invalid_argument) << wrong.text;
    EXPECT_THAT(error.describe(), HasSubstr(wrong.says)) << wrong.text;
    EXPECT_THAT(error.describe(), ::testing::StartsWith("/etc/admin.toml:")) << wrong.text;
  }
}

TEST(PolicyText, AFileThatIsNotTomlNamesTheLine) {
  EXPECT_THAT(error_of("trust = \"reviewed\"\nlimits = {").describe(),
              HasSubstr("/etc/admin.toml:2:"));
  // What toml++ asserts on, or calls unreachable, instead of refusing it.
  for (std::string text :
       {"é = 1", "a = é", "a = 1 é", "é", "a = \u0420", "a = 1\u00a0", "a = _1", "[é]", "[.]",
        "[=", "[[.a]]", "[ \"", "a.=1", "a={.b=1}", "a=[{.", "[a.]"}) {
    EXPECT_THAT(error_of("# one\n\n" + text + "\n# four\n").describe(),
                HasSubstr("/etc/admin.toml:3: "))
        << text;
  }
  EXPECT_THAT(error_of("a = 1\na = 2").describe(), HasSubstr("/etc/admin.toml:2:"));
}

TEST(PolicyText, InvalidUtf8IsRefusedWhereverItStands) {
  for (std::string text : {"# \xff\n", "trust = \"\xed\xa0\x80\"", "\xc0\xaf = 1"}) {
    EXPECT_THAT(error_of("\n" + text).describe(), HasSubstr(":2: not valid UTF-8"));
  }
}

TEST(PolicyText, TheInputIsBounded) {
  auto repeated = [](std::string_view part, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += part;
    return out;
  };
  EXPECT_THAT(error_of(repeated("# comment\n", 30000)).describe(), HasSubstr("larger than 256K"));
  EXPECT_THAT(error_of(repeated("a.", 100000) + "b = 1").describe(), HasSubstr("line longer"));
  EXPECT_THAT(error_of(repeated("a.", 2000) + "b = 1").describe(), HasSubstr("nested too deep"));
  EXPECT_THAT(error_of("a = " + repeated("[", 1500) + repeated("]", 1500)).describe(),
              HasSubstr("/etc/admin.toml:1:"));
  EXPECT_THAT(error_of("files.hide = [\n" + repeated("\"a\",\n", 1025) + "]").describe(),
              HasSubstr("too many entries"));
  std::string pairs = "[env.set]\n";
  for (int i = 0; i < 1025; ++i) pairs += "A" + std::to_string(i) + " = \"\"\n";
  EXPECT_THAT(error_of(pairs).describe(), HasSubstr("too many keys"));
  EXPECT_THAT(error_of("trust = \"\"\"\n" + repeated("aaaaaaaaa\n", 500) + "\"\"\"").describe(),
              HasSubstr("too long"));
}

TEST(PolicyText, AHomeThatIsNotKnownIsNotGuessed) {
  auto read = read_policy(testing::user("files.read = [\"~/x\"]"), "");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().describe(), HasSubstr("home directory that is not known"));
}

}  // namespace
}  // namespace paddock::policy
