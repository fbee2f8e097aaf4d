// Templates that clients build, on record: names, builds, tags, and the steps that are done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "engine/live/template_settings.h"
#include "model/owner.h"
#include "store/database.h"

namespace paddock::engine {

enum class BuildState { waiting, building, ready, error };
inline constexpr EnumNames<BuildState, 4> kBuildStateNames{{{BuildState::waiting, "waiting"},
                                                            {BuildState::building, "building"},
                                                            {BuildState::ready, "ready"},
                                                            {BuildState::error, "error"}}};

struct BuiltTemplate {
  std::string id;
  std::string name;  // without a tag; one of each for an owner
  model::Owner owner;
  int64_t created_ms = 0;
};

struct TemplateBuild {
  std::string id;
  std::string template_id;
  BuildState state = BuildState::waiting;
  std::string reason;         // of an error
  std::string step;           // where that was: its number from 1 on, "base" or "finalize"
  std::string base_template;  // of a ready one: what its layers lie over
  std::string layer;
  int64_t created_ms = 0;
  int64_t finished_ms = 0;
};

struct TemplateTag {
  std::string tag;
  std::string build;
  int64_t created_ms = 0;
};
inline constexpr const char* kDefaultTag = "default";

// What a step led to, under the key that it follows from.
struct DoneStep {
  std::string layer;  // empty: nothing was written over the base
  TemplateSettings settings;
};

// What it was built as, for sandboxes.
struct BuiltLayer {
  std::string base_template;
  std::string layer;
};

// Used by the thread that uses the database.
class BuildTable {
 public:
  explicit BuildTable(store::Database& database) : database_(database) {}

  // The owner's of that name, made where there is none.
  Result<BuiltTemplate> ensure(const BuiltTemplate& wanted);
  Result<std::vector<BuiltTemplate>> list();  // newest first
  // By id, or by name of those that the caller may see.
  Result<std::optional<BuiltTemplate>> find(const std::string& id_or_name,
                                            const model::Caller& caller);
  // With its builds and tags; done steps stay for others.
  Status remove(const std::string& template_id);

  Status add(const TemplateBuild& build);
  // Nothing where it is gone.
  Status set(const TemplateBuild& build);
  Result<std::optional<TemplateBuild>> find_build(const std::string& id);
  Result<std::vector<TemplateBuild>> builds_of(const std::string& template_id);  // newest first
  // Of a tag, or the build's id, that is ready.
  Result<std::optional<BuiltLayer>> find_layer(const std::string& template_id,
                                               const std::string& tag);
  // What nobody can name any more, and what was never begun.
  Status prune(const std::string& template_id, int64_t now_ms);
  // Those that an earlier daemon was at.
  Status fail_unfinished(const std::string& reason, int64_t now_ms);

  Status set_tag(const std::string& template_id, const TemplateTag& tag);
  Status remove_tag(const std::string& template_id, const std::string& tag);
  Result<std::vector<TemplateTag>> tags_of(const std::string& template_id);  // newest first

  Result<std::optional<DoneStep>> find_step(const std::string& key, int64_t now_ms);
  Status put_step(const std::string& key, const std::string& base_template, const DoneStep& done,
                  int64_t now_ms);
  Status forget_steps_before(int64_t ms);
  Status forget_steps_of(const std::string& base_template);
  // Builds that lie over it.
  Result<std::vector<std::string>> names_over(const std::string& base_template);

 private:
  store::Database& database_;
};

}  // namespace paddock::engine
