// The public JSON of the values that leave the process (`--outcome FILE`, `--json`) and are kept in
// the history of views. docs/outcome.md documents every field name; the names are stable.
//
// A field that holds bytes (a path, a process name) is text when it is valid UTF-8. Otherwise the
// field is the escaped text of base's printable(), and `<field>_base64` beside it has the bytes.
// For a list, `<field>_base64` is a list of the same length with null where the text is exact. Both
// are lost on no reader: put_bytes and get_bytes are the two ends.
//
// Pure functions. Only units that build or take apart documents of their own include Boost.JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/change.h"
#include "model/decision.h"
#include "model/denial.h"
#include "model/outcome.h"
#include "model/run_report.h"

namespace paddock::model {

boost::json::object to_json(const Usage& usage);
boost::json::object to_json(const Denial& denial);
boost::json::object to_json(const Outcome& outcome);
boost::json::object to_json(const Control& control);
boost::json::object to_json(const Decision& decision);
boost::json::object to_json(const Change& change);
boost::json::object to_json(const ChangeSet& changes);
boost::json::object to_json(const ChangeCounts& counts);
boost::json::object to_json(const RunReport& report);

// The stored form, on one line, and its reader; the report as it is written for people. Unknown
// fields are ignored, absent ones keep their default. data_corrupt names the field that is not what
// it must be.
std::string encode(const Outcome& outcome);
std::string encode(const Decision& decision);
std::string pretty(const RunReport& report);
Result<Outcome> decode_outcome(std::string_view text);
Result<Decision> decode_decision(std::string_view text);

// Nested at most 32 deep. data_corrupt otherwise, with the offset.
Result<boost::json::value> parse_json(std::string_view text);
// One line, or two spaces a level with a newline at the end. Both are safe on a terminal: controls,
// C1 included, and bidirectional overrides are escaped.
std::string json_text(const boost::json::value& value);
std::string pretty_json(const boost::json::value& value);

void put_bytes(boost::json::object& object, std::string_view field, std::string_view bytes);
void put_bytes(boost::json::object& object, std::string_view field,
               const std::vector<std::string>& list);
// Absent is empty.
Result<std::string> get_bytes(const boost::json::object& object, std::string_view field);
Result<std::vector<std::string>> get_bytes_list(const boost::json::object& object,
                                                std::string_view field);

}  // namespace paddock::model
