// Of Sandboxes: templates that are directories of the host.
#include <fmt/core.h>

#include "base/strings.h"
#include "engine/live/builds/build_table.h"
#include "engine/live/sandboxes.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

Error used_by(const std::string& name, const std::string& what, const std::string& remedy) {
  return Error(Code::failed_precondition,
               fmt::format("template '{}' is what {} stands on", name, what))
      .set_remedy(remedy);
}

}  // namespace

Result<DirectoryTemplate> Sandboxes::add_directory(net::Task& task, std::string name,
                                                   const std::string& path) {
  if (const auto bound = policy_.bounds.find("rootfs"); bound != policy_.bounds.end()) {
    return Error(Code::permission_denied, "the policy of this machine says what `rootfs` is")
        .set_remedy("ask its administrator: " + policy::describe(bound->second.origin));
  }
  DirectoryTemplate added;
  added.name = std::move(name);
  added.created_ms = sys::wall_clock_ms();
  added.directory =
      PD_TRY(copier_.run(task, [&] { return check_template_directory(path, parts_.home); }));
  PD_TRY(books_.run(task, [&]() -> Status {
    // What else a root must be is known there.
    (void)PD_TRY(parts_.images.resolve(added.directory.str()));
    return DirectoryTemplates(parts_.database).add(added);
  }));
  return added;
}

Result<std::vector<DirectoryTemplate>> Sandboxes::directories(net::Task& task) {
  return books_.run(task, [&] { return DirectoryTemplates(parts_.database).list(); });
}

Result<std::optional<DirectoryTemplate>> Sandboxes::find_directory(net::Task& task,
                                                                   const std::string& name) {
  if (is_built_in(name)) return std::optional<DirectoryTemplate>();
  return books_.run(task, [&] { return DirectoryTemplates(parts_.database).find(name); });
}

// What stands on it could not be started again, or would stand on another one of the name.
Status Sandboxes::remove_directory(net::Task& task, const std::string& name) {
  const auto snapshots = PD_TRY(this->snapshots(task));
  for (const auto& [id, entry] : sandboxes_) {
    if (entry.sandbox->info().base_template != name) continue;
    return used_by(name, "sandbox " + id, "`paddock kill " + id + "` first");
  }
  for (const Snapshot& snapshot : snapshots) {
    if (snapshot.template_name != name) continue;
    return used_by(name, "snapshot " + snapshot.id, "`paddock template rm " + snapshot.id + "`");
  }
  if (pool_.keeps(name)) {
    return used_by(name, "the pool of warm sandboxes",
                   "take it out of [pool] in server.toml and start the server anew");
  }
  return books_.run(task, [&]() -> Status {
    BuildTable builds(parts_.database);
    const std::vector<std::string> built = PD_TRY(builds.names_over(name));
    if (!built.empty()) {
      return used_by(name, "template '" + built.front() + "'",
                     "`paddock template rm " + built.front() + "` first");
    }
    PD_TRY(builds.forget_steps_of(name));
    return DirectoryTemplates(parts_.database).remove(name);
  });
}

}  // namespace paddock::engine
