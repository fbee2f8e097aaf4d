#include "model/json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/strings.h"

namespace paddock::model {
namespace {

// Every field differs from its default, so that one which is not carried is seen.
Outcome full_outcome() {
  Outcome outcome;
  outcome.ending = Ending::signalled;
  outcome.code = 11;
  outcome.reason = "SIGSEGV";
  outcome.core_dumped = true;
  outcome.usage = {1, 2, 3, UINT64_MAX, 5, 6};
  outcome.denials = {{DenialKind::network, "tcp 203.0.113.7:443", "egress", "add a rule", 42,
                      "cu\xffrl", 7, 1700000000123}};
  outcome.denials_dropped = 9;
  return outcome;
}

Decision full_decision() {
  Decision decision;
  decision.level = Level::gvisor;
  decision.trust = Trust::reviewed;
  decision.accepted_by = "shipped policy";
  decision.root_template = "/srv/root\xfe";
  decision.controls = {{"limits.memory", ControlState::approximated, "per process"}};
  decision.hidden = {".env", "b\xe9/.env"};
  decision.grants = {"mount /a:/b"};
  return decision;
}

TEST(Json, AnOutcomeReadsBackInFull) {
  std::string text = encode(full_outcome());
  EXPECT_EQ(encode(decode_outcome(text).value()), text);
  Outcome outcome = decode_outcome(text).value();
  EXPECT_EQ(outcome.ending, Ending::signalled);
  EXPECT_EQ(outcome.usage.peak_memory_bytes, UINT64_MAX);
  ASSERT_EQ(outcome.denials.size(), 1u);
  EXPECT_EQ(outcome.denials[0].process, "cu\xffrl");
  EXPECT_EQ(outcome.denials[0].first_ms, 1700000000123);
  EXPECT_TRUE(outcome.core_dumped);
}

TEST(Json, ADecisionReadsBackInFull) {
  std::string text = encode(full_decision());
  Decision decision = decode_decision(text).value();
  EXPECT_EQ(encode(decision), text);
  EXPECT_EQ(decision.root_template, "/srv/root\xfe");
  EXPECT_EQ(decision.hidden, full_decision().hidden);
  EXPECT_EQ(decision.accepted_by, "shipped policy");
  decision.accepted_by.reset();
  EXPECT_EQ(decode_decision(encode(decision)).value().accepted_by, std::nullopt);
}

// The names are a public contract: this text changes only together with docs/outcome.md.
TEST(Json, TheFieldNamesAreTheDocumentedOnes) {
  Outcome outcome;
  outcome.ending = Ending::exited;
  EXPECT_EQ(encode(outcome),
            R"({"ending":"exited","code":0,"exit_status":0,"reason":"","core_dumped":false,)"
            R"("usage":{"wall_us":0,"user_us":0,"system_us":0,"peak_memory_bytes":0,)"
            R"("stdout_bytes":0,"stderr_bytes":0},"denials":[],"denials_dropped":0})");
  EXPECT_EQ(json_text(to_json(full_outcome().denials[0])),
            R"({"kind":"network","what":"tcp 203.0.113.7:443","rule":"egress",)"
            R"("remedy":"add a rule","pid":42,"process":"cu\\xffrl","process_base64":"Y3X/cmw=",)"
            R"("count":7,"first_ms":1700000000123})");
  EXPECT_EQ(encode(full_decision()),
            R"({"level":"gvisor","trust":"reviewed","accepted_by":"shipped policy",)"
            R"("root_template":"/srv/root\\xfe","root_template_base64":"L3Nydi9yb290/g==",)"
            R"("controls":[{"name":"limits.memory","state":"approximated",)"
            R"("detail":"per process"}],"hidden":[".env","b\\xe9/.env"],)"
            R"("hidden_base64":[null,"YukvLmVudg=="],"grants":["mount /a:/b"]})");
}

TEST(Json, AChangeShowsBothSidesAndAbsenceAsNull) {
  Change change;
  change.path = "bin/run";
  change.kind = ChangeKind::renamed;
  change.from = "run";
  change.before = {FileType::symlink, 0777, 3, "", "a/b", {}};
  change.after = {FileType::regular, 04755, 12, "abcd", "", {{"user.k", "v"}}};
  change.held_reason = "runs on the host";
  change.added_lines = 4;
  EXPECT_EQ(json_text(to_json(ChangeSet{{change}, {".git/index"}, {"sock"}})),
            R"({"changes":[{"path":"bin/run","kind":"renamed","from":"run",)"
            R"("before":{"type":"symlink","mode":"0777","size":3,"target":"a/b"},)"
            R"("after":{"type":"regular","mode":"4755","size":12,"sha256":"abcd",)"
            R"("xattrs":[{"name":"user.k","value":"v"}]},)"
            R"("held_reason":"runs on the host","added_lines":4,"deleted_lines":0,)"
            R"("binary":false,"link_of":null}],"git_paths":[".git/index"],"skipped":["sock"]})");
  change.before = {};
  EXPECT_TRUE(to_json(change)["before"].is_null());
}

TEST(Json, AReportSaysWhatWasNotThereAsNull) {
  boost::json::object report = to_json(RunReport{});
  for (const char* field : {"decision", "view", "changes"}) EXPECT_TRUE(report[field].is_null());
  EXPECT_EQ(report["format"], 1);

  RunReport full{full_outcome(), full_decision(), ViewId::from_entropy("12345678"),
                 ChangeCounts{1, 2, 3, 4, 5}};
  report = to_json(full);
  EXPECT_EQ(report["view"], boost::json::string(full.view.str()));
  EXPECT_EQ(json_text(report["changes"]),
            R"({"added":1,"modified":2,"deleted":3,"renamed":4,"held":5})");
  EXPECT_EQ(report["outcome"], to_json(full.outcome));
  EXPECT_EQ(parse_json(pretty(full)).value(), report);
}

TEST(Json, NamesOfEveryShapeSurvive) {
  for (std::string name :
       {"plain", "new\nline", "tab\t\"quote\"\\", "caf\xc3\xa9", "\xff\xfe", "a\x01",
        "\xc2\x9b"
        "31m",
        "\xe2\x80\xae"
        "gpj.exe",
        "\x7f"}) {
    boost::json::object object;
    put_bytes(object, "path", name);
    std::string text = json_text(object);
    EXPECT_EQ(get_bytes(parse_json(text).value().get_object(), "path").value(), name) << text;
    EXPECT_EQ(object.contains("path_base64"), !is_valid_utf8(name));
  }
  std::string nul("a\0b", 3);
  boost::json::object object;
  put_bytes(object, "path", nul);
  EXPECT_EQ(get_bytes(parse_json(json_text(object)).value().get_object(), "path").value(), nul);
}

TEST(Json, NothingInTheTextSteersATerminal) {
  boost::json::object object;
  put_bytes(object, "path",
            "\x1b[2J\xc2\x9b"
            "31m\x7f\xe2\x80\xae\xe2\x81\xa9"
            "caf\xc3\xa9");
  EXPECT_EQ(json_text(object),
            "{\"path\":\"\\u001b[2J\\u009b31m\\u007f\\u202e\\u2069caf\xc3\xa9\"}");
}

TEST(Json, PrettyTextIsIndentedByTwoAndReadsBackTheSame) {
  boost::json::value value = parse_json(R"({"a":[1,{"b":[]}],"c":{},"d":"x\ny"})").value();
  EXPECT_EQ(pretty_json(value), R"({
  "a": [
    1,
    {
      "b": []
    }
  ],
  "c": {},
  "d": "x\ny"
}
)");
  EXPECT_EQ(parse_json(pretty_json(value)).value(), value);
}

TEST(Json, UnknownFieldsAreIgnoredAndAbsentOnesKeepTheirDefault) {
  Outcome outcome = decode_outcome(R"({"ending":"timed_out","later":[1,2]})").value();
  EXPECT_EQ(outcome.ending, Ending::timed_out);
  EXPECT_TRUE(outcome.denials.empty());
}

TEST(Json, WhatIsNotARecordIsRefusedByTheNameOfTheField) {
  struct Case {
    const char* text;
    const char* named;
  };
  for (const Case& c : {
           Case{"", "not JSON"},
           Case{"[]", "not a JSON object"},
           Case{"{} x", "not JSON"},
           Case{"{}", "'ending'"},
           Case{R"({"ending":"exploded"})", "'ending'"},
           Case{R"({"ending":"exited","code":"0"})", "'code'"},
           Case{R"({"ending":"exited","code":4294967296})", "'code'"},
           Case{R"({"ending":"exited","core_dumped":1})", "'core_dumped'"},
           Case{R"({"ending":"exited","usage":[]})", "'usage'"},
           Case{R"({"ending":"exited","usage":{"wall_us":-1}})", "'wall_us'"},
           Case{R"({"ending":"exited","denials":{}})", "'denials'"},
           Case{R"({"ending":"exited","denials":[7]})", "'denials'"},
           Case{R"({"ending":"exited","denials":[{"kind":"?"}]})", "'kind'"},
           Case{R"({"ending":"exited","reason":1})", "'reason'"},
           Case{R"({"ending":"exited","reason":"x","reason_base64":"*"})", "'reason_base64'"},
       }) {
    auto outcome = decode_outcome(c.text);
    ASSERT_FALSE(outcome.ok()) << c.text;
    EXPECT_EQ(outcome.error().code(), Code::data_corrupt) << c.text;
    EXPECT_NE(outcome.error().describe().find(c.named), std::string::npos)
        << outcome.error().describe();
  }
  EXPECT_FALSE(decode_decision(R"({"level":"container"})").ok());
  EXPECT_FALSE(decode_decision(
                   R"({"level":"container","trust":"reviewed","hidden":["a"],"hidden_base64":[]})")
                   .ok());
}

TEST(Json, DepthIsBounded) {
  EXPECT_FALSE(parse_json(std::string(1000, '[') + std::string(1000, ']')).ok());
}

}  // namespace
}  // namespace paddock::model
