#include "isolation/container/mount_program_builder.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::isolation::container {
namespace {

using model::GuestPath;
using model::HostPath;

class MountProgramBuilder : public ::testing::Test {
 protected:
  MountProgramBuilder() {
    plan_.home = GuestPath("/home/user");
    for (const char* name : {"/lower", "/view", "/view/fs", "/view/work"}) {
      EXPECT_TRUE(sys::make_dir(dir_.path() + name, 0755).ok());
    }
    EXPECT_TRUE(sys::replace_file(dir_.path() + "/file", "", 0644).ok());
  }

  HostPath host(const std::string& name) const { return HostPath(dir_.path() + "/" + name); }

  void add_overlay(const std::string& at) {
    plan_.files.overlays.push_back({GuestPath(at), {host("lower")}, std::nullopt});
  }
  void add_view(const std::string& at) {
    plan_.files.overlays.push_back(
        {GuestPath(at), {host("lower")}, model::UpperDirs{host("view/fs"), host("view/work")}});
  }

  Result<MountProgram> build() {
    PathSources sources;
    return build_mount_program(plan_, options_, sources);
  }

  MountProgram must_build() {
    auto program = build();
    EXPECT_TRUE(program.ok()) << program.error().describe();
    return program.ok() ? *program : MountProgram();
  }

  template <typename S>
  static std::vector<S> steps_of(const MountProgram& program) {
    std::vector<S> found;
    for (const Step& step : program) {
      if (const S* match = std::get_if<S>(&step)) found.push_back(*match);
    }
    return found;
  }

  static size_t index_of(const MountProgram& program, const std::string& description) {
    for (size_t i = 0; i < program.size(); ++i) {
      if (describe(program[i]) == description) return i;
    }
    ADD_FAILURE() << "no step: " << description;
    return 0;
  }

  sys::testing::TempDir dir_;
  SandboxPlan plan_;
  ProgramOptions options_;
};

TEST_F(MountProgramBuilder, OverlayOptionsNameLayersByNumberOnly) {
  plan_.files.overlays.push_back({GuestPath("/w"),
                                  {host("a:b,c\\"), host("lower")},
                                  model::UpperDirs{host("view/fs"), host("view/work")}});
  auto overlays = steps_of<step::MountOverlay>(must_build());
  ASSERT_EQ(overlays.size(), 1u);
  EXPECT_EQ(overlays[0].options,
            "lowerdir=l0:l1,upperdir=u0,workdir=w0,userxattr,index=off,metacopy=off,volatile");
}

TEST_F(MountProgramBuilder, UpperAndWorkAreReachedThroughTheirCommonParent) {
  add_view("/w");
  MountProgram program = must_build();
  auto layers = steps_of<step::NameLayer>(program);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].name, "p0");
  EXPECT_EQ(layers[1].source.path, dir_.path() + "/view");
  auto links = steps_of<step::ScratchSymlink>(program);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].name + " -> " + links[0].target, "u0 -> p0/fs");
  EXPECT_EQ(links[1].name + " -> " + links[1].target, "w0 -> p0/work");
}

TEST_F(MountProgramBuilder, UppersThatATmpfsCannotHoldAreMadeOnDisk) {
  ASSERT_EQ(::chmod((dir_.path() + "/lower").c_str(), 01711), 0);
  add_overlay("/usr");
  options_.upper_parent = host("uppers");
  plan_.files.owner_uid = ::geteuid();
  plan_.files.owner_gid = ::getegid();
  auto layers = steps_of<step::NameLayer>(must_build());
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].source.path, dir_.path() + "/uppers/0");
  struct stat st = sys::lstat_path(dir_.path() + "/uppers/0/fs").value();
  EXPECT_EQ(st.st_mode & 07777, 01711u) << "the tree looks like its lower";
}

TEST_F(MountProgramBuilder, WhatIsKeptOfATreeWithoutAnUpperLiesWhereThePlanSays) {
  add_overlay("/usr");
  plan_.kept_uppers[GuestPath("/usr")] = {host("view/fs"), host("view/work")};
  options_.upper_parent = host("uppers");  // for those that are thrown away
  auto links = steps_of<step::ScratchSymlink>(must_build());
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].name + " -> " + links[0].target, "u0 -> p0/fs");
  EXPECT_FALSE(sys::exists(dir_.path() + "/uppers"));
}

