#include "model/egress_table.h"

#include <gtest/gtest.h>

namespace paddock::model {
namespace {

using std::string_literals::operator""s;

PlainValue list(std::vector<std::string> texts) {
  PlainList out;
  for (std::string& item : texts) out.push_back({std::move(item)});
  return {std::move(out)};
}
EgressRule rule(PlainTable table) {
  return read_egress_rule(table).value();
}
Error rule_error(PlainTable table) {
  return read_egress_rule(table).error();
}

TEST(EgressTable, EveryKeyOfARuleIsRead) {
  const EgressRule read = rule({{"name", {"api"s}},
                                {"action", {"allow"s}},
                                {"hosts", list({"a.example", "*.b.example"})},
                                {"addresses", list({"192.0.2.1"})},
                                {"shared_suffix", {true}},
                                {"ports", {PlainList{{int64_t{443}}, {"8000-8010"s}}}},
                                {"protocol", {"https"s}},
                                {"methods", list({"GET"})},
                                {"paths", list({"/a/**"})},
                                {"query", {PlainTable{{"v", list({"1", "2"})}}}},
                                {"headers", {PlainTable{{"accept", {"x"s}}}}},
                                {"repositories", list({"o/*"})},
                                {"push", list({"agent/*"})},
                                {"request_bytes", {"10M"s}},
                                {"response_bytes", {int64_t{1024}}},
                                {"rate", {"100/1m"s}},
                                {"streams", {int64_t{8}}},
                                {"inspect", {"always"s}},
                                {"opaque_tls", {true}},
                                {"reason", {"because"s}}});
  EXPECT_EQ(read.name, "api");
  EXPECT_EQ(read.action, EgressAction::allow);
  EXPECT_EQ(read.hosts, (TextList{"a.example", "*.b.example"}));
  EXPECT_EQ(read.addresses, TextList{"192.0.2.1"});
  EXPECT_TRUE(read.shared_suffix);
  EXPECT_EQ(read.ports, (TextList{"443", "8000-8010"}));
  EXPECT_EQ(read.protocol, EgressProtocol::https);
  EXPECT_EQ(read.http.methods, TextList{"GET"});
  EXPECT_EQ(read.http.paths, TextList{"/a/**"});
  EXPECT_EQ(read.http.query.at("v"), (TextList{"1", "2"}));
  EXPECT_EQ(read.http.headers.at("accept"), TextList{"x"});
  EXPECT_EQ(read.git.repositories, TextList{"o/*"});
  EXPECT_EQ(read.git.push, TextList{"agent/*"});
  EXPECT_EQ(read.budget.request_bytes, 10u << 20);
  EXPECT_EQ(read.budget.response_bytes, 1024u);
  EXPECT_EQ(read.budget.rate->count, 100u);
  EXPECT_EQ(read.budget.rate->seconds, 60u);
  EXPECT_EQ(read.budget.streams, 8u);
  EXPECT_EQ(read.inspect, Inspection::always);
  EXPECT_EQ(read.opaque_tls, OpaqueTls::accepted);
  EXPECT_EQ(read.reason, "because");
}

TEST(EgressTable, OneTextIsAListOfOneAndAnEmptyListStaysEmpty) {
  EXPECT_EQ(rule({{"action", {"deny"s}}, {"hosts", {"a.example"s}}}).hosts, TextList{"a.example"});
  EXPECT_EQ(rule({{"action", {"allow"s}}, {"hosts", list({})}}).hosts, TextList{});
  EXPECT_EQ(rule({{"action", {"allow"s}}}).hosts, std::nullopt);
}

TEST(EgressTable, AKeyThatIsNoneIsAnErrorWithTheNearest) {
  const Error error = rule_error({{"action", {"allow"s}}, {"host", {"a"s}}});
  EXPECT_EQ(error.message(), "host: is no key here");
  EXPECT_EQ(error.remedy(), "did you mean \"hosts\"?");
  EXPECT_FALSE(read_egress_rule({{"action", {"allow"s}}, {"every_public_host", {true}}}).ok());
}

TEST(EgressTable, ValuesOfAnotherShapeAreErrors) {
  EXPECT_NE(rule_error({}).message().find("action"), std::string::npos);
  for (const PlainTable& table :
       {PlainTable{{"action", {"permit"s}}}, PlainTable{{"action", {true}}},
        PlainTable{{"hosts", {PlainTable{}}}}, PlainTable{{"hosts", {PlainList{{PlainList{}}}}}},
        PlainTable{{"hosts", {true}}}, PlainTable{{"rate", {"100"s}}},
        PlainTable{{"rate", {"x/1m"s}}}, PlainTable{{"rate", {"1/0s"s}}},
        PlainTable{{"streams", {int64_t{-1}}}}, PlainTable{{"streams", {"8"s}}},
        PlainTable{{"request_bytes", {"10 apples"s}}}, PlainTable{{"opaque_tls", {"yes"s}}},
        PlainTable{{"query", list({"a"})}}, PlainTable{{"hosts", {"a"s}}, {"hosts", {"b"s}}}}) {
    PlainTable whole = table;
    if (whole[0].name != "action") whole.push_back({"action", {"allow"s}});
    EXPECT_FALSE(read_egress_rule(whole).ok()) << table[0].name;
  }
}

TEST(EgressTable, ACredentialIsRead) {
  const Credential read = read_credential({{"name", {"aws"s}},
                                           {"kind", {"sigv4"s}},
                                           {"from", {"env:AWS_SECRET_ACCESS_KEY"s}},
                                           {"key_id_from", {"file:/etc/key:id"s}},
                                           {"hosts", {"s3.example"s}},
                                           {"env", {"AWS_SECRET_ACCESS_KEY"s}}})
                              .value();
  EXPECT_EQ(read.kind, CredentialKind::sigv4);
  EXPECT_EQ(read.secret.source, SecretSource::environment);
  EXPECT_EQ(read.secret.name, "AWS_SECRET_ACCESS_KEY");
  EXPECT_EQ(read.key_id.source, SecretSource::file);
  EXPECT_EQ(read.key_id.name, "/etc/key:id");
  EXPECT_EQ(read.ports, std::nullopt);
}

TEST(EgressTable, ACredentialNeedsANameAndASource) {
  EXPECT_FALSE(read_credential({{"from", {"env:X"s}}}).ok());
  EXPECT_FALSE(read_credential({{"name", {"x"s}}}).ok());
  EXPECT_EQ(read_credential({{"name", {"x"s}}, {"from", {"agent:"s}}}).value().secret.source,
            SecretSource::agent);
  for (const char* from : {"X", "env:", "vault:x", ":x", "", "agent"}) {
    EXPECT_FALSE(read_credential({{"name", {"x"s}}, {"from", {std::string(from)}}}).ok()) << from;
  }
}

TEST(AllowFlag, HostAndPortAreToldApart) {
  EXPECT_EQ(read_allow_flag("a.example").value().hosts, TextList{"a.example"});
  EXPECT_EQ(read_allow_flag("a.example").value().ports, std::nullopt);
  EXPECT_EQ(read_allow_flag("*.a.example:8443").value().hosts, TextList{"*.a.example"});
  EXPECT_EQ(read_allow_flag("*.a.example:8443").value().ports, TextList{"8443"});
  EXPECT_EQ(read_allow_flag("192.0.2.1:22").value().addresses, TextList{"192.0.2.1"});
  EXPECT_EQ(read_allow_flag("192.0.2.1:22").value().hosts, std::nullopt);
  EXPECT_EQ(read_allow_flag("[2001:db8::1]:22").value().addresses, TextList{"2001:db8::1"});
  EXPECT_EQ(read_allow_flag("[2001:db8::1]").value().ports, std::nullopt);
}

}  // namespace
}  // namespace paddock::model
