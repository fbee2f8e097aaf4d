#include "view/host_exec/host_exec.h"

#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"
#include "view/changes.h"
#include "view/host_exec/host_exec_fold.h"
#include "view/host_exec/host_exec_link.h"
#include "view/host_exec/host_exec_rules.h"

namespace paddock::view {
namespace {

using model::FileState;
using model::FileType;

bool held(const std::string& path) {
  return !host_exec_reason(path, {}).empty();
}

TEST(HostExec, HoldsWhatRunsOnTheHostAtAnyDepth) {
  for (const char* path : {".git/hooks/pre-commit",
                           ".git/config",
                           ".git",
                           "sub/.git/modules/x/hooks/post-checkout",
                           ".gitattributes",
                           "a/.gitattributes",
                           ".gitmodules",
                           ".husky/pre-push",
                           ".githooks/x",
                           "lefthook.yml",
                           ".lefthook-local.yml",
                           ".pre-commit-config.yaml",
                           ".github/workflows/ci.yml",
                           "deep/er/.github/actions/a/action.yml",
                           ".gitlab-ci.yml",
                           ".circleci/config.yml",
                           "Jenkinsfile",
                           "Jenkinsfile.release",
                           "azure-pipelines.yml",
                           ".drone.yml",
                           ".woodpecker/x.yml",
                           "bitbucket-pipelines.yml",
                           ".buildkite/pipeline.yml",
                           ".travis.yml",
                           ".envrc",
                           ".direnv/x",
                           "mise.toml",
                           ".tool-versions",
                           ".vscode/tasks.json",
                           ".vscode/settings.json",
                           ".idea/workspace.xml",
                           ".devcontainer/devcontainer.json",
                           "x.code-workspace",
                           ".cursor/mcp.json",
                           ".claude/settings.json",
                           "CLAUDE.md",
                           "AGENTS.md",
                           "pkg/AGENTS.md",
                           ".mcp.json",
                           ".cursorrules",
                           ".aider.conf.yml",
                           ".codex/config.toml",
                           ".gemini/settings.json",
                           ".continue/config.json",
                           ".windsurf/rules",
                           ".clinerules",
                           "paddock.toml",
                           ".npmrc",
                           ".yarnrc.yml",
                           ".pnpmfile.cjs",
                           ".cargo/config.toml",
                           "pip.conf",
                           ".gdbinit",
                           ".lldbinit",
                           ".vimrc",
                           ".exrc",
                           ".nvimrc",
                           ".bazelrc",
                           ".tmuxinator.yml",
                           ".bashrc",
                           "dotfiles/.zshrc",
                           ".profile",
                           ".ssh/config",
                           "CODEOWNERS",
                           ".github/CODEOWNERS"}) {
    EXPECT_TRUE(held(path)) << path;
  }
}

TEST(HostExec, LeavesOrdinaryProjectCodeAlone) {
  for (const char* path : {"Makefile",
                           "package.json",
                           "src/main.c",
                           "conftest.py",
                           "setup.cfg",
                           "README.md",
                           ".gitignore",
                           ".editorconfig",
                           ".github/ISSUE_TEMPLATE.md",
                           ".github",
                           "git/hooks/x",
                           "workflows/ci.yml",
                           "docs/env.md",
                           ".env.example",
                           "Dockerfile",
                           "vscode/tasks.json",
                           "x.git",
                           ".gitkeep",
                           ".rootfs/x",
                           "tests/fixtures/a.txt",
                           ".yarn/cache/x",
                           "a/tools/b/bazel"}) {
    EXPECT_EQ(host_exec_reason(path, {}), "") << path;
  }
}

TEST(HostExec, PolicyAddsGlobs) {
  std::vector<std::string> globs{"*.service", "deploy/**", "infra/prod"};
  EXPECT_NE(host_exec_reason("units/App.Service", globs), "");
  EXPECT_NE(host_exec_reason("deploy/a/b", globs), "");
  EXPECT_NE(host_exec_reason("infra/prod/main.tf", globs), "");
  EXPECT_EQ(host_exec_reason("infra/dev/main.tf", globs), "");
  EXPECT_EQ(host_exec_reason("x/deploy/a", globs), "");
  EXPECT_NE(host_exec_reason("top/x", {"/top"}), "");
  EXPECT_EQ(host_exec_reason("a/top/x", {"/top"}), "");
}

TEST(HostExec, ASymlinkInTheFrontPartOfARuleIsHeld) {
  HoldBack rules({{}, model::HostPath("/ws")});
  FileState link{FileType::symlink, 0, 0, "", "x", {}};
  EXPECT_NE(rules.reason(".husky", link), "");
  EXPECT_NE(rules.reason(".github", link), "");
  EXPECT_NE(rules.reason("a/.GitHub", link), "");
  EXPECT_NE(rules.reason(".config", link), "");
  EXPECT_EQ(rules.reason(".github", {FileType::directory, 0755, 0, "", "", {}}), "");
}

TEST(HostExec, AskingPathByPathGivesTheSameReasons) {
  std::vector<std::string> globs{"*.service", "deploy/**", "infra/prod"};
  HoldBack hold_back({globs, model::HostPath("/ws")});
  FileState plain{FileType::regular, 0644, 0, "", "", {}};
  for (const char* path :
       {"a/b/c", ".git/hooks/x/y", ".git/x", "x/.github/workflows/a/b.yml", "x/.github/y",
        "tools/bazel", "a/tools/bazel/x", "deploy/a", "x/deploy/a", "infra/prod/a", "infra/dev/a",
        "u/App.Service/x", ".config/git/x"}) {
    EXPECT_EQ(hold_back.reason(path, plain), host_exec_reason(path, globs)) << path;
  }
}

TEST(HostExec, ALinkOutOfTheWorkspaceIsHeld) {
  model::HostPath ws("/home/u/ws");
  struct Case {
    const char* path;
    const char* target;
    bool out;
  };
  for (const Case& c : std::initializer_list<Case>{{"x", "../.ssh", true},
                                                   {"x", "/home/u/.ssh", true},
                                                   {"a/x", "../b", false},
                                                   {"a/x", "../../b", true},
                                                   {"a/b/x", "../../c/d", false},
                                                   {"x", "y/../z", true},
                                                   {"x", "./y/./z", false},
                                                   {"x", "/home/u/ws/y", false},
                                                   {"x", "/home/u/ws", false},
                                                   {"x", "/home/u/ws2/y", true},
                                                   {"x", "/home/u/ws/../.ssh", true},
                                                   {"venv/bin/python", "/usr/bin/python3", false},
                                                   {"x", "/usr/../home/u/.ssh", true},
                                                   {"x", "/etc/passwd", true},
                                                   {"x", "/usrlocal", true},
                                                   {"x", "/dev/null", false},
                                                   {"x", "//home/u/.ssh", true},
                                                   {"x", "..", true},
                                                   {"a/x", "..", false},
                                                   {"x", "name with ..dots", false}}) {
    EXPECT_EQ(leads_out(c.path, c.target, ws), c.out) << c.path << " -> " << c.target;
  }
}

TEST(HostExec, GitPathsAreFoundUnderTheirAliases) {
  for (const char* path : {".git", "a/.git/config", ".GIT", ".Git/HOOKS/x", ".g\u200cit/x",
                           "GIT~1/config", ".git./x", ".git /x", "x/../.git"}) {
    EXPECT_TRUE(is_git_path(path)) << path;
  }
  for (const char* path : {".gitignore", "git", ".github", ".git2/x", "git~10"}) {
    EXPECT_FALSE(is_git_path(path)) << path;
  }
}

// --- deny(P) implies deny(any alias of P) -------------------------------------------------------

using Random = std::mt19937;

size_t pick(Random& random, size_t count) {
  return std::uniform_int_distribution<size_t>(0, count - 1)(random);
}

std::string alias_of_name(Random& random, const std::string& name) {
  static const std::vector<std::string> ignored{"\u00ad", "\u200b", "\u200d", "\ufeff", "\u2060"};
  std::string out;
  for (char c : name) {
    if (pick(random, 8) == 0) out += ignored[pick(random, ignored.size())];
    char lower = static_cast<char>(::tolower(c));
    if (lower == 'k' && pick(random, 2) == 0) {
      out += "\u212a";
    } else if (lower == 's' && pick(random, 2) == 0) {
      out += "\u017f";
    } else {
      out += pick(random, 2) == 0 ? static_cast<char>(::toupper(c)) : lower;
    }
  }
  if (pick(random, 4) == 0) out += pick(random, 2) == 0 ? "." : "  ";
  return out;
}

std::string alias_of_path(Random& random, const std::string& path) {
  std::string out;
  for (size_t i = pick(random, 3); i > 0; --i) out += "dir/";
  for (const std::string& name : split(path, '/')) {
    switch (pick(random, 4)) {
      case 0:
        out += "./";
        break;
      case 1:
        out += "/";
        break;
      case 2:
        out += "gone/../";
        break;
      default:
        break;
    }
    out += alias_of_name(random, name) + "/";
  }
  if (pick(random, 2) == 0) out += "below";
  return out;
}

std::string path_of_pattern(const std::string& pattern) {
  std::string path;
  for (char c : pattern) path += c == '*' ? std::string("x") : std::string(1, c);
  return path;
}

TEST(HostExec, EveryAliasOfAHeldPathIsHeld) {
  Random random(20240817);
  for (const HostExecRule& rule : host_exec_rules()) {
    for (const std::string& pattern : split(rule.patterns, ' ')) {
      std::string path = path_of_pattern(pattern);
      ASSERT_TRUE(held(path)) << path;
      for (int i = 0; i < 40; ++i) {
        std::string alias = alias_of_path(random, path);
        EXPECT_TRUE(held(alias)) << path << " as " << printable(alias);
      }
    }
  }
}

TEST(HostExec, FoldingLeavesOtherNamesDistinct) {
  EXPECT_NE(fold_name("a\xff"), fold_name("a"));
  EXPECT_NE(fold_name("\xc3\xa9"), fold_name("e"));
  EXPECT_EQ(fold_name("..."), "...");
  EXPECT_EQ(fold_name("\xe2\x80"), "\xe2\x80") << "a cut sequence stays";
}

}  // namespace
}  // namespace paddock::view
