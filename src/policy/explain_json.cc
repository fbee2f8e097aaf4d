#include <boost/json.hpp>

#include "model/json.h"
#include "policy/explain.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

using boost::json::object;

// Sizes and durations are text, as people write them; what is bare in TOML is a number.
void put_number(object& row, const Setting& setting, uint64_t number) {
  if (number == 0 && !setting.unlimited.empty()) {
    row["value"] = setting.unlimited;
  } else if (setting.shape == Shape::processors) {
    row["value"] = static_cast<double>(number) / 1000;
  } else if (setting.shape == Shape::count) {
    row["value"] = number;
  } else {
    std::string quoted = format_value(setting, number);
    row["value"] = std::string_view(quoted).substr(1, quoted.size() - 2);
  }
}

void put_value(object& row, const Setting& setting, const Value& value) {
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    put_number(row, setting, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    model::put_bytes(row, "value", *text);
  } else if (const auto* list = std::get_if<List>(&value)) {
    model::put_bytes(row, "value", *list);
  } else {
    object pairs;
    for (const auto& [name, text_of_name] : std::get<Pairs>(value)) {
      model::put_bytes(pairs, name, text_of_name);
    }
    row["value"] = std::move(pairs);
  }
}

}  // namespace

boost::json::array explain_json(const Compiled& compiled,
                                const std::vector<model::Control>& controls) {
  boost::json::array rows;
  for (const Explanation& explanation : explain(compiled, controls)) {
    const Setting& setting = *find_setting(explanation.key);
    object row;
    row["key"] = explanation.key;
    put_value(row, setting, setting.access.get(compiled.settings));
    model::put_bytes(row, "origin", explanation.origin);
    row["bound"] = nullptr;
    if (!explanation.bound.empty()) model::put_bytes(row, "bound", explanation.bound);
    row["state"] = nullptr;
    if (explanation.state) row["state"] = name_of(model::kControlStateNames, *explanation.state);
    model::put_bytes(row, "detail", explanation.detail);
    row["doc"] = explanation.doc;
    rows.emplace_back(std::move(row));
  }
  for (const Explanation& explanation : explain_egress(compiled)) {
    object row;
    model::put_bytes(row, "key", explanation.key);
    model::put_bytes(row, "value", explanation.value);
    model::put_bytes(row, "origin", explanation.origin);
    row["bound"] = nullptr;
    row["state"] = nullptr;
    row["detail"] = "";
    row["doc"] = explanation.doc;
    rows.emplace_back(std::move(row));
  }
  return rows;
}

}  // namespace paddock::policy
