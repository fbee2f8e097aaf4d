#include "api/templates.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "engine/live/builds/build_table.h"

namespace paddock::api {
namespace {

constexpr size_t kMaxName = 128;

std::string without_tag(std::string name) {
  if (name.ends_with(kOnlyTag)) name.resize(name.size() - kOnlyTag.size());
  return name;
}

bool is_plain(std::string_view name, std::string_view also) {
  const bool plain = std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
  return plain && name.size() <= kMaxName;
}

// What a client built, by id or by name, with or without a tag.
Status find_built(const TemplateQuestion& question, engine::CreateRequest& wanted) {
  const auto named = template_name(wanted.template_name);
  if (!named.ok()) return {};  // no template is called so
  const std::string tag = named->tag.empty() ? engine::kDefaultTag : named->tag;
  const auto layer = PD_TRY(question.sandboxes.on_books(
      question.task, [&](store::Database& database) -> Result<std::optional<engine::BuiltLayer>> {
        engine::BuildTable table(database);
        const auto made = PD_TRY(table.find(named->name, question.caller));
        if (!made) return std::optional<engine::BuiltLayer>();
        return table.find_layer(made->id, tag);
      }));
  if (layer) wanted.origin = engine::Origin{layer->base_template, layer->layer};
  return {};
}

}  // namespace

Result<std::optional<engine::Snapshot>> find_snapshot(const TemplateQuestion& question,
                                                      const std::string& id_or_name) {
  return question.sandboxes.find_snapshot(question.task, without_tag(id_or_name), question.caller);
}

Status find_origin(const TemplateQuestion& question, engine::CreateRequest& wanted) {
  if (engine::is_built_in(wanted.template_name)) return {};
  // The keeper's names come first, whatever snapshots are called.
  if (PD_TRY(question.sandboxes.find_directory(question.task, wanted.template_name))) return {};
  const auto found = PD_TRY(find_snapshot(question, wanted.template_name));
  if (found) {
    wanted.origin = engine::Origin{found->template_name, found->layer};
    return {};
  }
  return find_built(question, wanted);
}

Status remove_template(const TemplateQuestion& question, engine::TemplateBuilder& builder,
                       const std::string& id_or_name) {
  if (const auto snapshot = PD_TRY(find_snapshot(question, id_or_name))) {
    return question.sandboxes.remove_snapshot(question.task, snapshot->id);
  }
  const auto made =
      PD_TRY(question.sandboxes.on_books(question.task, [&](store::Database& database) {
        return engine::BuildTable(database).find(without_tag(id_or_name), question.caller);
      }));
  if (made) return builder.remove(question.task, *made);
  return Error(Code::not_found, "Template '" + printable(id_or_name.substr(0, 128)) + "' not found")
      .set_remedy("`paddock template ls` lists them");
}

Result<TemplateName> template_name(std::string_view given) {
  TemplateName out;
  const size_t colon = given.rfind(':');
  out.name = given.substr(0, colon);
  if (out.name.empty() || out.name == "tags" || out.name == "aliases" ||
      out.name.ends_with(kOnlyTag) || !is_plain(out.name, "-_./")) {
    return Error(Code::invalid_argument,
                 "a template is named by at most 128 letters, digits, '-', '_', '.' and '/', and "
                 "perhaps a tag: NAME or NAME:TAG");
  }
  if (colon == std::string_view::npos) return out;
  out.tag = given.substr(colon + 1);
  PD_TRY(check_tag(out.tag));
  return out;
}

Status check_tag(const std::string& tag) {
  if (!tag.empty() && is_plain(tag, "-_.")) return {};
  return Error(Code::invalid_argument,
               "a tag is at most 128 letters, digits, '-', '_' and '.', without a name before it");
}

Status check_name_is_free(const TemplateQuestion& question, const std::string& name) {
  const bool is_taken = engine::is_built_in(name) ||
                        PD_TRY(question.sandboxes.find_directory(question.task, name)).has_value();
  if (!is_taken) return {};
  return Error(Code::invalid_argument, "'" + name + "' is a template of the server's own")
      .set_remedy("take another name");
}

Result<std::string> snapshot_name(std::string given) {
  std::string name = without_tag(std::move(given));
  if (!name.empty() && !is_plain(name, "-_./")) {
    return Error(Code::invalid_argument,
                 "'name' must be at most 128 letters, digits, '-', '_', '.' and '/'");
  }
  if (engine::is_built_in(name)) {
    return Error(Code::invalid_argument, "'name' is that of a built-in template");
  }
  return name;
}

}  // namespace paddock::api
