#include "engine/live/code_interpreter.h"

#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

class CodeInterpreter : public ::testing::Test {
 protected:
  CodeInterpreter() {
    plan_.decision.root_template = dir_.path() + "/root";
    make("share/code_interpreter", "server.py");
    make("root/usr/bin", "python3");
    for (const char* package : {"ipykernel", "jupyter_client"}) {
      make(std::string("root/usr/lib/python3/dist-packages/") + package, "__init__.py");
    }
  }
  void make(const std::string& directory, const std::string& file) {
    const std::string path = dir_.path() + "/" + directory;
    EXPECT_TRUE(sys::make_dirs(path, 0755).ok());
    EXPECT_TRUE(sys::replace_file(path + "/" + file, "", 0644).ok());
  }
  Status add(const std::string& share = "share") {
    return add_code_interpreter(model::HostPath(share.empty() ? "" : dir_.path() + "/" + share),
                                plan_);
  }

  sys::testing::TempDir dir_;
  RunPlan plan_;
};

TEST_F(CodeInterpreter, IsShownReadOnly) {
  ASSERT_TRUE(add().ok());
  ASSERT_EQ(plan_.sandbox.files.binds.size(), 1u);
  EXPECT_EQ(plan_.sandbox.files.binds[0].access, model::Access::read_only);
}

TEST_F(CodeInterpreter, IsRefusedWithTheRemedyWhereAPackageIsMissing) {
  ASSERT_EQ(::rename((dir_.path() + "/root/usr/lib/python3/dist-packages/ipykernel").c_str(),
                     (dir_.path() + "/elsewhere").c_str()),
            0);
  const Status refused = add();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::unsupported);
  EXPECT_NE(refused.error().message().find("ipykernel"), std::string::npos);
  EXPECT_NE(refused.error().remedy().find("apt-get install"), std::string::npos);
}

TEST_F(CodeInterpreter, IsRefusedWhereItsProgramIsNotInstalled) {
  EXPECT_EQ(add("").error().code(), Code::unsupported);
  EXPECT_EQ(add("nowhere").error().code(), Code::unsupported);
}

}  // namespace
}  // namespace paddock::engine
