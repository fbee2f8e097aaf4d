#include "egress/credentials/credential_set.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "egress/testing/samples.h"

namespace paddock::egress {
namespace {

using model::Credential;
using model::CredentialKind;

LoadedCredential loaded(Credential source) {
  if (source.name.empty()) source.name = "github";
  if (source.hosts.empty()) source.hosts = {"api.example"};
  return {.source = std::move(source), .secret = Secret(kToken), .key_id = {}};
}
std::shared_ptr<const CredentialSet> set_of(Credential source, std::string_view key = "sandbox") {
  source.env = "TOKEN";
  return CredentialSet::make({loaded(std::move(source))}, key).value();
}
std::string placeholder(const CredentialSet& set) {
  return set.environment().at(0).second;
}

http::Request get(http::Fields fields = {}, std::string path = "/x") {
  return {.method = "GET",
          .target = std::move(path),
          .authority = "api.example",
          .fields = std::move(fields)};
}
std::string field(const http::Request& request, std::string_view name) {
  const http::Field* found = http::find_field(request.fields, name);
  return found == nullptr ? "" : found->value;
}

TEST(Credentials, ThePlaceholderBecomesTheSecretAtItsHost) {
  auto set = set_of({});
  http::Request request = get({{"authorization", "token " + placeholder(*set)}});
  const Injection injection = set->inject(target("api.example"), request).value();
  EXPECT_EQ(injection.credentials, std::vector<std::string>{"github"});
  EXPECT_EQ(field(request, "authorization"), "Bearer " + kToken);
}

TEST(Credentials, AProgramThatSendsNothingGetsItToo) {
  auto set = set_of({.header = "X-Api-Key", .form = "{secret}"});
  http::Request request = get();
  ASSERT_TRUE(set->inject(target("api.example"), request).ok());
  EXPECT_EQ(field(request, "x-api-key"), kToken);
}

TEST(Credentials, AProgramsOwnValueStays) {
  auto set = set_of({});
  http::Request request = get({{"authorization", "Bearer its-own"}});
  EXPECT_TRUE(set->inject(target("api.example"), request).value().empty());
  EXPECT_EQ(field(request, "authorization"), "Bearer its-own");
}

TEST(Credentials, NoOtherRequestGetsIt) {
  auto set = set_of({.hosts = {"api.example"}, .methods = {{"GET"}}, .paths = {{"/repos/**"}}});
  auto unchanged = [&](const Target& to, http::Request request) {
    return set->inject(to, request).value().empty() && field(request, "authorization").empty();
  };
  EXPECT_FALSE(unchanged(target("api.example"), get({}, "/repos/a")));
  EXPECT_TRUE(unchanged(target("other.example"), get({}, "/repos/a")));
  EXPECT_TRUE(unchanged(target("x.api.example"), get({}, "/repos/a")));
  EXPECT_TRUE(unchanged(target("api.example", 8443), get({}, "/repos/a")));
  EXPECT_TRUE(unchanged(target("9.9.9.9"), get({}, "/repos/a")));
  EXPECT_TRUE(unchanged(target("api.example"), get({}, "/user")));
  EXPECT_TRUE(unchanged(target("api.example"), get({}, "/repos/../user")));
  http::Request post = get({}, "/repos/a");
  post.method = "POST";
  EXPECT_TRUE(unchanged(target("api.example"), post));
}

TEST(Credentials, APlaceholderAnywhereElseIsRefused) {
  auto set = set_of({});
  const std::string text = placeholder(*set);
  auto code = [&](const Target& to, http::Request request) {
    auto injected = set->inject(to, request);
    return injected.ok() ? Code::internal : injected.error().code();
  };
  const Target other = target("other.example"), home = target("api.example");
  EXPECT_EQ(code(other, get({{"authorization", "Bearer " + text}})), Code::permission_denied);
  EXPECT_EQ(code(other, get({{"authorization", "Basic " + base64_encode("u:" + text)}})),
            Code::permission_denied);
  EXPECT_EQ(code(other, get({}, "/?t=" + text)), Code::permission_denied);
  EXPECT_EQ(code(other, get({}, "/%67" + text.substr(1))), Code::permission_denied);
  EXPECT_EQ(code(other, get({{text, "x"}})), Code::permission_denied);
  EXPECT_EQ(code(home, get({{"x-other", text}})), Code::permission_denied);
  EXPECT_EQ(code(home, get({}, "/" + text)), Code::permission_denied);
  EXPECT_EQ(code(home, get({{"cookie", "a=" + text}})), Code::permission_denied);
  http::Request twice =
      get({{"authorization", "Bearer its-own"}, {"authorization", "Bearer " + text}});
  EXPECT_EQ(code(home, twice), Code::permission_denied);
}

TEST(Credentials, AForksPlaceholderIsItsOwn) {
  auto parent = set_of({}, "parent"), child = set_of({}, "child");
  EXPECT_NE(placeholder(*parent), placeholder(*child));
  http::Request request = get({{"authorization", "Bearer " + placeholder(*parent)}});
  EXPECT_TRUE(child->inject(target("api.example"), request).value().empty());
  EXPECT_EQ(field(request, "authorization").find(kToken), std::string::npos);
}

TEST(Credentials, BasicTakesTheProgramsUser) {
  auto set = set_of({.kind = CredentialKind::basic});
  http::Request request =
      get({{"authorization", "Basic " + base64_encode("alice:" + placeholder(*set))}});
  ASSERT_TRUE(set->inject(target("api.example"), request).ok());
  EXPECT_EQ(field(request, "authorization"), "Basic " + base64_encode("alice:" + kToken));
  http::Request bare = get();
  ASSERT_TRUE(set->inject(target("api.example"), bare).ok());
  EXPECT_EQ(field(bare, "authorization"), "Basic " + base64_encode("x-access-token:" + kToken));
}

TEST(Credentials, QueryReplacesOneParameter) {
  auto set = set_of({.kind = CredentialKind::query, .parameter = "key"});
  http::Request request = get({}, "/x?a=1&key=" + placeholder(*set) + "&b=2");
  ASSERT_TRUE(set->inject(target("api.example"), request).ok());
  EXPECT_EQ(request.target, "/x?a=1&key=" + kToken + "&b=2");
  http::Request bare = get({}, "/x");
  ASSERT_TRUE(set->inject(target("api.example"), bare).ok());
  EXPECT_EQ(bare.target, "/x?key=" + kToken);
  http::Request own = get({}, "/x?key=its-own");
  EXPECT_TRUE(set->inject(target("api.example"), own).value().empty());
}

TEST(Credentials, SigV4IsPlannedForItsOwnKeyAlone) {
  LoadedCredential aws = loaded({.kind = CredentialKind::sigv4, .key_id_env = "AWS_ACCESS_KEY_ID"});
  aws.secret = Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
  aws.key_id = Secret("AKIAIOSFODNN7EXAMPLE");
  auto set = CredentialSet::make({aws}, "sandbox").value();
  const std::string id = placeholder(*set);
  EXPECT_TRUE(id.starts_with("AKIA"));
  auto signed_by = [](const std::string& key_id) {
    return get({{"x-amz-date", "20130524T000000Z"},
                {"authorization",
                 "AWS4-HMAC-SHA256 Credential=" + key_id +
                     "/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=0"}});
  };
  http::Request ours = signed_by(id);
  const Injection injection = set->inject(target("api.example"), ours).value();
  ASSERT_TRUE(injection.sigv4.has_value());
  sign_again(ours, *injection.sigv4, *injection.aws_key, "");
  EXPECT_NE(field(ours, "authorization").find("AKIAIOSFODNN7EXAMPLE"), std::string::npos);
  http::Request others = signed_by("AKIAOTHER");
  EXPECT_TRUE(set->inject(target("api.example"), others).value().empty());
  http::Request elsewhere = signed_by(id);
  EXPECT_EQ(set->inject(target("other.example"), elsewhere).error().code(),
            Code::permission_denied);
}

TEST(Credentials, WhatCannotBePutOnIsAnErrorAtOnce) {
  auto refusal = [](LoadedCredential credential) {
    auto set = CredentialSet::make({std::move(credential)}, "sandbox");
    return set.ok() ? std::string() : set.error().describe();
  };
  LoadedCredential no_host = loaded({});
  no_host.source.hosts = {};
  EXPECT_NE(refusal(no_host), "");
  EXPECT_NE(refusal(loaded({.hosts = {"*"}})), "");
  EXPECT_NE(refusal(loaded({.hosts = {"*.github.io"}})), "");
  EXPECT_NE(refusal(loaded({.form = "Bearer"})), "");
  EXPECT_NE(refusal(loaded({.header = "Host"})), "");
  EXPECT_NE(refusal(loaded({.kind = CredentialKind::query})), "");
  EXPECT_NE(refusal(loaded({.kind = CredentialKind::sigv4})), "");
  EXPECT_NE(refusal(loaded({.name = "a b"})), "");
  LoadedCredential line = loaded({});
  line.secret = Secret(kToken + "\n");
  EXPECT_NE(refusal(line), "");
  EXPECT_EQ(refusal(line).find(kToken), std::string::npos);
  LoadedCredential empty = loaded({});
  empty.secret = Secret("");
  EXPECT_NE(refusal(empty), "");
  EXPECT_FALSE(CredentialSet::make({loaded({}), loaded({})}, "sandbox").ok());
}

// --- ssh

Result<std::shared_ptr<const CredentialSet>> ssh_set(Credential source, std::string secret) {
  source.name = "key";
  source.kind = CredentialKind::ssh;
  source.hosts = {"git.example"};
  return CredentialSet::make(
      {{.source = std::move(source), .secret = Secret(std::move(secret)), .key_id = {}}},
      "sandbox");
}

const std::string kKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nxxxx\n-----END";

TEST(SshCredentials, AreForTheirHostAndPortAndNoPartOfRequests) {
  const auto set = ssh_set({}, kKey).value();
  const SshIdentity identity = set->ssh_identity(target("git.example", 22)).value();
  EXPECT_EQ(identity.user, "git");
  EXPECT_EQ(identity.private_key.reveal(), kKey);
  EXPECT_FALSE(set->ssh_identity(target("git.example", 2222)).has_value());
  EXPECT_FALSE(set->ssh_identity(target("other.example", 22)).has_value());
  EXPECT_FALSE(set->binds(target("git.example", 22)));
  http::Request request = get();
  EXPECT_TRUE(set->inject(target("git.example", 22), request)->empty());
  EXPECT_TRUE(set->environment().empty());
}

TEST(SshCredentials, WhatIsNoKeyOrHasAPlaceholderIsRefused) {
  EXPECT_FALSE(ssh_set({}, "ghp_16C7e42F292c6912E7710c838347Ae178B4a").ok());
  Credential variable, user, paths;
  variable.env = "KEY";
  user.user = "git -oProxyCommand";
  paths.paths = model::TextList{"/x"};
  for (const Credential& bad : {variable, user, paths}) EXPECT_FALSE(ssh_set(bad, kKey).ok());
  user.user = "deploy.bot";
  EXPECT_EQ(ssh_set(user, kKey).value()->ssh_identity(target("git.example", 22))->user,
            "deploy.bot");
}

}  // namespace
}  // namespace paddock::egress
