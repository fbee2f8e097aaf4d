#include "net/splice.h"

#include <gtest/gtest.h>

#include "net/event.h"
#include "net/testing/line.h"
#include "net/testing/on_loop.h"

namespace paddock::net {
namespace {

using testing::Line;
using testing::read_text;
using testing::run_on;

Status nothing(uint64_t) {
  return {};
}

TEST(Splice, CarriesBothWaysCountsAndEndsEachWayOnItsOwn) {
  Loop loop;
  Line line(loop);
  uint64_t forth = 0, back = 0;
  auto status = std::make_shared<Status>(Error(Code::internal, "not done"));
  auto done = std::make_shared<Event>(loop);
  loop.spawn([&, done, status](Task& task) {
    *status = splice_both_ways(task, *line.a, *line.b,
                               {.a_to_b =
                                    [&](uint64_t count) {
                                      forth += count;
                                      return Status();
                                    },
                                .b_to_a =
                                    [&](uint64_t count) {
                                      back += count;
                                      return Status();
                                    }});
    done->set();
  });
  const std::string much(3'000'000, 'x');
  loop.spawn([&](Task& task) {
    EXPECT_TRUE(line.client->write(task, much).ok());
    EXPECT_TRUE(line.client->end_writing(task).ok());
  });
  run_on(loop, [&](Task& task) {
    EXPECT_EQ(read_text(task, *line.server, much.size() + 1), much);
    EXPECT_TRUE(line.server->write(task, "answer").ok());
    EXPECT_TRUE(line.server->end_writing(task).ok());
    EXPECT_EQ(read_text(task, *line.client, 100), "answer");
    done->wait(task);
  });
  EXPECT_TRUE(status->ok());
  EXPECT_EQ(forth, much.size());
  EXPECT_EQ(back, 6u);
}

TEST(Splice, AMeterStopsBothSidesAndNothingOfItIsKeptForAnother) {
  Loop loop;
  for (int round = 0; round < 3; ++round) {
    Line line(loop);
    auto done = std::make_shared<Event>(loop);
    loop.spawn([&, done](Task& task) {
      const Status status = splice_both_ways(
          task, *line.a, *line.b,
          {.a_to_b = [&](uint64_t) { return Status(Error(Code::resource_exhausted, "used up")); },
           .b_to_a = nothing});
      EXPECT_EQ(Status(status).error().code(), Code::resource_exhausted);
      done->set();
    });
    run_on(loop, [&](Task& task) {
      EXPECT_TRUE(line.client->write(task, "secret of round").ok());
      EXPECT_EQ(read_text(task, *line.server, 100), "");
      done->wait(task);
    });
  }
}

TEST(Splice, APeerThatIsGoneIsAnErrorAndNoSignal) {
  Loop loop;
  Line line(loop);
  line.server.reset();
  run_on(loop, [&](Task& task) {
    EXPECT_TRUE(line.client->write(task, "to nobody").ok());
    EXPECT_FALSE(
        splice_both_ways(task, *line.a, *line.b, {.a_to_b = nothing, .b_to_a = nothing}).ok());
  });
}

}  // namespace
}  // namespace paddock::net
