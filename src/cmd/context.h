// What a command of the command line works with: where Paddock's state is, who calls, and the
// engine's parts, opened when first asked for.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "image/image_store.h"
#include "isolation/backend.h"
#include "model/paths.h"
#include "policy/compile.h"
#include "store/database.h"
#include "view/workspace.h"

namespace paddock::cmd {

// The caller as the kernel and its environment tell. Read once, in main().
struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  model::HostPath directory;  // where it stands; canonical
  std::map<std::string, std::string> environment;
  model::HostPath home;  // $HOME, else of the password file; may be empty
};

Result<Caller> read_caller(char** environment);

// The state of one PADDOCK_HOME, opened: database, then what dead owners left is removed, then
// views.
class Context {
 public:
  explicit Context(Caller caller) : caller_(std::move(caller)) {}

  const Caller& caller() const { return caller_; }
  // $PADDOCK_HOME, else /var/lib/paddock for root and $XDG_DATA_HOME/paddock for a user.
  Result<model::HostPath> home();
  Result<store::Database*> database();
  Result<view::ViewStore*> views();
  // What an engine is made of; owned here, for one engine. `root_user` is the id inside of the
  // sandboxes' user when root starts them; any other caller is the user inside himself.
  Result<engine::Parts> parts(uint32_t root_user);
  Result<engine::Engine*> engine();
  // paddock-ssh; empty: it is not installed.
  Result<std::string> ssh_program() const;
  // Policy of all tiers with `flags` on top, for a command in `workspace`.
  Result<policy::Compiled> settings(const model::HostPath& workspace,
                                    const std::vector<policy::FlagValue>& flags) const;
  // The workspace that `directory` names, or where the caller stands when empty; canonical.
  Result<model::HostPath> workspace(const std::string& directory) const;
  // The same as the caller spells it: absolute, with the symlinks that he came through.
  model::HostPath spelling_of(const std::string& directory) const;

 private:
  Result<model::HostPath> agent_program() const;
  model::HostPath share_directory() const;  // empty: not installed

  Caller caller_;
  model::HostPath home_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<view::ViewStore> views_;
  std::unique_ptr<image::ImageStore> images_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace paddock::cmd
