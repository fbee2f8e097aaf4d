#include "api/e2b/network_json.h"

#include <gtest/gtest.h>

#include "api/e2b/json.h"
#include "egress/rules/policy.h"

namespace paddock::api::e2b {
namespace {

using engine::NetworkRequest;

Result<egress::Secret> secret(const std::string& name) {
  if (name == "key") return egress::Secret("s3cret-value");
  return Error(Code::not_found, "no secret " + name);
}

Result<NetworkRequest> network_of(std::string_view network, std::string_view more = "") {
  std::string body = "{\"network\":" + std::string(network) + std::string(more) + "}";
  return network_of_create(parse_object(body).value(), secret);
}

// What a sandbox reaches whose policy is open.
egress::Answer reaches(const NetworkRequest& request, const std::string& host,
                       uint16_t port = 443) {
  model::EgressRule all;
  all.action = model::EgressAction::allow;
  all.every_public_host = all.every_public_address = true;
  all.ports = model::TextList{"*"};
  engine::EgressSource open;
  open.policy.lists = {{all}};
  auto source = engine::narrow(open, request);
  auto policy = egress::Policy::compile(source.value().policy);
  EXPECT_TRUE(policy.ok()) << policy.error().describe();
  return (*policy)->decide({egress::parse_host(host).value(), port}, {}).answer;
}

TEST(NetworkOfCreate, SaysNothingAndGetsWhatPolicyGives) {
  auto request = network_of_create(parse_object("{}").value(), secret);
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request->narrowing);
  EXPECT_FALSE(request->internet);
  EXPECT_EQ(request->traffic, NetworkRequest::Traffic::open);
}

TEST(NetworkOfCreate, AllowedComesBeforeDenied) {
  auto request =
      network_of(R"({"allowOut":["a.example","*.b.example","8.8.8.8"],"denyOut":["0.0.0.0/0"]})");
  ASSERT_TRUE(request.ok()) << request.error().describe();
  EXPECT_NE(reaches(*request, "a.example"), egress::Answer::deny);
  EXPECT_NE(reaches(*request, "x.b.example", 8080), egress::Answer::deny);
  EXPECT_NE(reaches(*request, "8.8.8.8", 53), egress::Answer::deny);
  EXPECT_EQ(reaches(*request, "b.example"), egress::Answer::deny);
  EXPECT_EQ(reaches(*request, "8.8.4.4"), egress::Answer::deny);
}

TEST(NetworkOfCreate, ADeniedBlockLeavesAllElse) {
  auto request = network_of(R"({"denyOut":["8.8.8.0/24"],"allowOut":["8.8.8.8"]})");
  ASSERT_TRUE(request.ok()) << request.error().describe();
  EXPECT_NE(reaches(*request, "8.8.8.8"), egress::Answer::deny);
  EXPECT_EQ(reaches(*request, "8.8.8.9"), egress::Answer::deny);
  EXPECT_NE(reaches(*request, "1.1.1.1"), egress::Answer::deny);
  EXPECT_NE(reaches(*request, "a.example"), egress::Answer::deny);
}

TEST(NetworkOfCreate, NoInternetDeniesEverything) {
  auto request =
      network_of_create(parse_object(R"({"allow_internet_access":false})").value(), secret);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(reaches(*request, "a.example"), egress::Answer::deny);
  EXPECT_EQ(reaches(*request, "8.8.8.8"), egress::Answer::deny);
}

TEST(NetworkOfCreate, NothingIsEverWidened) {
  auto request = network_of(R"({"allowOut":["0.0.0.0/0"],"denyOut":["0.0.0.0/0"]})");
  ASSERT_TRUE(request.ok());
  auto source = engine::narrow(engine::EgressSource(), *request);
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE(source->policy.lists.empty());
}

TEST(NetworkOfCreate, RefusesWhatCannotHold) {
  for (const char* network :
       {R"({"allowOut":["a.example"]})", R"({"denyOut":["a.example"]})", R"({"allowOut":"x"})",
        R"({"allowOut":[1]})", R"({"maskRequestHost":"a b"})", R"({"allowPublicTraffic":"no"})",
        R"({"rules":{"a.example":[{"transform":{"headers":{"Host":"x"}}}]}})",
        R"({"rules":{"a.example":[{"transform":{"headers":{"A":"x\r\nB: y"}}}]}})",
        R"({"rules":{"a.example":[{"transform":{"headers":{"A b":"x"}}}]}})",
        R"({"rules":{"a.example":[{"transform":{"headers":{"A":"${e2b.secrets.none}"}}}]}})",
        R"({"rules":{"*":[]}})", R"({"rules":{"a.example":[{},{}]}})"}) {
    auto request = network_of(network);
    ASSERT_FALSE(request.ok()) << network;
    EXPECT_EQ(request.error().code(), Code::invalid_argument) << request.error().describe();
  }
  for (const char* network :
       {R"({"egressProxy":{"address":"a:1"}})", R"({"httpsPorts":[8443]})",
        R"({"rules":{"a.example":[{"transform":{"headers":{"A":"${e2b.identity.tokens.t}"}}}]}})",
        R"({"rules":{"a.b.example":[],"*.b.example":[]}})"}) {
    EXPECT_EQ(network_of(network).error().code(), Code::unsupported) << network;
  }
}

TEST(NetworkOfCreate, ASecretInAHeaderIsFilledInAndNotShown) {
  auto request = network_of(
      R"({"rules":{"API.example":[{"transform":{"headers":{"Authorization":"Bearer ${e2b.secrets.key}","X-Plain":"p"}}}]}})");
  ASSERT_TRUE(request.ok()) << request.error().describe();
  ASSERT_EQ(request->headers.size(), 2u);
  EXPECT_EQ(request->headers[0].host, "api.example");
  EXPECT_EQ(request->headers[0].form, "Bearer {secret}");
  EXPECT_EQ(request->headers[0].secret->reveal(), "s3cret-value");
  EXPECT_EQ(request->headers[0].confidence, model::Confidence::secret);
  EXPECT_EQ(request->headers[1].confidence, model::Confidence::open);
  EXPECT_EQ(request->text.find("s3cret"), std::string::npos);
}

TEST(NetworkOfUpdate, ReplacesWhatLeavesAndKeepsWhatComesIn) {
  auto before = network_of(
      R"({"denyOut":["0.0.0.0/0"],"allowPublicTraffic":false,"maskRequestHost":"h:${PORT}"})");
  ASSERT_TRUE(before.ok());
  auto after =
      network_of_update(parse_object(R"({"denyOut":["9.9.9.9"]})").value(), *before, secret);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(reaches(*after, "9.9.9.9"), egress::Answer::deny);
  EXPECT_NE(reaches(*after, "8.8.8.8"), egress::Answer::deny);
  EXPECT_EQ(after->traffic, NetworkRequest::Traffic::with_token);
  EXPECT_EQ(after->host_mask, "h:${PORT}");
  const auto shown = parse_object(after->text).value();
  EXPECT_EQ(shown.at("allowPublicTraffic").get_bool(), false);
  EXPECT_EQ(shown.at("denyOut").get_array().size(), 1u);
}

TEST(NetworkWithWord, IsKeptByUpdatesAndReadBackFromItsText) {
  const auto asked = network_of(R"({"allowOut":["a.example"],"denyOut":["0.0.0.0/0"]})").value();
  const auto denied = network_with_word(asked, {engine::ChangeVerb::deny, "a.example"}).value();
  const auto said = network_with_word(denied, {engine::ChangeVerb::allow, "b.example"}).value();
  EXPECT_EQ(reaches(said, "a.example"), egress::Answer::deny);
  EXPECT_NE(reaches(said, "b.example"), egress::Answer::deny);
  EXPECT_EQ(reaches(said, "c.example"), egress::Answer::deny);

  const auto updated =
      network_of_update(parse_object(R"({"paddockRules":{"allow":["a.example"]}})").value(), said,
                        secret)
          .value();
  EXPECT_EQ(reaches(updated, "a.example"), egress::Answer::deny)
      << "not undone by a client's update";
  EXPECT_NE(reaches(updated, "c.example"), egress::Answer::deny) << "which opens what it may";
  const auto read_back = network_of(updated.text);
  ASSERT_TRUE(read_back.ok()) << read_back.error().describe();
  EXPECT_EQ(read_back->words, said.words);
  EXPECT_EQ(reaches(*read_back, "a.example"), egress::Answer::deny);
}

TEST(NetworkWithWord, RefusesWhatIsNoHost) {
  EXPECT_FALSE(network_with_word({}, {engine::ChangeVerb::deny, "a b"}).ok());
  EXPECT_FALSE(network_of(R"({"paddockRules":{"deny":["a b"]}})").ok());
  EXPECT_FALSE(network_of(R"({"paddockRules":{"deny":"a.example"}})").ok());
}

}  // namespace
}  // namespace paddock::api::e2b
