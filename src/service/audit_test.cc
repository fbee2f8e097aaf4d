#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "service/audit_files.h"
#include "service/audit_log.h"
#include "service/audit_reader.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::service {
namespace {

class Audit : public ::testing::Test {
 protected:
  std::string file(uint64_t number = 1) const { return path_ + "/" + segment_name(number); }
  AuditLog open(const AuditOptions& options = {}) { return AuditLog::open(path_, options).value(); }

  void write(int count) {
    AuditLog log = open();
    for (int i = 0; i < count; ++i) ASSERT_TRUE(log.append("request", {{"n", i}}).ok());
    ASSERT_TRUE(log.sync_now().ok());
  }
  std::vector<std::string> lines() {
    std::vector<std::string> out = split(sys::read_file(file()).value(), '\n');
    out.pop_back();
    return out;
  }
  void put(const std::vector<std::string>& lines) {
    ASSERT_TRUE(sys::replace_file(file(), join(lines, "\n") + "\n", 0600).ok());
  }
  AuditReport verify(const std::optional<AuditPoint>& noted = {}) {
    return verify_audit(path_, noted).value();
  }
  // Lines at which something is wrong.
  std::vector<uint64_t> bad_lines() {
    std::vector<uint64_t> out;
    for (const AuditProblem& problem : verify().problems) out.push_back(problem.line);
    return out;
  }

  sys::testing::TempDir dir_;
  std::string path_ = dir_.path() + "/audit";
};

using Numbers = std::vector<uint64_t>;

TEST_F(Audit, AnUntouchedLogIsWhole) {
  write(5);
  write(5);
  const AuditReport report = verify();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(report.records, 10u);
  EXPECT_EQ(report.last.seq, 10u);
}

TEST_F(Audit, AChangedByteIsFoundWithItsLine) {
  write(6);
  auto all = lines();
  for (const size_t at : {size_t{3}, all[2].size() / 2, all[2].size() - 3}) {
    auto changed = all;
    changed[2][at] = static_cast<char>(changed[2][at] ^ 1);
    put(changed);
    EXPECT_EQ(bad_lines(), Numbers{3}) << at;
  }
  put(all);
  EXPECT_TRUE(verify().problems.empty()) << "the guard finds what is not there";
}

TEST_F(Audit, ALineThatWasMadeAnewDoesNotFit) {
  write(6);
  auto all = lines();
  AuditPoint point = read_audit_line(all[1]).value().point;
  all[2] = make_audit_line(point, 0, "request", {{"n", 77}});
  all[2].pop_back();
  put(all);
  EXPECT_EQ(bad_lines(), Numbers{4});
}

TEST_F(Audit, ARemovedLineIsFoundWhereverItStood) {
  write(6);
  const auto all = lines();
  for (size_t gone = 0; gone < all.size(); ++gone) {
    auto changed = all;
    changed.erase(changed.begin() + static_cast<ptrdiff_t>(gone));
    put(changed);
    const Numbers expected{gone + 1 == all.size() ? 0 : gone + 1};
    EXPECT_EQ(bad_lines(), expected) << gone;
  }
}

TEST_F(Audit, ReorderedAndRepeatedLinesAreFound) {
  write(6);
  const auto all = lines();
  auto swapped = all;
  std::swap(swapped[2], swapped[3]);
  put(swapped);
  EXPECT_EQ(bad_lines().front(), 3u);
  auto repeated = all;
  repeated.insert(repeated.begin() + 2, all[1]);
  put(repeated);
  EXPECT_EQ(bad_lines().front(), 3u);
}

TEST_F(Audit, LinesThatAreMissingAtTheEndStayOnRecord) {
  write(6);
  auto all = lines();
  all.resize(4);
  put(all);
  EXPECT_EQ(bad_lines(), Numbers{0});
  AuditLog log = open();
  EXPECT_EQ(log.missing(), 2u);
  ASSERT_TRUE(log.append("request", {}).ok());
  ASSERT_TRUE(log.sync_now().ok());
  EXPECT_EQ(bad_lines(), Numbers{5}) << "the next sync has hidden it";
}

TEST_F(Audit, AChainMadeAnewLacksThePointThatWasNoted) {
  write(6);
  const AuditPoint noted = verify().last;
  EXPECT_TRUE(verify(noted).problems.empty());
  ASSERT_TRUE(sys::remove_tree(path_).ok());
  write(9);
  EXPECT_TRUE(verify().problems.empty());
  EXPECT_FALSE(verify(noted).problems.empty());
}

TEST_F(Audit, ATornLastLineIsCutOffAndSaid) {
  write(3);
  const std::string whole = sys::read_file(file()).value();
  for (const std::string& torn : {std::string("{\"seq\":4,\"ti"), std::string(100, '\0')}) {
    ASSERT_TRUE(sys::replace_file(file(), whole + torn, 0600).ok());
    EXPECT_TRUE(verify().problems.empty());
    EXPECT_EQ(verify().torn_bytes, torn.size());
    AuditLog log = open();
    EXPECT_EQ(log.torn_bytes(), torn.size());
    ASSERT_TRUE(log.append("request", {}).ok());
    const AuditReport report = verify();
    EXPECT_TRUE(report.problems.empty());
    EXPECT_EQ(report.records, 5u);
    EXPECT_NE(lines()[3].find("\"recovered\""), std::string::npos);
  }
}

TEST_F(Audit, NothingIsChainedToALineThatWasChanged) {
  write(3);
  auto all = lines();
  all[2][10] = '#';
  put(all);
  EXPECT_EQ(AuditLog::open(path_, {}).error().code(), Code::data_corrupt);
}

TEST_F(Audit, TwoWritersKeepOneChain) {
  AuditLog one = open(), other = open();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((i % 3 == 0 ? one : other).append("request", {{"n", i}}).ok());
  }
  ASSERT_TRUE(append_audit(path_, "key_created", {}).ok());
  ASSERT_TRUE(one.append("request", {}).ok());
  EXPECT_EQ(verify().records, 22u);
  EXPECT_TRUE(verify().problems.empty());
}

TEST_F(Audit, GoesOnInTheNextFile) {
  AuditLog log = open({.segment_bytes = 1000});
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(log.append("request", {{"n", i}}).ok());
  ASSERT_GT(audit_segments(path_).value().size(), 2u);
  EXPECT_TRUE(verify().problems.empty());
  EXPECT_EQ(open({.segment_bytes = 1000}).head(), log.head());

  ASSERT_EQ(::unlink(file(1).c_str()), 0);  // put away by the operator
  EXPECT_TRUE(verify().problems.empty());
  EXPECT_GT(verify().first_seq, 1u);

  ASSERT_EQ(::unlink(file(3).c_str()), 0);
  EXPECT_FALSE(verify().problems.empty());
}

TEST_F(Audit, RecordsAreBounded) {
  AuditLog log = open();
  ASSERT_TRUE(log.append("request", {{"text", std::string(1 << 20, 'a')}}).ok());
  EXPECT_LT(lines().back().size(), kMaxAuditLine);
  EXPECT_LE(audit_text(std::string(10'000, 'a')).size(), kMaxAuditText + 3);
  EXPECT_EQ(audit_text("a\n\xff"), "a\\x0a\\xff");
  EXPECT_TRUE(verify().problems.empty());
}

TEST_F(Audit, CanBeCheckedWithAShell) {
  write(2);
  const std::string line = lines()[1];
  const size_t end = line.find(",\"hash\":");
  EXPECT_EQ(sys::sha256_hex(line.substr(0, end)), line.substr(end + 9, 64));
}

}  // namespace
}  // namespace paddock::service
