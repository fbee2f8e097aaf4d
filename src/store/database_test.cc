#include "store/database.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "sys/testing/temp_dir.h"

namespace paddock::store {
namespace {

class DatabaseTest : public ::testing::Test {
 protected:
  sys::testing::TempDir tmp_;
  std::string path_ = tmp_.path() + "/paddock.db";
};

Status insert_view(Database& db, const std::string& id, const std::string& workspace) {
  return db.execute("INSERT INTO view VALUES (?, ?, 'ready', 1, '[]', '[]', 0)",
                    {id, Value(workspace)});
}

TEST_F(DatabaseTest, KeepsBytesThatAreNoText) {
  Database db = Database::open(path_).value();
  std::string bytes("/x/\xff\n\0y", 7);
  ASSERT_TRUE(insert_view(db, "a", bytes).ok());
  auto rows =
      db.query("SELECT workspace, created_ms FROM view WHERE workspace = ?", {bytes}).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].text(0), bytes);
  EXPECT_EQ(rows[0].integer(1), 1);
}

TEST_F(DatabaseTest, AFailedTransactionLeavesNothing) {
  Database db = Database::open(path_).value();
  Status done = db.transaction([&]() -> Status {
    PD_TRY(insert_view(db, "a", "/w"));
    return Error(Code::internal, "boom");
  });
  EXPECT_EQ(done.error().message(), "boom");
  EXPECT_TRUE(db.query("SELECT * FROM view").value().empty());
}

TEST_F(DatabaseTest, ASecondConnectionSeesWhatTheFirstCommitted) {
  Database first = Database::open(path_).value();
  Database second = Database::open(path_).value();
  ASSERT_TRUE(insert_view(first, "a", "/w").ok());
  EXPECT_EQ(second.query("SELECT id FROM view").value().size(), 1u);
  EXPECT_EQ(insert_view(second, "a", "/w").error().code(), Code::already_exists);
}

TEST_F(DatabaseTest, ManyProcessesMayOpenANewFileAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(Database::open(path_).ok() ? 0 : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(DatabaseTest, ANewerSchemaIsRefusedWithARemedy) {
  {
    Database db = Database::open(path_).value();
    ASSERT_TRUE(db.execute("PRAGMA user_version=999").ok());
  }
  auto reopened = Database::open(path_);
  ASSERT_FALSE(reopened.ok());
  EXPECT_EQ(reopened.error().code(), Code::failed_precondition);
  EXPECT_FALSE(reopened.error().remedy().empty());
}

TEST_F(DatabaseTest, AForeignFileIsRefused) {
  ASSERT_TRUE(sys::replace_file(path_, std::string(4096, 'x'), 0600).ok());
  EXPECT_EQ(Database::open(path_).error().code(), Code::data_corrupt);
}

}  // namespace
}  // namespace paddock::store
