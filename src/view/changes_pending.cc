// Until these parts of changes.h are built: typed refusals. Remove with the last of them.
#include "view/changes.h"

namespace paddock::view {
namespace {

Error pending(const char* what) {
  return Error(Code::unsupported, std::string(what) + " is not built yet");
}

}  // namespace

Result<std::string> bring_branch(const GitView&, const std::string&) {
  return pending("bringing commits");
}

}  // namespace paddock::view
