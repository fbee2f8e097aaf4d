#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "egress/presets/git_hosts.h"
#include "egress/rules/policy.h"

namespace paddock::egress {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ServerUrl, KnowsTheFormsThatToolsWrite) {
  const auto url = parse_server_url("HTTPS://me:s%40cret@Pkgs.Example:8443/simple/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "pkgs.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "s@cret");
  EXPECT_EQ(url->plain, "HTTPS://Pkgs.Example:8443/simple/");
  EXPECT_EQ(parse_server_url("sparse+https://index.example/")->scheme, "https");
  const auto git = parse_server_url("git@git.example:acme/app.git");
  ASSERT_TRUE(git);
  EXPECT_EQ(git->scheme, "ssh");
  EXPECT_EQ(git->host, "git.example");
  EXPECT_EQ(git->port, 22);
  EXPECT_EQ(parse_server_url("ssh://git@[2001:db8::1]:2222/x")->host, "2001:db8::1");
  for (const char* none : {"direct", "off", "/srv/git/app.git", "file:///srv/x", "./x", "",
                           "https://", "ftp://a.example/", "C:/x", "https://a b/"}) {
    EXPECT_FALSE(parse_server_url(none)) << none;
  }
}

struct FakeHost {
  std::map<std::string, std::string> printed;  // by the first words of the command
  std::map<std::string, std::string> variables, files;

  // Tools are asked on threads of their own: nothing is inserted.
  static std::string lookup(const std::map<std::string, std::string>& map,
                            const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? "" : found->second;
  }

  HostTools tools() {
    return {.run = [this](const std::vector<std::string>& argv) -> Result<std::string> {
              std::string line;
              for (const std::string& word : argv) line += word + " ";
              for (const auto& [command, out] : printed) {
                if (line.starts_with(command)) return out;
              }
              return Error(Code::not_found, argv[0] + " is not installed");
            },
            .variable = [this](const std::string& name) { return lookup(variables, name); },
            .read = [this](const std::string& path) { return lookup(files, path); },
            .home = "/home/u"};
  }
};

const ToolRegistries& tool_of(const std::vector<ToolRegistries>& all, const std::string& name) {
  static const ToolRegistries none;
  for (const ToolRegistries& tool : all) {
    if (tool.tool == name) return tool;
  }
  return none;
}

TEST(Registries, ToolsThatAreNotInstalledAreLeftOut) {
  FakeHost host;
  EXPECT_TRUE(survey_registries(host.tools()).empty());
}

TEST(Registries, NpmItsScopesAndItsTokens) {
  FakeHost host;
  host.printed["npm config list"] =
      R"({"registry": "https://npm.example/", "@acme:registry": "https://acme.example:4873/x/",
          "user-agent": "npm"})";
  host.variables["TOKEN"] = "npm_0123456789abcdef0123";
  host.files["/home/u/.npmrc"] = "color=true\n//npm.example/:_authToken=${TOKEN}\n";
  const auto npm = tool_of(survey_registries(host.tools()), "npm");
  ASSERT_EQ(npm.servers.size(), 2u);
  EXPECT_THAT(npm.environment, ElementsAre(Pair("npm_config_registry", "https://npm.example/")));
  ASSERT_EQ(npm.credentials.size(), 1u);
  EXPECT_EQ(npm.credentials[0].source.hosts, (model::TextList{"npm.example"}));
  EXPECT_EQ(npm.credentials[0].secret.reveal(), "npm_0123456789abcdef0123");
}

TEST(Registries, ASecretInAnIndexUrlStaysOutside) {
  FakeHost host;
  host.printed["python3"] =
      "https://u:s3cret-s3cret@pip.example/simple\nmore https://more.example/simple\ntrusted \n";
  const auto pip = tool_of(survey_registries(host.tools()), "pip");
  EXPECT_THAT(pip.environment,
              ElementsAre(Pair("PIP_INDEX_URL", "https://pip.example/simple"),
                          Pair("PIP_EXTRA_INDEX_URL", "https://more.example/simple")));
  ASSERT_EQ(pip.credentials.size(), 1u);
  EXPECT_EQ(pip.credentials[0].source.kind, model::CredentialKind::basic);
  EXPECT_EQ(pip.credentials[0].source.user, "u");
}

