#include "sys/mount_table.h"

#include "sys/files.h"

namespace paddock::sys {
namespace {

constexpr size_t kMountPointField = 4;  // ID, parent, major:minor, root, mount point
constexpr size_t kLimit = 64u << 20;

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

std::string unescape(std::string_view field) {
  std::string out;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size() && is_octal(field[i + 1]) &&
        is_octal(field[i + 2]) && is_octal(field[i + 3])) {
      out += static_cast<char>((field[i + 1] - '0') << 6 | (field[i + 2] - '0') << 3 |
                               (field[i + 3] - '0'));
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

std::string_view field_of(std::string_view line, size_t index) {
  for (; index > 0; --index) {
    size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    line.remove_prefix(blank + 1);
  }
  return line.substr(0, line.find(' '));
}

}  // namespace

std::vector<std::string> parse_mount_points(std::string_view mountinfo) {
  std::vector<std::string> points;
  while (!mountinfo.empty()) {
    size_t end = mountinfo.find('\n');
    std::string_view point = field_of(mountinfo.substr(0, end), kMountPointField);
    if (!point.empty() && point[0] == '/') points.push_back(unescape(point));
    if (end == std::string_view::npos) break;
    mountinfo.remove_prefix(end + 1);
  }
  return points;
}

Result<std::vector<std::string>> mount_points() {
  return parse_mount_points(PD_TRY(read_file("/proc/self/mountinfo", kLimit)));
}

}  // namespace paddock::sys
