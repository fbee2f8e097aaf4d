#include "net/pump.h"

#include <gtest/gtest.h>

#include "net/event.h"
#include "net/socket_stream.h"
#include "net/testing/line.h"
#include "net/testing/on_loop.h"

namespace paddock::net {
namespace {

using testing::Line;
using testing::read_text;
using testing::run_on;

TEST(Pump, CarriesBothWaysAndEndsEachWayOnItsOwn) {
  Loop loop;
  Line line(loop);
  auto done = std::make_shared<Event>(loop);
  auto status = std::make_shared<Status>(Error(Code::internal, "not done"));
  loop.spawn([&, done, status](Task& task) {
    *status = pump_both_ways(task, *line.a, *line.b, {});
    done->set();
  });
  run_on(loop, [&](Task& task) {
    EXPECT_TRUE(line.client->write(task, "ask").ok());
    EXPECT_TRUE(line.client->end_writing(task).ok());
    EXPECT_EQ(read_text(task, *line.server, 100), "ask");
    EXPECT_TRUE(line.server->write(task, "answer").ok());
    EXPECT_TRUE(line.server->end_writing(task).ok());
    EXPECT_EQ(read_text(task, *line.client, 100), "answer");
    done->wait(task);
  });
  EXPECT_TRUE(status->ok());
}

TEST(Pump, ATapSeesAndChangesAndStops) {
  Loop loop;
  Line line(loop);
  auto done = std::make_shared<Event>(loop);
  auto status = std::make_shared<Status>();
  loop.spawn([&, done, status](Task& task) {
    *status = pump_both_ways(task, *line.a, *line.b,
                             {.a_to_b = [](std::string_view bytes) -> Result<std::string_view> {
                                if (bytes == "stop")
                                  return Error(Code::permission_denied, "stopped");
                                return std::string_view(bytes == "ask" ? "ASK" : "?");
                              },
                              .b_to_a = {}});
    done->set();
  });
  run_on(loop, [&](Task& task) {
    EXPECT_TRUE(line.client->write(task, "ask").ok());
    EXPECT_EQ(read_text(task, *line.server, 3), "ASK");
    EXPECT_TRUE(line.client->write(task, "stop").ok());
    EXPECT_EQ(read_text(task, *line.server, 1), "");
    EXPECT_EQ(read_text(task, *line.client, 1), "");
    done->wait(task);
  });
  EXPECT_EQ(status->error().code(), Code::permission_denied);
}

TEST(Pump, WhatATapKeptComesAtTheEnd) {
  Loop loop;
  Line line(loop);
  loop.spawn([&](Task& task) {
    (void)pump(task, *line.a, *line.b, [](std::string_view bytes) -> Result<std::string_view> {
      return bytes.empty() ? "kept" : std::string_view();
    });
  });
  run_on(loop, [&](Task& task) {
    EXPECT_TRUE(line.client->write(task, "held").ok());
    EXPECT_TRUE(line.client->end_writing(task).ok());
    EXPECT_EQ(read_text(task, *line.server, 100), "kept");
  });
}

TEST(Pump, ALoopThatEndsEndsIt) {
  auto status = std::make_shared<Status>();
  {
    Loop loop;
    auto line = std::make_shared<Line>(loop);
    loop.spawn([=](Task& task) mutable {
      *status = pump_both_ways(task, *line->a, *line->b, {});
      line.reset();
    });
    run_on(loop, [](Task& task) { task.yield(); });
    line.reset();
  }
  EXPECT_FALSE(status->ok());
}

}  // namespace
}  // namespace paddock::net
