// Which entries of a workspace are secret, by name: the `hide` and `show` patterns of policy,
// compiled.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace paddock::view {

enum class EntryKind { directory, other };

// As gitignore(5) reads a line, without its comments and `!`: a pattern without a slash is compared
// with the name in any directory; one with a slash with the path from the workspace's root; a slash
// at the end means directories only; `**` crosses directories. An entry that `show` matches is not
// hidden. Bytes, case-sensitive. Immutable; any thread.
class HidePatterns {
 public:
  HidePatterns(const std::vector<std::string>& hide, const std::vector<std::string>& show);

  // `path` is relative and ends with `name`.
  bool hides(std::string_view name, std::string_view path, EntryKind kind) const;
  // Names that are hidden wherever they are and whatever they are: known before they exist.
  const std::vector<std::string>& certain_names() const { return certain_; }

 private:
  struct Pattern {
    std::string text;
    bool directories_only = false;
  };
  // Most patterns are a plain name or `*suffix`: compared without a matcher.
  class Set {
   public:
    explicit Set(const std::vector<std::string>& patterns);
    bool matches(std::string_view name, std::string_view path, EntryKind kind) const;
    std::vector<std::string> plain_names() const { return {names_.begin(), names_.end()}; }

   private:
    void add(std::string_view pattern);

    std::unordered_set<std::string> names_;
    std::vector<std::string> suffixes_;
    std::vector<Pattern> name_globs_, path_globs_;
  };

  Set hide_, show_;
  std::vector<std::string> certain_;
};

}  // namespace paddock::view
