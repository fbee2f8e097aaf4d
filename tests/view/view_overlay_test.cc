#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "overlay_fixture.h"
#include "sys/command.h"
#include "sys/files.h"
#include "view/hide/mask.h"

namespace paddock::view {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class ViewOverlayTest : public testing::OverlayTest {
 protected:
  using MaskLayer = testing::MaskLayer;

  std::vector<std::string> changed(const model::ViewId& id) {
    model::ChangeSet set = store().changes(id).value();
    std::vector<std::string> paths;
    for (const model::Change& change : set.changes) paths.push_back(change.path);
    return paths;
  }
  void git(const std::string& directory, std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@t", "-c",
                                 "init.defaultBranch=main"});
    auto result = sys::run_command({words,
                                    {"PATH=/usr/bin:/bin", "HOME=/nonexistent"},
                                    root() + "/" + directory,
                                    "",
                                    1 << 20});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->exit_code, 0) << result->err;
  }
};

TEST_F(ViewOverlayTest, SecretsAreNotThereByAnyWay) {
  write("ws/.env", "TOKEN");
  write("ws/a/deep/server.key", "TOKEN");
  write("ws/a/deep/code.c", "int x;");
  auto view = store().create(options()).value();
  EXPECT_THAT(view->hidden(), ElementsAre(".env", "a/deep/server.key"));
  const std::string script =
      "find . | sort; cat .env a/deep/server.key 2>/dev/null || true; grep -r TOKEN . || true; "
      "stat .env >/dev/null 2>&1 && echo there; ls -a a/deep";
  std::string said = output_of(*view, script);
  EXPECT_THAT(said, Not(HasSubstr("TOKEN")));
  EXPECT_THAT(said, Not(HasSubstr(".env")));
  EXPECT_THAT(said, Not(HasSubstr("server.key")));
  EXPECT_THAT(said, Not(HasSubstr("there")));
  EXPECT_THAT(said, HasSubstr("./a/deep/code.c"));
  // The twin: without the layer they are.
  std::string unmasked = output_of(*view, script, MaskLayer::left_out);
  EXPECT_THAT(unmasked, HasSubstr("TOKEN"));
  EXPECT_THAT(unmasked, HasSubstr("./a/deep/server.key"));
}

TEST_F(ViewOverlayTest, ASecretStaysHiddenWhereItsDirectoryIsMovedCopiedOrMadeAnew) {
  write("ws/a/.env", "TOKEN");
  write("ws/a/f", "f");
  auto view = store().create(options()).value();
  std::string said = output_of(*view,
                               "cp -r a b; rm -r a; mkdir a; mv b c; mkdir -p x; cp -r c x/; grep "
                               "-r TOKEN . || true; find . | sort");
  EXPECT_THAT(said, Not(HasSubstr("TOKEN")));
  EXPECT_THAT(said, Not(HasSubstr(".env")));
  EXPECT_TRUE(view->finish({}).value().has_value());
  EXPECT_EQ(read("ws/a/.env"), "TOKEN");
}

TEST_F(ViewOverlayTest, ModesThatTheSandboxChangesOpenNothing) {
  write("ws/closed/.env", "TOKEN");
  ASSERT_EQ(::chmod((workspace().str() + "/closed").c_str(), 0), 0);
  auto view = store().create(options()).value();
  std::string said = output_of(
      *view, "chmod 777 closed 2>/dev/null || true; cat closed/.env 2>/dev/null || true; ls -aR");
  EXPECT_THAT(said, Not(HasSubstr("TOKEN")));
  if (::geteuid() != 0) {
    EXPECT_THAT(output_of(*view, "chmod 777 closed; cat closed/.env", MaskLayer::left_out),
                HasSubstr("TOKEN"))
        << "the twin: who owns it opens it";
  }
  ASSERT_EQ(::chmod((workspace().str() + "/closed").c_str(), 0755), 0);
}

