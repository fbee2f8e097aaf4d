#include "egress/ssh/agent_protocol.h"

#include <gtest/gtest.h>

namespace paddock::egress::ssh {
namespace {

std::string text(const std::string& bytes) {
  return encode_agent_message(bytes);
}

std::string login(const std::string& user, const std::string& blob,
                  const std::string& service = "ssh-connection") {
  return text("session") + std::string(1, 50) + text(user) + text(service) + text("publickey") +
         std::string(1, 1) + text("ssh-ed25519") + text(blob);
}

std::string sign(const std::string& blob, const std::string& data) {
  return std::string(1, 13) + text(blob) + text(data) + std::string(4, '\0');
}

TEST(AgentProtocol, MessagesComeInPieces) {
  std::string bytes = encode_agent_message("one") + encode_agent_message("two").substr(0, 5);
  EXPECT_EQ(take_agent_message(bytes).value(), "one");
  EXPECT_EQ(take_agent_message(bytes).value(), std::nullopt);
  bytes += "wo";
  EXPECT_EQ(take_agent_message(bytes).value(), "two");
  std::string huge = "\x7f\xff\xff\xff more";
  EXPECT_FALSE(take_agent_message(huge).ok());
  std::string empty(4, '\0');
  EXPECT_FALSE(take_agent_message(empty).ok());
}

TEST(AgentProtocol, ALoginOfTheUserIsSigned) {
  const AgentLeave any{.key = "", .user = "git"};
  EXPECT_TRUE(check_request(list_request(), any).ok());
  EXPECT_TRUE(check_request(sign("blob", login("git", "blob")), any).ok());
  const AgentLeave one{.key = fingerprint("blob"), .user = "git"};
  EXPECT_TRUE(check_request(sign("blob", login("git", "blob")), one).ok());
}

TEST(AgentProtocol, NothingElseIs) {
  const AgentLeave leave{.key = fingerprint("blob"), .user = "git"};
  const std::string good = sign("blob", login("git", "blob"));
  for (const std::string& bad :
       {sign("other", login("git", "other")), sign("blob", login("root", "blob")),
        sign("blob", login("git", "other")), sign("blob", login("git", "blob", "other")),
        sign("blob", login("git", "blob") + "x"), sign("blob", "SSHSIG whatever"), sign("blob", ""),
        good + "x", list_request() + "x", std::string(), std::string(1, 17) /* add a key */,
        std::string(1, 19) /* remove all */, std::string(1, 27) /* an extension */}) {
    EXPECT_FALSE(check_request(bad, leave).ok());
  }
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(check_request(good.substr(0, size), leave).ok()) << size;
}

TEST(AgentProtocol, OnlyTheNamedKeyIsSeen) {
  const std::string all = encode_keys({{"a", "one"}, {"b", "two"}});
  EXPECT_EQ(narrow_answer(all, {.key = "", .user = "git"}).value(), all);
  const auto one = narrow_answer(all, {.key = fingerprint("b"), .user = "git"}).value();
  const auto keys = parse_keys(one).value();
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].comment, "two");
  EXPECT_EQ(narrow_answer(failure_answer(), {}).value(), failure_answer());
  EXPECT_FALSE(narrow_answer(all.substr(0, all.size() - 1), {}).ok());
  EXPECT_FALSE(narrow_answer(std::string("\x0c\xff\xff\xff\xff", 5), {}).ok());
}

TEST(AgentProtocol, FingerprintsAreThoseOfSshKeygen) {
  EXPECT_EQ(fingerprint(""), "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU");
  EXPECT_TRUE(is_fingerprint(fingerprint("x")));
  for (const char* bad : {"", "SHA256:", "SHA256:abc", "MD5:00", "me@host"})
    EXPECT_FALSE(is_fingerprint(bad)) << bad;
}

}  // namespace
}  // namespace paddock::egress::ssh
