// What is told of views in public: by the command line's --json and by the server's own surface.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "view/workspace.h"

namespace paddock::view {

boost::json::object to_json(const ViewInfo& info);
boost::json::object to_json(const Step& step);
// The view with its steps.
boost::json::object to_json(const ViewInfo& info, const std::vector<Step>& steps);
// `git_paths`: of the change set that was applied; they stay in the view.
boost::json::object to_json(const ApplyReport& report, const std::vector<std::string>& git_paths);

}  // namespace paddock::view
