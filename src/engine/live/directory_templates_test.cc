#include "engine/live/directory_templates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using model::HostPath;

class TemplateDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sys::make_dirs(root_ + "/bin", 0755).ok());
    ASSERT_TRUE(sys::make_dirs(home_.str(), 0700).ok());
    shell("/bin/sh", 0755);
  }
  void shell(const std::string& at, mode_t mode) {
    std::ofstream(root_ + at) << "#!";
    ASSERT_EQ(::chmod((root_ + at).c_str(), mode), 0);
  }
  Code refused() {
    auto checked = check_template_directory(root_, home_);
    EXPECT_FALSE(checked.ok());
    if (checked.ok()) return Code::internal;
    EXPECT_FALSE(checked.error().remedy().empty()) << checked.error().describe();
    return checked.error().code();
  }

  sys::testing::TempDir tmp_;
  std::string root_ = tmp_.path() + "/root";
  HostPath home_{tmp_.path() + "/home"};
};

TEST_F(TemplateDirectory, OneWithAShellIsTakenByItsCanonicalPath) {
  ASSERT_EQ(::symlink(root_.c_str(), (tmp_.path() + "/link").c_str()), 0);
  auto checked = check_template_directory(tmp_.path() + "/link", home_);
  ASSERT_TRUE(checked.ok()) << checked.error().describe();
  EXPECT_EQ(checked->str(), sys::real_path(root_).value());
}

TEST_F(TemplateDirectory, AShellIsLookedForAsProgramsInsideWould) {
  ASSERT_EQ(::unlink((root_ + "/bin/sh").c_str()), 0);
  ASSERT_TRUE(sys::make_dirs(root_ + "/opt", 0755).ok());
  ASSERT_EQ(::symlink("/opt/busybox", (root_ + "/bin/sh").c_str()), 0);
  EXPECT_EQ(refused(), Code::invalid_argument);  // of the host's /opt nothing counts
  shell("/opt/busybox", 0755);
  EXPECT_TRUE(check_template_directory(root_, home_).ok());
  ASSERT_EQ(::unlink((root_ + "/bin/sh").c_str()), 0);
  ASSERT_EQ(::symlink("/../../../bin/sh", (root_ + "/bin/sh").c_str()), 0);
  EXPECT_EQ(refused(), Code::invalid_argument);  // it leads to itself
}

TEST_F(TemplateDirectory, AShellThatIsNoProgramIsNone) {
  shell("/bin/sh", 0644);
  EXPECT_EQ(refused(), Code::invalid_argument);
}

TEST_F(TemplateDirectory, WhatOthersCanChangeIsRefused) {
  ASSERT_EQ(::chmod(root_.c_str(), 0777), 0);
  EXPECT_EQ(refused(), Code::permission_denied);
  ASSERT_EQ(::chmod(root_.c_str(), 01777), 0);  // sticky says nothing of new files
  EXPECT_EQ(refused(), Code::permission_denied);
  ASSERT_EQ(::chmod(root_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(tmp_.path().c_str(), 0777), 0);  // it could be renamed
  EXPECT_EQ(refused(), Code::permission_denied);
  ASSERT_EQ(::chmod(tmp_.path().c_str(), 01777), 0);
  EXPECT_TRUE(check_template_directory(root_, home_).ok());
}

TEST_F(TemplateDirectory, PaddocksOwnStateIsRefusedFromBothSides) {
  ASSERT_TRUE(sys::make_dirs(home_.str() + "/layers/bin", 0755).ok());
  for (const std::string& path : {home_.str(), home_.str() + "/layers", tmp_.path()}) {
    auto checked = check_template_directory(path, home_);
    ASSERT_FALSE(checked.ok()) << path;
    EXPECT_EQ(checked.error().code(), Code::permission_denied);
  }
}

TEST_F(TemplateDirectory, WhatIsNoDirectoryIsRefused) {
  EXPECT_EQ(check_template_directory("root", home_).error().code(), Code::invalid_argument);
  EXPECT_EQ(check_template_directory(root_ + "/none", home_).error().code(), Code::not_found);
  EXPECT_EQ(check_template_directory(root_ + "/bin/sh", home_).error().code(),
            Code::invalid_argument);
}

TEST_F(TemplateDirectory, ANameIsTakenOnce) {
  store::Database database = store::Database::open(home_.str() + "/paddock.db").value();
  DirectoryTemplates table(database);
  ASSERT_TRUE(table.add({"one", HostPath(root_), 1}).ok());
  EXPECT_EQ(table.add({"one", HostPath("/other"), 2}).error().code(), Code::already_exists);
  EXPECT_EQ(table.find("one").value()->directory.str(), root_);
  EXPECT_FALSE(table.find("two").value());
  ASSERT_TRUE(table.remove("one").ok());
  EXPECT_TRUE(table.list().value().empty());
}

}  // namespace
}  // namespace paddock::engine
