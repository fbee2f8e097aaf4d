#include "engine/live/builds/uploads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "net/testing/on_loop.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::engine {
namespace {

using model::HostPath;

class UploadsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(uploads_.open().ok()); }
  void on_loop(std::function<void(net::Task&)> body) {
    net::testing::run_on(loop_, std::move(body));
  }
  static UploadName named(char digit, const char* owner = "") {
    UploadName name;
    if (*owner != '\0') name.owner.key = model::KeyId::from_entropy(owner);
    name.hash = std::string(64, digit);
    return name;
  }
  Status put(net::Task& task, const UploadName& name, const std::string& bytes) {
    auto writing = PD_TRY(uploads_.begin(task, name, bytes.size()));
    PD_TRY(writing->add(task, bytes));
    return writing->commit(task);
  }
  std::string get(net::Task& task, const UploadName& name) {
    auto file = uploads_.read(task, name);
    if (!file.ok()) return std::string(to_string(file.error().code()));
    std::string all, piece;
    do {
      piece = uploads_.next_piece(task, *file).value();
      all += piece;
    } while (!piece.empty());
    return all;
  }

  sys::testing::TempDir tmp_;
  net::Loop loop_;
  Uploads uploads_{HostPath(tmp_.path()), {.max_bytes = 100}};
};

TEST_F(UploadsTest, WhatWasSentIsItsOwnersAlone) {
  on_loop([&](net::Task& task) {
    ASSERT_TRUE(put(task, named('a', "somebody"), "bytes").ok());
    EXPECT_TRUE(uploads_.has(task, named('a', "somebody")));
    EXPECT_FALSE(uploads_.has(task, named('a', "another1")));
    EXPECT_FALSE(uploads_.has(task, named('a')));
    EXPECT_EQ(get(task, named('a', "somebody")), "bytes");
    EXPECT_EQ(get(task, named('a', "another1")), "not_found");
    ASSERT_TRUE(put(task, named('a', "somebody"), "others").ok());
    EXPECT_EQ(get(task, named('a', "somebody")), "others");
  });
}

TEST_F(UploadsTest, OneThatIsNotCommittedIsNone) {
  on_loop([&](net::Task& task) {
    auto writing = uploads_.begin(task, named('a'), 5);
    ASSERT_TRUE((*writing)->add(task, "half").ok());
    EXPECT_FALSE(uploads_.has(task, named('a')));
    writing->reset();
    const sys::DirFd open = sys::open_dir(tmp_.path() + "/uploads/keeper").value();
    EXPECT_TRUE(sys::list_dir(open).value().empty());
  });
}

TEST_F(UploadsTest, ANameThatIsNoHashIsRefused) {
  on_loop([&](net::Task& task) {
    UploadName name;
    name.hash = "../../paddock.db";
    EXPECT_EQ(uploads_.begin(task, name, 1).error().code(), Code::invalid_argument);
    EXPECT_EQ(uploads_.read(task, name).error().code(), Code::invalid_argument);
  });
}

TEST_F(UploadsTest, TheyAreBoundedOneByOneAndTogether) {
  on_loop([&](net::Task& task) {
    EXPECT_EQ(uploads_.begin(task, named('a'), 101).error().code(), Code::resource_exhausted);
    std::vector<std::unique_ptr<Uploads::Writing>> coming;
    for (const char digit : {'a', 'b', 'c', 'd'}) {
      coming.push_back(uploads_.begin(task, named(digit), 100).value());
    }
    EXPECT_EQ(uploads_.begin(task, named('e'), 1).error().code(), Code::resource_exhausted);
    EXPECT_TRUE(uploads_.begin(task, named('e', "somebody"), 1).ok());
    coming.clear();
    for (const char digit : {'1', '2', '3', '4', '5'}) {
      ASSERT_TRUE(put(task, named(digit), std::string(90, digit)).ok());
    }
    EXPECT_TRUE(uploads_.has(task, named('5')));
    int left = 0;
    for (const char digit : {'1', '2', '3', '4'}) left += uploads_.has(task, named(digit)) ? 1 : 0;
    EXPECT_EQ(left, 3);
  });
}

TEST_F(UploadsTest, HalvesAndOldOnesGoAtTheNextStart) {
  const std::string keeper = tmp_.path() + "/uploads/keeper";
  ASSERT_TRUE(sys::make_dirs(keeper, 0700).ok());
  std::ofstream(keeper + "/.new-x") << "half";
  std::ofstream(keeper + "/" + std::string(64, 'a')) << "old";
  std::ofstream(keeper + "/" + std::string(64, 'b')) << "new";
  const struct timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (keeper + "/" + std::string(64, 'a')).c_str(), old, 0), 0);
  ASSERT_TRUE(uploads_.open().ok());
  const sys::DirFd open = sys::open_dir(keeper).value();
  const auto entries = sys::list_dir(open).value();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries.front().name, std::string(64, 'b'));
}

}  // namespace
}  // namespace paddock::engine