TEST_F(MountProgramBuilder, ABootIdCoversTheMachinesAfterProcSysIsReadOnly) {
  plan_.state_dir = HostPath(dir_.path());
  plan_.boot_id = "of this sandbox";
  options_.read_only = {"proc/sys"};
  MountProgram program = must_build();
  EXPECT_EQ(sys::read_file(dir_.path() + "/boot_id").value(), "of this sandbox\n");
  plan_.boot_id = "of its next start";
  program = must_build();
  EXPECT_EQ(sys::read_file(dir_.path() + "/boot_id").value(), "of its next start\n");
  size_t covered = 0;
  size_t sealed = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const auto* bind = std::get_if<step::BindTree>(&program[i]);
    if (bind != nullptr && bind->at.path == "proc/sys/kernel/random/boot_id") covered = i;
    if (std::holds_alternative<step::MakeReadOnly>(program[i])) sealed = i;
  }
  EXPECT_GT(covered, sealed);
  EXPECT_GT(sealed, 0u);
}

TEST_F(MountProgramBuilder, ParentsAreMountedBeforeWhatLiesInThem) {
  add_view("/home/user/project");
  add_overlay("/home");
  add_view("/tmp/deep/er");
  MountProgram program = must_build();
  EXPECT_LT(index_of(program, "mounting the overlay at /home"),
            index_of(program, "mounting a private directory at /home/user"));
  EXPECT_LT(index_of(program, "mounting a private directory at /home/user"),
            index_of(program, "mounting the overlay at /home/user/project"));
  EXPECT_LT(index_of(program, "mounting a private directory at /tmp"),
            index_of(program, "mounting the overlay at /tmp/deep/er"));
}

TEST_F(MountProgramBuilder, MountPointsAreMadeOnScratchAndNeverInAViewOrOnTheHost) {
  add_view("/view");
  add_overlay("/thrown-away");
  plan_.files.binds = {{GuestPath("/given"), host("lower"), model::Access::read_write},
                       {GuestPath("/view/a"), host("file")},
                       {GuestPath("/thrown-away/b"), host("file")},
                       {GuestPath("/given/c"), host("file")},
                       {GuestPath("/d/e/f"), host("file")},
                       {GuestPath("/home/user/g"), host("file")}};
  auto missing = [](const MountProgram& program, const std::string& path) {
    for (const auto& bind : steps_of<step::BindTree>(program)) {
      if (bind.at.path == path) return bind.at.missing;
    }
    ADD_FAILURE() << path;
    return Missing::create;
  };
  MountProgram program = must_build();
  EXPECT_EQ(missing(program, "view/a"), Missing::refuse);
  EXPECT_EQ(missing(program, "given/c"), Missing::refuse);
  EXPECT_EQ(missing(program, "thrown-away/b"), Missing::create);
  EXPECT_EQ(missing(program, "d/e/f"), Missing::create);
  EXPECT_EQ(missing(program, "home/user/g"), Missing::create);
}

TEST_F(MountProgramBuilder, APrivateDirectoryAboveAViewDecidesForWhatLiesInIt) {
  plan_.files.binds = {{GuestPath("/"), host("lower")}};
  add_view("/home/user/project");
  auto overlays = steps_of<step::MountOverlay>(must_build());
  ASSERT_EQ(overlays.size(), 1u);
  EXPECT_EQ(overlays[0].at.missing, Missing::create) << "HOME is scratch";
}

TEST_F(MountProgramBuilder, ReadOnlyBindsAndLayersAreReadOnlyMounts) {
  plan_.files.binds = {{GuestPath("/ro"), host("lower"), model::Access::read_only},
                       {GuestPath("/rw"), host("lower"), model::Access::read_write}};
  for (const auto& bind : steps_of<step::BindTree>(must_build())) {
    EXPECT_EQ((bind.attributes & MOUNT_ATTR_RDONLY) != 0, bind.at.path == "ro");
    EXPECT_NE(bind.attributes & MOUNT_ATTR_NOSUID, 0u);
    EXPECT_NE(bind.attributes & MOUNT_ATTR_NODEV, 0u);
  }
}

