// Three versions into one.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/paths.h"
#include "view/workspace.h"

namespace paddock::view {

struct MergeInput {
  const std::string& base;
  const std::string& host;
  const std::string& view;
};

// Merges texts with the host's git, without repository, attributes or configuration.
class TextMerger {
 public:
  // `scratch` is made when first needed and belongs to the merger, which empties it.
  explicit TextMerger(model::HostPath scratch) : scratch_(std::move(scratch)) {}

  // nullopt: both changed the same lines, one of them is binary, or the host has no git.
  Result<std::optional<std::string>> merge(const MergeInput& input);

 private:
  model::HostPath scratch_;
};

// Value by value: what one side changed is taken, nullopt when both changed it differently.
std::optional<mode_t> merge_modes(mode_t base, mode_t host, mode_t view);
using Attributes = std::map<std::string, std::string>;
std::optional<Attributes> merge_attributes(const Attributes& base, const Attributes& host,
                                           const Attributes& view);

}  // namespace paddock::view
