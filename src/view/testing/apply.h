// Applying, in tests.
#pragma once

#include <string>

#include "view/changes.h"
#include "view/testing/stack.h"

namespace paddock::view::testing {

ApplySite site_of(const StackOnDisk& disk);

// Fails the test when there is no report.
ApplyReport apply_in(const StackOnDisk& disk, const ApplyOptions& options = {});

// "path result" per line.
std::string results_of(const ApplyReport& report);

// What an apply has left in its journal directory and in the host tree, beside its lock.
std::string leftovers(const StackOnDisk& disk);

}  // namespace paddock::view::testing
