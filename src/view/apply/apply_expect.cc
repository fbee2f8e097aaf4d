#include "view/apply/apply_expect.h"

#include "sys/digest.h"

namespace paddock::view {
Expected expected_of(const Object& object) {
  Expected expected;
  expected.type = object.state.type;
  expected.ino = object.ino;
  expected.size = object.state.size;
  expected.mode = object.state.mode;
  expected.mtime_ns = object.mtime_ns;
  expected.target = object.state.target;
  return expected;
}

Result<Match> matches(const sys::DirFd& dir, const std::string& name, const Expected& expected) {
  Object object = PD_TRY(examine(dir, name));
  Expected found = expected_of(object);
  if (found.type != expected.type || found.ino != expected.ino) return Match::no;
  if (found.type == model::FileType::directory) return Match::yes;
  bool same = found.size == expected.size && found.mtime_ns == expected.mtime_ns &&
              found.mode == expected.mode && found.target == expected.target;
  if (!same) return Match::no;
  if (expected.digest.empty()) return Match::yes;
  sys::FileFd fd = PD_TRY(open_regular(dir, name));
  return PD_TRY(sys::sha256_hex(fd)) == expected.digest ? Match::yes : Match::no;
}

}  // namespace paddock::view
