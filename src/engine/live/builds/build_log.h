// What a build has to tell, in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

namespace paddock::engine {

enum class BuildLevel { debug, info, warn, error };
inline constexpr EnumNames<BuildLevel, 4> kBuildLevelNames{{{BuildLevel::debug, "debug"},
                                                            {BuildLevel::info, "info"},
                                                            {BuildLevel::warn, "warn"},
                                                            {BuildLevel::error, "error"}}};

struct BuildLine {
  int64_t wall_ms = 0;
  BuildLevel level = BuildLevel::info;
  std::string message;
  std::string step;
};

// Bounded: what is beyond is counted and dropped, but for errors.
class BuildLog {
 public:
  void begin_step(std::string step, std::string title);
  void add(BuildLevel level, std::string message);
  // Output of a command, which becomes lines; the rest of one stays until more comes.
  void add_output(std::string_view stream, std::string_view bytes);
  void end_output();

  const std::vector<BuildLine>& lines() const { return lines_; }

 private:
  struct Partial {
    std::string stream;
    std::string bytes;
  };
  void add_line(const Partial& partial);
  Partial& partial_of(std::string_view stream);

  std::vector<BuildLine> lines_;
  size_t bytes_ = 0;
  bool is_full_ = false;
  std::string step_;
  std::string title_;  // before each line of output
  std::vector<Partial> partial_;
};

}  // namespace paddock::engine
