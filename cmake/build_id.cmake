# Writes OUT: the build id of the agent's protocol, a hash over the sources below ROOT/src that make the
# agent. Run as a script at build time (cmake -P), so that it does not depend on git.
file(GLOB sources RELATIVE ${ROOT}/src
  ${ROOT}/src/agent/*.cc ${ROOT}/src/agent/*.h ${ROOT}/src/base/*.cc ${ROOT}/src/base/*.h
  ${ROOT}/src/sys/*.cc ${ROOT}/src/sys/*.h ${ROOT}/src/wire/*.cc ${ROOT}/src/wire/*.h
  ${ROOT}/src/wire/*.proto)
list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
list(SORT sources)
set(all "")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/src/${source} hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 32 id)
set(all "")
foreach(source wire/agent.proto wire/files.proto wire/frame.h)
  file(SHA256 ${ROOT}/src/${source} hash)
  string(APPEND all "${hash}\n")
endforeach()
string(SHA256 protocol "${all}")
string(SUBSTRING ${protocol} 0 32 protocol)
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
#include "wire/build_id.h"
namespace paddock::wire {
std::string_view build_id() { return "@id@"; }
std::string_view protocol_id() { return "@protocol@"; }
}  // namespace paddock::wire
]] @ONLY)
