#include "engine/live/run_table.h"

#include <boost/json.hpp>

#include "base/base64.h"
#include "model/json.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr int64_t kKeepRunsMs = 7ll * 86'400'000;

std::string_view name_of_stream(OutputKind kind) {
  switch (kind) {
    case OutputKind::standard_output:
      return "stdout";
    case OutputKind::standard_error:
      return "stderr";
    case OutputKind::terminal:
      return "terminal";
  }
  return "stdout";
}

// argv may hold any bytes.
std::string encode_argv(const std::vector<std::string>& argv) {
  boost::json::array words;
  for (const std::string& word : argv) words.emplace_back(base64_encode(word));
  return model::json_text(words);
}

Result<std::vector<std::string>> decode_argv(const std::string& text) {
  std::vector<std::string> argv;
  const boost::json::value value = PD_TRY(model::parse_json(text));
  const Error corrupt(Code::data_corrupt, "the record of a detached run");
  if (!value.is_array()) return corrupt;
  for (const auto& word : value.get_array()) {
    if (!word.is_string()) return corrupt;
    argv.push_back(PD_TRY(base64_decode(word.get_string())));
  }
  return argv;
}

Result<EndedRun> run_of(const store::Row& row) {
  EndedRun run;
  run.sandbox = row.text(0);
  if (!row.text(1).empty()) run.owner.key = PD_TRY(model::KeyId::parse(row.text(1)));
  if (row.integer(2) != 0) run.owner.reach = model::Owner::Reach::socket;
  run.argv = PD_TRY(decode_argv(row.text(3)));
  run.outcome = PD_TRY(model::decode_outcome(row.text(4)));
  run.ended_ms = row.integer(5);
  return run;
}

constexpr const char* kColumns =
    "SELECT sandbox, owner, by_socket, argv, outcome, ended_ms, output FROM ended_run ";

}  // namespace

Status RunTable::put(const EndedRun& run) {
  const int64_t by_socket = run.owner.reach == model::Owner::Reach::socket ? 1 : 0;
  return database_.execute(
      "INSERT OR REPLACE INTO ended_run (sandbox, owner, by_socket, argv, outcome, output, "
      "ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
      {run.sandbox, run.owner.key.str(), by_socket, encode_argv(run.argv),
       model::encode(run.outcome), run.output, run.ended_ms});
}

Result<std::optional<EndedRun>> RunTable::find(const std::string& sandbox) {
  const auto rows = PD_TRY(database_.query(std::string(kColumns) + "WHERE sandbox = ?", {sandbox}));
  if (rows.empty()) return std::optional<EndedRun>();
  EndedRun run = PD_TRY(run_of(rows[0]));
  run.output = rows[0].text(6);
  return std::optional(std::move(run));
}

Result<std::vector<EndedRun>> RunTable::list() {
  std::vector<EndedRun> runs;
  for (const store::Row& row : PD_TRY(database_.query(
           "SELECT sandbox, owner, by_socket, argv, outcome, ended_ms FROM ended_run "
           "ORDER BY ended_ms DESC, sandbox"))) {
    runs.push_back(PD_TRY(run_of(row)));
  }
  return runs;
}

Status RunTable::forget_old() {
  return database_.execute("DELETE FROM ended_run WHERE ended_ms < ?",
                           {sys::wall_clock_ms() - kKeepRunsMs});
}

std::string output_line(const OutputData& data) {
  boost::json::object line;
  line["event"] = "output";
  line["stream"] = name_of_stream(data.kind);
  line["sequence"] = data.sequence;
  line["data"] = base64_encode(data.bytes);
  return model::json_text(line) + "\n";
}

}  // namespace paddock::engine