TEST_F(ViewOverlayTest, DirectoriesShowTheHostsModeOwnerAndTimes) {
  write("ws/a/b/.env", "TOKEN");
  ASSERT_EQ(::chmod((workspace().str() + "/a").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((workspace().str() + "/a/b").c_str(), 0710), 0);
  if (::geteuid() == 0) {
    for (const char* path : {"/a", "/a/b"})
      ASSERT_EQ(::chown((workspace().str() + path).c_str(), 1234, 2345), 0);
  }
  // The user is root of its own user namespace: the owner's number is another one there.
  const std::string script =
      ::geteuid() == 0 ? "stat -c '%n %a %u %g %Y' . a a/b" : "stat -c '%n %a %Y' . a a/b";
  auto outside =
      sys::run_command({{"sh", "-c", script}, {"PATH=/usr/bin:/bin"}, workspace().str(), "", 4096})
          .value();
  auto view = store().create(options()).value();
  EXPECT_EQ(output_of(*view, script), outside.out);
  // The twin: a mask directory without them shows its own.
  std::string mask = view->trees()[0].lowers[0].str();
  ASSERT_THAT(mask, HasSubstr("/masks/"));
  ASSERT_EQ(::chmod((mask + "/a").c_str(), 0755), 0);
  EXPECT_NE(output_of(*view, script), outside.out);
}

TEST_F(ViewOverlayTest, AFileThatTheSandboxMakesUnderAHiddenNameIsItsOwn) {
  write("ws/.env", "TOKEN");
  write("ws/sub/other", "x");
  model::ViewId id = step("echo mine > .env; echo mine > sub/.env; cat .env");
  EXPECT_EQ(read("ws/.env"), "TOKEN");
  EXPECT_THAT(changed(id), ElementsAre(".env", "sub/.env"));
  model::ChangeSet set = store().changes(id).value();
  for (const model::Change& change : set.changes) {
    EXPECT_EQ(change.kind, model::ChangeKind::added) << change.path << " is not the host's";
  }
  auto view = store().reopen(id, options()).value();
  EXPECT_EQ(output_of(*view, "cat .env sub/.env"), "mine\nmine\n")
      << "the mask lies below what it wrote";
}

TEST_F(ViewOverlayTest, ADirectoryMadeOverAHiddenOneShowsNothingOfIt) {
  write("ws/secrets/key", "TOKEN");
  OpenOptions hide = options();
  hide.files.hide = {"secrets/"};
  auto view = store().create(hide).value();
  EXPECT_EQ(
      output_of(*view, "test ! -e secrets; mkdir secrets; echo x > secrets/mine; ls -A secrets"),
      "mine\n");
  EXPECT_TRUE(view->finish({}).value().has_value());
  view = store().reopen(view->id(), hide).value();
  EXPECT_EQ(output_of(*view, "ls -A secrets"), "mine\n");
}

TEST_F(ViewOverlayTest,
       WhatTheHostMakesMeanwhileIsHiddenUnderNamesKnownBeforehandAndTheDecisionSaysSo) {
  write("ws/a/x.pem", "TOKEN");
  auto view = store().create(options()).value();
  std::string said =
      output_of(*view, "echo T > $ROOT/late; mkdir lowered; cat .env a/.env late.pem 2>&1 || true",
                MaskLayer::mounted);
  EXPECT_THAT(said, HasSubstr("No such file"));
  auto control = std::find_if(view->controls().begin(), view->controls().end(),
                              [](const model::Control& c) { return c.name == "files.hide"; });
  ASSERT_NE(control, view->controls().end());
  EXPECT_EQ(control->state, model::ControlState::approximated);
  // The host's own side of the mount: a second view of the host directory, as an editor outside
  // has.
  write("ws/.env", "TOKEN");
  write("ws/a/.env", "TOKEN");
  EXPECT_THAT(output_of(*view, "cat .env a/.env 2>&1 || true"), Not(HasSubstr("TOKEN")));
  EXPECT_THAT(output_of(*view, "cat .env", MaskLayer::left_out), HasSubstr("TOKEN"));
}

TEST_F(ViewOverlayTest, AnotherRunBringsTheMaskUpToDateUnderALiveMount) {
  write("ws/a/x.pem", "TOKEN");
  auto first = store().create(options()).value();
  write("ws/b/late.pem", "TOKEN");
  EXPECT_THAT(output_of(*first, "cat b/late.pem"), HasSubstr("TOKEN")) << "made after the mask";
  auto second = store().create(options()).value();
  EXPECT_THAT(second->hidden(), ElementsAre("a/x.pem", "b/late.pem"));
  EXPECT_THAT(run(*second, "cat b/late.pem").out, HasSubstr("No such file"));
  EXPECT_THAT(run(*first, "cat a/x.pem b/late.pem").out, Not(HasSubstr("TOKEN")));
}

TEST_F(ViewOverlayTest, StepsAddUpAndRollbackTakesThemBack) {
  write("ws/f", "one\n");
  write("ws/d/old", "old\n");
  model::ViewId id = step("echo two > f; rm d/old; ln -s f link");
  step(id, "test \"$(cat f)\" = two; test ! -e d/old; rm -r d; echo d > d; chmod 600 f");
  auto seen = [&] {
    auto view = store().reopen(id, options()).value();
    return output_of(*view, "find . -printf '%p %y %m %l\\n' | sort; cat f d 2>/dev/null || true");
  };
  std::string after_two = seen();
  step(id, "rm -r f d link; mkdir f; echo x > f/x; ln -s f d; chmod 700 f");
  ASSERT_TRUE(store().rollback(id, 1).ok());
  EXPECT_EQ(seen(), after_two);
  ASSERT_TRUE(store().rollback(id, 1).ok());
  EXPECT_THAT(changed(id), ElementsAre("d/old", "f", "link"));
  EXPECT_EQ(read("ws/f"), "one\n");
}

// What a random command does: any object made, changed, moved, replaced by another kind, removed.
std::string random_command(std::mt19937& random) {
  auto path = [&] {
    std::string made(1, static_cast<char>('a' + random() % 4));
    while (random() % 2 == 0) made += std::string("/") + static_cast<char>('a' + random() % 4);
    return made;
  };
  std::string script = "{ ";
  for (int i = 0; i < 8; ++i) {
    std::string p = path();
    switch (random() % 8) {
      case 0:
        script += "mkdir -p " + p;
        break;
      case 1:
        script += "rm -rf " + p;
        break;
      case 2:
        script += "mv -T " + p + " " + path();
        break;
      case 3:
        script += "ln -sfn " + path() + " " + p;
        break;
      case 4:
        script += "chmod 70" + std::to_string(random() % 8) + " " + p;
        break;
      case 5:
        script += "ln " + p + " " + path();
        break;
      default:
        script += "echo " + std::to_string(random()) + " > " + p;
        break;
    }
    script += "; ";
  }
  return script + "} 2>/dev/null || true";
}

TEST_F(ViewOverlayTest, RandomCommandsAreTakenBackExactly) {
  for (const char* path : {"ws/a/b/c", "ws/a/d", "ws/b", "ws/c/a"}) write(path, path);
  std::mt19937 random(11);
  model::ViewId id = step("echo first > first; mkdir -p d/d");
  auto seen = [&] {
    auto view = store().reopen(id, options()).value();
    return output_of(
        *view, "find . -printf '%p %y %m %n %l\\n' | sort; find . -type f | sort | xargs md5sum");
  };
  std::vector<std::string> states{seen()};
  for (int round = 0; round < 12; ++round) {
    step(id, random_command(random));
    states.push_back(seen());
    if (random() % 3 != 0) continue;
    size_t count = 1 + random() % (states.size() - 1);
    ASSERT_TRUE(store().rollback(id, static_cast<uint32_t>(count)).ok());
    states.resize(states.size() - count);
    ASSERT_EQ(seen(), states.back()) << round;
  }
}

TEST_F(ViewOverlayTest, GitWorksInALinkedWorktreeAndTheHostsRepositoryIsUntouched) {
  write("repo/file", "one\n");
  git("repo", {"init", "-q"});
  git("repo", {"add", "."});
  git("repo", {"commit", "-qm", "one"});
  ASSERT_EQ(::rmdir(workspace().c_str()), 0);
  git("repo", {"worktree", "add", "-q", root() + "/ws", "-b", "topic"});
  auto view = store().create(options()).value();
  ASSERT_EQ(view->trees().size(), 2u);
  const std::string script =
      "git -c user.name=t -c user.email=t@t commit -qam two && git log --format=%s";
  EXPECT_EQ(output_of(*view, "git status --porcelain; echo two > file; " + script), "two\none\n");
  EXPECT_TRUE(view->finish({}).value().has_value());
  EXPECT_EQ(read("ws/file"), "one\n");
  auto log = sys::run_command(
      {{"git", "log", "--all", "--format=%s"}, {"PATH=/usr/bin:/bin"}, root() + "/repo", "", 4096});
  EXPECT_EQ(log->out, "one\n");
  view = store().reopen(view->id(), options()).value();
  EXPECT_EQ(output_of(*view, "git log --format=%s; git status --porcelain"), "two\none\n");
  model::ChangeSet set = store().changes(view->id()).value();
  EXPECT_THAT(set.git_paths, ::testing::Contains(HasSubstr(root() + "/repo/.git/objects")));
}

TEST_F(ViewOverlayTest, LookingAtARepositoryIsNoChangeAndStagingIs) {
  write("ws/file", "one\n");
  git("ws", {"init", "-q"});
  git("ws", {"add", "."});
  git("ws", {"commit", "-qm", "one"});
  auto view = store().create(options()).value();
  std::string index = view->trees()[0].upper->upper.str() + "/.git/index";
  output_of(*view, "touch -d '2001-01-01' file; git status; git diff; touch -r $ROOT/ws/file file");
  EXPECT_TRUE(sys::exists(index)) << "git rewrote it";
  EXPECT_EQ(view->finish({}).value(), std::nullopt);
  view = store().create(options()).value();
  output_of(*view, "git rm -q --cached file");
  EXPECT_TRUE(view->finish({}).value().has_value());
  EXPECT_THAT(store().changes(view->id()).value().git_paths, ElementsAre(".git/index"));
}

TEST_F(ViewOverlayTest, TheUpperIsMeasuredAndARunOfReadsLeavesNoView) {
  write("ws/f", "one\n");
  auto view = store().create(options()).value();
  output_of(*view, "dd if=/dev/zero of=big bs=1M count=3 2>/dev/null");
  EXPECT_GE(view->upper_bytes(), 3u << 20);
  view = store().create(options()).value();
  output_of(*view, "cat f >/dev/null; find . >/dev/null");
  EXPECT_EQ(view->finish({}).value(), std::nullopt);
}

TEST_F(ViewOverlayTest, WhatTheSandboxClosesToItsUserIsComparedWithItsModeAndStaysClosed) {
  write("ws/f", "one");
  write("ws/d/in", "one");
  auto view = store().create(options()).value();
  output_of(
      *view,
      "echo two > f; echo new > d/in; echo x > d/more; mkdir -p e/e; chmod 0 f d/more d e/e e");
  ASSERT_TRUE(view->finish({}).value().has_value());
  model::ViewId id = view->id();
  model::ChangeSet set = store().changes(id).value();
  std::map<std::string, mode_t> modes;
  for (const model::Change& change : set.changes) {
    modes[change.path] = change.after.mode;
    bool has_bytes = change.after.type == model::FileType::regular;
    EXPECT_EQ(change.added_lines, has_bytes ? 1u : 0u) << change.path << " was read";
  }
  EXPECT_EQ(modes["f"], 0u);
  EXPECT_EQ(modes["d/more"], 0u);
  EXPECT_EQ(modes["e"], 0u);
  EXPECT_EQ(modes["d/in"], 0644u);
  view = store().reopen(id, options()).value();
  EXPECT_EQ(output_of(*view, "stat -c '%n %a' f d e; chmod 700 e; stat -c '%n %a' e/e"),
            "f 0\nd 0\ne 0\ne/e 0\n");
}

TEST_F(ViewOverlayTest, WhatASandboxLeavesOfOddTreesCanBeSealedAndRemoved) {
  auto view = store().create(options()).value();
  output_of(
      *view,
      "mkdir -p closed/in; echo x > closed/in/f; chmod 0 closed/in/f closed/in closed; mkfifo pipe;"
      "d=deep; i=0; while [ $i -lt 400 ]; do d=$d/deepdeep; i=$((i+1)); done; mkdir -p $d");
  EXPECT_GT(view->upper_bytes(), 400u * 4096 / 2);
  ASSERT_TRUE(view->finish({}).ok());
  model::ViewId id = view->id();
  view.reset();
  EXPECT_TRUE(store().discard(id).ok());
  EXPECT_FALSE(sys::exists(root() + "/home/views/" + id.str()));
}

}  // namespace
}  // namespace paddock::view
