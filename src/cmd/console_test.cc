#include "cmd/console.h"

#include <gtest/gtest.h>

#include "cmd/report.h"

namespace paddock::cmd {
namespace {

TEST(Console, TablesAlignByCharactersAndEscapeCells) {
  EXPECT_EQ(table({{"A", "B"}, {"é", "x"}, {"long", "\x1b[2J"}}),
            "A     B\né     x\nlong  \\x1b[2J\n");
}

TEST(Console, WordsAreQuotedAsAShellReadsThem) {
  EXPECT_EQ(shell_words({"sh", "-c", "echo 'hi'", ""}), "sh -c 'echo '\\\\''hi'\\\\''' ''");
}

TEST(Console, SizesAreForPeople) {
  EXPECT_EQ(approximate_bytes(512), "512 B");
  EXPECT_EQ(approximate_bytes(1536), "1.5 KiB");
  EXPECT_EQ(plural(1, "path"), "1 path");
  EXPECT_EQ(plural(0, "path"), "0 paths");
}

TEST(Report, DenialsAreEscapedAndBounded) {
  model::Outcome outcome;
  for (int i = 0; i < 5; ++i) {
    model::Denial denial;
    denial.kind = model::DenialKind::name;
    denial.what = "evil\x1b[2J" + std::to_string(i);
    denial.rule = "network = none";
    outcome.denials.push_back(denial);
  }
  outcome.denials_dropped = 7;
  std::string text = describe_denials(outcome, "", 2);
  EXPECT_EQ(text,
            "denied: name evil\\x1b[2J0 (network = none)\n"
            "denied: name evil\\x1b[2J1 (network = none)\n… and 10 more\n");
}

TEST(Report, CountsNameOnlyWhatIsThere) {
  model::ChangeCounts counts;
  counts.added = 2;
  counts.held = 1;
  EXPECT_EQ(describe_counts(counts), "2 added, 1 held back at apply");
}

}  // namespace
}  // namespace paddock::cmd
