#include "service/settings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace paddock::service {
namespace {

Result<LoadedSettings> load(const std::string& text, const std::string& listen = "") {
  return load_server_settings({{"server.toml", text}}, {.listen = listen});
}
std::string origin_of(const LoadedSettings& loaded, const std::string& key) {
  const auto row = std::ranges::find(loaded.rows, key, &SettingRow::key);
  return row == loaded.rows.end() ? "no such row" : row->origin;
}

TEST(ServerToml, SaysWhatIsInForceAndWhereItCameFrom) {
  const LoadedSettings loaded = load(
                                    "listen = \"127.0.0.1:1\"\nkeys = \"required\"\n"
                                    "max_timeout = \"1h\"\n[quota]\nsandboxes = 3\nmemory = "
                                    "\"8G\"\ncpu = 2.5\n[quota.ci]\nsandboxes = 9\n",
                                    "127.0.0.1:2")
                                    .value();
  EXPECT_EQ(loaded.settings.listen, "127.0.0.1:2");
  EXPECT_EQ(loaded.settings.keys, KeyRule::required);
  EXPECT_EQ(loaded.settings.max_timeout_seconds, 3600u);
  EXPECT_EQ(loaded.settings.quota_of("anybody"), (Quota{3, 8ull << 30, 0, 2.5}));
  EXPECT_EQ(loaded.settings.quota_of("ci"), (Quota{9, 8ull << 30, 0, 2.5}));
  EXPECT_EQ(origin_of(loaded, "listen"), "--listen");
  EXPECT_EQ(origin_of(loaded, "keys"), "server.toml:2");
  EXPECT_EQ(origin_of(loaded, "quota.sandboxes"), "server.toml:5");
  EXPECT_EQ(origin_of(loaded, "quota.ci.sandboxes"), "server.toml:9");
  EXPECT_EQ(origin_of(loaded, "domain"), "shipped");
}

TEST(ServerToml, APoolIsANumberForEachTemplate) {
  const auto loaded = load("[pool]\nbase = 2\n\"code-interpreter-v1\" = 1\n").value();
  EXPECT_EQ(loaded.settings.pool,
            (std::map<std::string, uint64_t>{{"base", 2}, {"code-interpreter-v1", 1}}));
  EXPECT_EQ(origin_of(loaded, "pool.base"), "server.toml:2");
  EXPECT_FALSE(load("pool = 2\n").ok());
  EXPECT_FALSE(load("[pool]\nbase = 257\n").ok());
  EXPECT_FALSE(load("[pool]\nbase = \"2\"\n").ok());
}

TEST(ServerToml, LaterFilesWin) {
  const auto loaded =
      load_server_settings(
          {{"a", "max_sandboxes = 1\ndomain = \"a.example\"\n"}, {"b", "max_sandboxes = 2\n"}}, {})
          .value();
  EXPECT_EQ(loaded.settings.max_sandboxes, 2u);
  EXPECT_EQ(loaded.settings.domain, "a.example");
}

TEST(ServerToml, UnknownKeysAreErrorsWithTheNearestKnownOne) {
  const auto loaded = load("\nmax_timeot = \"1h\"\n");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code(), Code::invalid_argument);
  EXPECT_NE(loaded.error().describe().find("server.toml:2"), std::string::npos);
  EXPECT_NE(loaded.error().remedy().find("max_timeout"), std::string::npos);
  EXPECT_FALSE(load("[quota]\nsandboxs = 1\n").ok());
  EXPECT_FALSE(load("[quota.ci]\nlisten = \"x\"\n").ok());
  EXPECT_FALSE(load("[server]\nlisten = \"x\"\n").ok());
}

TEST(ServerToml, ValuesOfTheWrongKindAreErrors) {
  for (const char* text :
       {"listen = 3100", "domain = \"a b\"", "domain = \".example\"", "keys = \"off\"", "tls = 1",
        "tls = \"on\"", "tls_cert = \"cert.pem\"\ntls_key = \"/key.pem\"", "max_sandboxes = 0",
        "max_sandboxes = -1", "max_timeout = 60", "max_timeout = \"0\"", "max_timeout = \"900d\"",
        "audit_file_size = 1", "quota = 3", "[quota]\ncpu = -1", "[quota]\ncpu = nan",
        "[quota]\nmemory = true", "[quota]\nsandboxes = \"3\"", "listen"}) {
    EXPECT_FALSE(load(text).ok()) << text;
  }
}

TEST(ServerToml, ACertificateIsTlsUnlessItIsSaidOtherwise) {
  const std::string pair = "tls_cert = \"/c\"\ntls_key = \"/k\"\n";
  auto has_tls = [](const std::string& text, const ServerFlags& flags) {
    return load_server_settings({{"server.toml", text}}, flags).value().settings.has_tls();
  };
  EXPECT_FALSE(has_tls("", {}));
  EXPECT_TRUE(has_tls("tls = true", {}));
  EXPECT_TRUE(has_tls("", {.tls = true}));
  EXPECT_FALSE(has_tls("tls = true", {.tls = false}));
  EXPECT_TRUE(has_tls(pair, {}));
  EXPECT_FALSE(has_tls("tls = false\n" + pair, {}));
  EXPECT_FALSE(has_tls(pair, {.tls = false}));
  EXPECT_TRUE(has_tls("tls = false", {.tls_cert = "c", .tls_key = "k"}));
}

TEST(ServerToml, ACertificateWithoutItsKeyIsAnError) {
  for (const ServerFlags& flags : {ServerFlags{.tls_cert = "c"}, ServerFlags{.tls_key = "k"}}) {
    const auto loaded = load_server_settings({}, flags);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().code(), Code::invalid_argument);
    EXPECT_NE(loaded.error().remedy().find("--tls-key"), std::string::npos);
  }
  EXPECT_FALSE(load("tls_cert = \"/c\"\n").ok());
  EXPECT_TRUE(load_server_settings({{"a", "tls_cert = \"/c\"\n"}}, {.tls_key = "k"}).ok());
}

TEST(Quotas, AreSumsOfWhatIsHeld) {
  const Quota quota{2, 100, 0, 1.5};
  EXPECT_TRUE(check_quota(quota, {1, 50, 1000, 1}, {1, 50, 1000, 0.5}).ok());
  for (const Holding& asked : {Holding{2, 0, 0, 0}, Holding{1, 51, 0, 0}, Holding{1, 0, 0, 0.6}}) {
    const Status status = check_quota(quota, {1, 50, 0, 1}, asked);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), Code::resource_exhausted);
  }
  EXPECT_TRUE(check_quota({}, {1000, 1ull << 50, 1ull << 50, 1000}, {1, 1, 1, 1}).ok());
}

}  // namespace
}  // namespace paddock::service
