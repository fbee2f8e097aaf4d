#include "agent/sudo/options.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"

namespace paddock::agent::sudo {
namespace {

enum class Takes { nothing, value, maybe_value };

struct Row {
  char letter;  // 0: none
  std::string_view name;
  Takes takes;
  void (*apply)(Options&, const std::string& value);  // nullptr: refused
};

void no_meaning(Options&, const std::string&) {}

constexpr std::array kRows{
    Row{'u', "user", Takes::value, [](Options& o, const std::string& v) { o.user = v; }},
    Row{'g', "group", Takes::value, [](Options& o, const std::string& v) { o.group = v; }},
    Row{'D', "chdir", Takes::value, [](Options& o, const std::string& v) { o.directory = v; }},
    Row{'i', "login", Takes::nothing,
        [](Options& o, const std::string&) { o.shell = Options::Shell::login; }},
    Row{'s', "shell", Takes::nothing,
        [](Options& o, const std::string&) { o.shell = Options::Shell::shell; }},
    Row{'H', "set-home", Takes::nothing,
        [](Options& o, const std::string&) { o.home = Options::Home::target; }},
    Row{'b', "background", Takes::nothing,
        [](Options& o, const std::string&) { o.wait = Options::Wait::in_background; }},
    Row{'v', "validate", Takes::nothing,
        [](Options& o, const std::string&) { o.action = Options::Action::validate; }},
    Row{'l', "list", Takes::nothing,
        [](Options& o, const std::string&) { o.action = Options::Action::list; }},
    Row{'V', "version", Takes::nothing,
        [](Options& o, const std::string&) { o.action = Options::Action::version; }},
    Row{'h', "help", Takes::nothing,
        [](Options& o, const std::string&) { o.action = Options::Action::help; }},
    Row{'E', "preserve-env", Takes::maybe_value,
        [](Options& o, const std::string& v) {
          if (v.empty()) o.environment = Options::Environment::preserve;
          for (std::string& name : split(v, ',')) {
            if (!name.empty()) o.preserved.push_back(std::move(name));
          }
        }},
    Row{'n', "non-interactive", Takes::nothing, no_meaning},
    Row{'S', "stdin", Takes::nothing, no_meaning},
    Row{'A', "askpass", Takes::nothing, no_meaning},
    Row{'B', "bell", Takes::nothing, no_meaning},
    Row{'k', "reset-timestamp", Takes::nothing, no_meaning},
    Row{'K', "remove-timestamp", Takes::nothing, no_meaning},
    Row{'N', "no-update", Takes::nothing, no_meaning},
    Row{'P', "preserve-groups", Takes::nothing, nullptr},
    Row{'p', "prompt", Takes::value, no_meaning},
    Row{'C', "close-from", Takes::value, no_meaning},
    Row{'T', "command-timeout", Takes::value, nullptr},
    Row{'R', "chroot", Takes::value, nullptr},
    Row{'r', "role", Takes::value, nullptr},
    Row{'t', "type", Takes::value, nullptr},
    Row{'e', "edit", Takes::nothing, nullptr},
    Row{'U', "other-user", Takes::value, nullptr},
};

Error refused(const std::string& option, const char* why) {
  return Error(Code::invalid_argument, "option '" + printable(option) + "' " + why);
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  Result<Options> parse() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.size() < 2 || word[0] != '-') break;
      ++at_;
      PD_TRY(word.starts_with("--") ? take_long(word.substr(2)) : take_letters(word.substr(1)));
    }
    while (at_ < words_.size() && is_assignment(words_[at_])) {
      options_.variables.push_back(words_[at_++]);
    }
    options_.command.assign(words_.begin() + static_cast<ptrdiff_t>(at_), words_.end());
    return std::move(options_);
  }

 private:
  static bool is_assignment(const std::string& word) {
    const size_t equals = word.find('=');
    return equals != std::string::npos && equals > 0 && word.find('/') > equals;
  }

  Status apply(const Row& row, const std::string& shown, const std::string& value) {
    if (row.apply == nullptr) return refused(shown, "is not served here");
    row.apply(options_, value);
    return {};
  }

  Result<std::string> next_word(const std::string& shown) {
    if (at_ == words_.size()) return refused(shown, "needs a value");
    return words_[at_++];
  }

  Status take_long(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    for (const Row& row : kRows) {
      if (row.name != name) continue;
      std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
      if (equals != std::string::npos && row.takes == Takes::nothing) {
        return refused("--" + name, "takes no value");
      }
      if (equals == std::string::npos && row.takes == Takes::value) {
        value = PD_TRY(next_word("--" + name));
      }
      return apply(row, "--" + name, value);
    }
    return refused("--" + name, "is unknown");
  }

  Status take_letters(const std::string& letters) {
    for (size_t i = 0; i < letters.size(); ++i) {
      const std::string shown = std::string("-") + letters[i];
      const Row* found = nullptr;
      for (const Row& row : kRows) {
        if (row.letter == letters[i]) found = &row;
      }
      if (found == nullptr) return refused(shown, "is unknown");
      if (found->takes != Takes::value) {
        PD_TRY(apply(*found, shown, ""));
        continue;
      }
      std::string value = letters.substr(i + 1);
      if (value.empty()) value = PD_TRY(next_word(shown));
      return apply(*found, shown, value);
    }
    return {};
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  Options options_;
};

}  // namespace

Result<Options> parse(const std::vector<std::string>& words) {
  return Parser(words).parse();
}

}  // namespace paddock::agent::sudo
