#include "view/testing/apply.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace paddock::view::testing {
namespace {

std::string names_in(const std::string& dir, const std::string& prefix) {
  Result<sys::DirFd> opened = sys::open_dir(dir);
  if (!opened.ok()) return "";
  std::string out;
  std::vector<sys::DirEntry> entries = sys::list_dir(*opened).value();
  for (const sys::DirEntry& entry : entries) {
    if (entry.name.compare(0, prefix.size(), prefix) == 0 && entry.name != "lock") {
      out += dir + "/" + entry.name + "\n";
    }
  }
  return out;
}

}  // namespace

ApplySite site_of(const StackOnDisk& disk) {
  return {model::HostPath(disk.path("journal")), "view-1"};
}

ApplyReport apply_in(const StackOnDisk& disk, const ApplyOptions& options) {
  Result<ApplyReport> report = apply_changes(disk.stack, options, site_of(disk));
  if (!report.ok()) ADD_FAILURE() << report.error().describe();
  return report.ok() ? std::move(*report) : ApplyReport();
}

std::string results_of(const ApplyReport& report) {
  std::string out;
  for (const AppliedPath& path : report.paths) {
    out += printable(path.path) + " " + std::string(name_of(kApplyResultNames, path.result)) + "\n";
  }
  return out;
}

std::string leftovers(const StackOnDisk& disk) {
  return names_in(disk.path("journal"), "") + names_in(disk.host_dir(), ".paddock") +
         names_in(disk.stack.bases.str(), "tmp-") + names_in(disk.stack.bases.str(), "parked-");
}

}  // namespace paddock::view::testing
