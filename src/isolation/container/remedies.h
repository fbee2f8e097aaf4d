// What to do about a kernel that refuses: from an errno and the host's settings to words.
#pragma once

#include <string>

#include "base/error.h"
#include "isolation/container/mount_program.h"

namespace paddock::isolation::container {

// New namespaces were refused: which setting of this host does that, and how to change it.
Error explain_namespaces(Error error);
// A mount step failed in the sandbox.
Error explain_mount(const Step& step, int error);
Error weak_root_error();

// The setting that keeps unprivileged users from making user namespaces; empty: none was found.
std::string user_namespace_remedy();

}  // namespace paddock::isolation::container
