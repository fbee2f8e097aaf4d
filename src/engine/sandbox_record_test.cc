#include "engine/sandbox_record.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

class SandboxRecordTest : public ::testing::Test {
 protected:
  store::Database database() { return store::Database::open(home_.str() + "/paddock.db").value(); }
  SandboxRecord create(store::Database& db) {
    return SandboxRecord::create(home_, db, model::Level::container, std::nullopt).value();
  }

  sys::testing::TempDir tmp_;
  model::HostPath home_{tmp_.path()};
};

TEST_F(SandboxRecordTest, ALiveSandboxIsNoOrphanAndAnEndedOneLeavesNothing) {
  store::Database db = database();
  std::string directory;
  {
    SandboxRecord record = create(db);
    directory = record.directory().str();
    ASSERT_TRUE(record.started(::getpid()).ok());
    EXPECT_TRUE(sys::exists(directory));
    EXPECT_TRUE(find_orphans(home_, db).value().empty());
    EXPECT_GT(db.query("SELECT pid_start FROM sandbox").value().at(0).integer(0), 0);
  }
  EXPECT_FALSE(sys::exists(directory));
  EXPECT_TRUE(db.query("SELECT * FROM sandbox").value().empty());
}

TEST_F(SandboxRecordTest, AKilledOwnerLeavesAnOrphanThatCanBeRemoved) {
  pid_t child = ::fork();
  if (child == 0) {
    store::Database db = database();
    SandboxRecord record = create(db);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  store::Database db = database();
  auto orphans = find_orphans(home_, db).value();
  ASSERT_EQ(orphans.size(), 1u);
  EXPECT_EQ(orphans[0].level, model::Level::container);
  ASSERT_TRUE(remove_orphan(home_, db, orphans[0].id).ok());
  EXPECT_TRUE(find_orphans(home_, db).value().empty());
  EXPECT_FALSE(sys::exists(home_.str() + "/sandboxes/" + orphans[0].id.str()));
}

TEST_F(SandboxRecordTest, AnAbandonedSandboxIsFoundAgain) {
  store::Database db = database();
  { create(db).abandon(); }
  EXPECT_EQ(find_orphans(home_, db).value().size(), 1u);
}

}  // namespace
}  // namespace paddock::engine
