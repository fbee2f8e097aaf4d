#include "view/host_exec/host_exec_rules.h"

#include <array>

namespace paddock::view {
namespace {

// Rows that name more exactly come first: the first match gives the reason.
constexpr std::array kRules{
    HostExecRule{"git runs the hooks in it", ".git/hooks .git/modules/*/hooks"},
    HostExecRule{"git runs commands that its config names",
                 ".git/config .git/config.worktree .git/modules/*/config "
                 ".git/worktrees/*/config.worktree .gitconfig .config/git"},
    HostExecRule{kGitData, ".git"},
    HostExecRule{"names the filters and merge drivers that git runs", ".gitattributes"},
    HostExecRule{"tells git where submodules come from and how they are updated", ".gitmodules"},
    HostExecRule{"steers git-lfs, which git runs", ".lfsconfig"},
    HostExecRule{"another version control's data, with hooks and a config that run commands",
                 ".hg .hgrc .jj .sl .bzr _darcs .pijul"},

    HostExecRule{"git hooks run it on the next commit",
                 ".husky .huskyrc* .githooks .git-hooks .git_hooks .hooks "
                 "lefthook*.yml lefthook*.yaml lefthook*.toml lefthook*.json .lefthook* "
                 ".pre-commit-* .overcommit.yml .simple-git-hooks* simple-git-hooks.* "
                 ".lintstagedrc* lint-staged.config.* .trunk"},

    HostExecRule{"CI runs it, with the project's secrets",
                 ".github/workflows .github/actions .gitea/workflows .gitea/actions "
                 ".forgejo/workflows .forgejo/actions *.gitlab-ci.yml *.gitlab-ci.yaml .gitlab/ci* "
                 ".gitlab/agents .circleci Jenkinsfile* *.jenkinsfile azure-pipelines* "
                 ".azure-pipelines* .azuredevops .drone.* .woodpecker* bitbucket-pipelines.yml "
                 ".buildkite .travis.yml .travis.yaml appveyor.yml .appveyor.yml .cirrus.* "
                 ".semaphore cloudbuild.yml cloudbuild.yaml buildspec*.yml buildspec*.yaml "
                 ".teamcity .harness codefresh.yml wercker.yml .build.yml .builds .tekton"},
    HostExecRule{"decides who must review a change", "CODEOWNERS"},

    HostExecRule{"the shell runs it, or takes tools from it, when somebody enters the directory",
                 ".envrc .direnv .direnvrc .env .autoenv* .rvmrc mise.toml mise.*.toml .mise.toml "
                 ".mise.*.toml .mise mise/config* .config/mise* .rtx*.toml .tool-versions "
                 ".prototools flake.nix shell.nix devenv.* .devenv* devbox.json .devbox"},
    HostExecRule{"a shell or session reads it at its start",
                 ".bash* .zsh* .zlog* .zprofile .profile .login .logout .cshrc .tcshrc .kshrc "
                 ".mkshrc .inputrc .xinitrc .xprofile .xsession* .xserverrc .pam_environment "
                 ".config/fish .config/autostart .config/systemd .config/environment.d *.desktop "
                 ".screenrc .tmux.conf .tmuxinator* .tmuxp*"},
    HostExecRule{"holds keys, and the programs that ssh and gpg run", ".ssh .gnupg"},

    HostExecRule{"the editor runs its tasks and takes its settings",
                 ".vscode *.code-workspace .idea .run *.ipr *.iws .fleet .zed .vs .theia "
                 "*.sublime-project *.sublime-workspace .externalToolBuilders .dir-locals*.el "
                 ".emacs* .vim .vimrc _vimrc .gvimrc .exrc _exrc .nvimrc .nvim* .lvimrc "
                 ".local.vimrc .helix .kakrc .nova"},
    HostExecRule{"development containers run commands of it on the host",
                 ".devcontainer .devcontainer.json devcontainer.json .gitpod* devfile.yaml "
                 ".devfile.yaml"},

    HostExecRule{
        "instructions, settings or tools of a coding agent",
        ".claude .claude.json CLAUDE*.md AGENTS*.md AGENT.md .agents .agent .mcp* mcp.json "
        ".cursor* .aider* .codex .gemini GEMINI*.md .continue* .windsurf* .cline* .roo "
        ".roomodes .roorules* .kilocode* .kiro .amazonq .junie .augment* .trae .opencode* "
        "opencode.json* .goose* .openhands* .crush* crush.json CRUSH.md .qwen QWEN*.md "
        ".factory .warp WARP.md .rules .zencoder .github/copilot* .github/instructions "
        ".github/prompts .github/agents .github/chatmodes .github/hooks .github/skills"},
    HostExecRule{"Paddock's own policy", "paddock.toml .config/paddock"},

    HostExecRule{"the package manager takes programs or registries from it",
                 ".npmrc .yarnrc* .yarn/releases .yarn/plugins .pnpmfile.* bunfig.toml .cargo "
                 "rust-toolchain* pip.conf pip.ini .pip .pypirc .pydistutils.cfg .condarc .gemrc "
                 ".bundle .mvn .sbtopts .jvmopts nuget.config .terraformrc"},
    HostExecRule{"the build tool reads it before anything else",
                 ".bazelrc user.bazelrc .bazeliskrc tools/bazel .buckconfig* .pants.rc"},
    HostExecRule{"a debugger, interpreter or client runs it at its start",
                 ".gdbinit* .lldbinit* .pdbrc* .pythonrc* .pythonstartup .irbrc .pryrc .Rprofile "
                 ".Renviron .ghci .ocamlinit .octaverc .psqlrc .sqliterc .curlrc .wgetrc .netrc"},
};

}  // namespace

std::span<const HostExecRule> host_exec_rules() {
  return kRules;
}

}  // namespace paddock::view