TEST(Registries, GoProxiesInTheirOrderAndTheSumDatabase) {
  FakeHost host;
  host.printed["go env"] = "https://one.example,https://two.example|direct\nsums.example\n";
  const auto go = tool_of(survey_registries(host.tools()), "go");
  ASSERT_EQ(go.servers.size(), 3u);
  EXPECT_EQ(go.servers[2].host, "sums.example");
  EXPECT_THAT(go.environment,
              ElementsAre(Pair("GOPROXY", "https://one.example,https://two.example|direct"),
                          Pair("GOSUMDB", "sums.example")));
}

TEST(Registries, AptByWhatItWouldFetch) {
  FakeHost host;
  host.printed["apt-get update --print-uris"] =
      "'http://deb.example/debian/dists/x/InRelease' deb.example_debian_dists_x_InRelease 0 \n"
      "'http://deb.example/debian/dists/x/main/Packages.xz' deb.example_debian_Packages 0 \n"
      "'https://flat.example:8443/apt/./InRelease' flat.example_apt_._InRelease 0 \n"
      "'file:/srv/apt/dists/x/InRelease' _srv_apt_dists_x_InRelease 0 \n";
  const auto apt = tool_of(survey_registries(host.tools()), "apt");
  ASSERT_EQ(apt.servers.size(), 2u);
  EXPECT_EQ(apt.servers[0].plain, "http://deb.example/debian");
  EXPECT_EQ(apt.servers[1].host, "flat.example");
  EXPECT_EQ(apt.servers[1].port, 8443);
}

TEST(Registries, AToolThatTellsNoneIsNamed) {
  FakeHost host;
  host.printed["cargo --version"] = "cargo 1.0\n";
  EXPECT_THAT(tool_of(survey_registries(host.tools()), "cargo").missing,
              HasSubstr("egress.registries"));
  host.files["/home/u/.cargo/config.toml"] =
      "[source.mirror]\nregistry = \"sparse+https://crates.example/index/\"\n";
  EXPECT_EQ(tool_of(survey_registries(host.tools()), "cargo").servers.size(), 1u);
}

TEST(Registries, RulesLetThroughTheseServersAndNoOthers) {
  FakeHost host;
  host.printed["npm config list"] = R"({"registry": "http://npm.example:4873/"})";
  host.printed["gem sources"] = "*** CURRENT SOURCES ***\n\nhttps://gems.example/\n";
  const auto rules =
      registry_rules(survey_registries(host.tools()), {"mirror.example:8080"}).value();
  const auto policy = Policy::compile({.lists = {rules}}).value();
  auto allows = [&](const char* name, uint16_t port) {
    return policy->decide({HostName::parse(name).value(), port}, {}).answer == Answer::allow;
  };
  EXPECT_TRUE(allows("npm.example", 4873));
  EXPECT_TRUE(allows("gems.example", 443));
  EXPECT_TRUE(allows("mirror.example", 8080));
  EXPECT_FALSE(allows("npm.example", 443));
  EXPECT_FALSE(allows("other.example", 443));
}

TEST(GitHosts, RemotesMayBeFetchedAndNothingElse) {
  FakeHost host;
  host.printed["git -C /w remote"] = "origin\nbackup\nlocal\n--upload-pack=x\n";
  host.printed["git -C /w ls-remote --get-url origin"] = "https://git.example/acme/app.git\n";
  host.printed["git -C /w ls-remote --get-url backup"] = "git@ssh.example:acme/app.git\n";
  host.printed["git -C /w ls-remote --get-url local"] = "/srv/git/app.git\n";
  const auto rules = git_host_rules(host.tools(), "/w");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].protocol, model::EgressProtocol::git);
  EXPECT_TRUE(rules[0].git.push.empty());
  EXPECT_EQ(rules[1].protocol, model::EgressProtocol::ssh);
  EXPECT_TRUE(Policy::compile({.lists = {rules}}).ok());
}

}  // namespace
}  // namespace paddock::egress