TEST_F(MountProgramBuilder, TheRootIsASealedTmpfsUnlessThePlanHasOne) {
  MountProgram own = must_build();
  EXPECT_EQ(steps_of<step::MountRoot>(own).size(), 1u);
  EXPECT_EQ(steps_of<step::SealRoot>(own).size(), 1u);
  add_overlay("/");
  MountProgram given = must_build();
  EXPECT_TRUE(steps_of<step::MountRoot>(given).empty());
  EXPECT_TRUE(steps_of<step::SealRoot>(given).empty());
  EXPECT_LT(index_of(given, "mounting the overlay at /"),
            index_of(given, "mounting a private directory at /dev"));
}

TEST_F(MountProgramBuilder, MasksComeAfterEveryMountAndTheRootIsEnteredLast) {
  add_view("/w");
  options_.masked = {"proc/keys"};
  plan_.denied_paths = {GuestPath("/w/secret")};
  MountProgram program = must_build();
  auto first_mask = std::find_if(program.begin(), program.end(), [](const Step& step) {
    return std::holds_alternative<step::Mask>(step);
  });
  EXPECT_TRUE(std::none_of(first_mask, program.end(), [](const Step& step) {
    return std::holds_alternative<step::MountOverlay>(step) ||
           std::holds_alternative<step::MountFileSystem>(step);
  }));
  EXPECT_EQ(steps_of<step::Mask>(program).size(), 2u);
  EXPECT_TRUE(std::holds_alternative<step::EnterRoot>(program.back()));
}

TEST_F(MountProgramBuilder, ATreeOfThePlanReplacesThePrivateDirectoryAtItsPlace) {
  add_view("/tmp");
  for (const auto& bind : steps_of<step::BindScratch>(must_build())) EXPECT_NE(bind.at.path, "tmp");
}

TEST_F(MountProgramBuilder, PlacesThatAreNoPlacesAreRefused) {
  for (const char* at :
       {"", "w", "/w/", "/w//x", "/./w", "/w/../x", "/proc", "/proc/x", "/sys/fs"}) {
    plan_.files = {};
    add_overlay(at);
    auto program = build();
    ASSERT_FALSE(program.ok()) << at;
    EXPECT_EQ(program.error().code(), Code::invalid_argument) << at;
    EXPECT_FALSE(program.error().remedy().empty()) << at;
  }
}

TEST_F(MountProgramBuilder, TwoTreesAtOnePlaceAreRefused) {
  add_overlay("/w");
  plan_.files.binds = {{GuestPath("/w"), host("lower")}};
  auto program = build();
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code(), Code::invalid_argument);
}

TEST_F(MountProgramBuilder, AnOverlayTakesFiveHundredLayersAndNotOneMore) {
  model::OverlayTree tree{GuestPath("/w"), std::vector<HostPath>(500, host("lower")), std::nullopt};
  plan_.files.overlays = {tree};
  auto overlays = steps_of<step::MountOverlay>(must_build());
  ASSERT_EQ(overlays.size(), 1u);
  EXPECT_LT(overlays[0].options.size(), 4096u);
  plan_.files.overlays[0].lowers.push_back(host("lower"));
  auto program = build();
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code(), Code::resource_exhausted);
}

TEST_F(MountProgramBuilder, AMissingSourceIsNamed) {
  plan_.files.binds = {{GuestPath("/w"), host("absent")}};
  auto program = build();
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code(), Code::not_found);
  EXPECT_NE(program.error().describe().find("absent"), std::string::npos);
}

TEST_F(MountProgramBuilder, TheHomeIsTheUsersAndNothingElseIs) {
  options_.home_owner = 1000;
  for (const auto& step : steps_of<step::ScratchDirectory>(must_build())) {
    EXPECT_EQ(step.owner, step.name == "home" ? 1000u : 0u) << step.name;
  }
}

}  // namespace
}  // namespace paddock::isolation::container
