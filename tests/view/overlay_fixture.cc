#include "overlay_fixture.h"

#include <fmt/core.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/files.h"

namespace paddock::view::testing {
namespace {

constexpr const char* kPath = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<std::string> unshare_command() {
  // Root keeps its own user namespace, to see owners as they are.
  return ::geteuid() == 0 ? std::vector<std::string>{"unshare", "-m", "sh", "-ec"}
                          : std::vector<std::string>{"unshare", "-Urm", "sh", "-ec"};
}

std::string mount_line(const model::OverlayTree& tree, MaskLayer mask) {
  std::string lowers;
  for (const model::HostPath& lower : tree.lowers) {
    if (mask == MaskLayer::left_out && lower.str().find("/masks/") != std::string::npos) continue;
    lowers += (lowers.empty() ? "" : ":") + lower.str();
  }
  return fmt::format(
      "mount -t overlay view -o "
      "userxattr,index=off,metacopy=off,lowerdir={},upperdir={},workdir={} {}\n",
      lowers, tree.upper->upper.str(), tree.upper->work.str(), tree.at.str());
}

}  // namespace

OverlayTest::OverlayTest() {
  root_ = sys::real_path(dir_.path()).value();
  model::HostPath home(root_ + "/home");
  EXPECT_TRUE(sys::make_dirs(home.str(), 0700).ok());
  EXPECT_TRUE(sys::make_dirs(workspace().str(), 0755).ok());
  database_ =
      std::make_unique<store::Database>(store::Database::open((home / "paddock.db").str()).value());
  store_ = open_view_store(home, *database_).value();
}

void OverlayTest::SetUp() {
  std::vector<std::string> argv = unshare_command();
  argv.push_back("true");
  auto tried = sys::run_command({argv, {kPath}, "/", "", 4096});
  if (!tried.ok() || tried->exit_code != 0)
    GTEST_SKIP() << "needs userns: the host forbids user namespaces";
}

OpenOptions OverlayTest::options() const {
  OpenOptions options;
  options.workspace = workspace();
  options.home = model::HostPath(root_ + "/home");
  return options;
}

void OverlayTest::write(const std::string& path, const std::string& text) {
  std::string full = root_ + "/" + path;
  ASSERT_TRUE(sys::make_dirs(full.substr(0, full.find_last_of('/')), 0755).ok());
  ASSERT_TRUE(sys::replace_file(full, text, 0644).ok());
}

std::string OverlayTest::read(const std::string& path) const {
  return sys::read_file(root_ + "/" + path).value();
}

Said OverlayTest::run(const OpenView& view, const std::string& script, MaskLayer mask) {
  std::string text = "exec 2>&1\n";
  for (const model::OverlayTree& tree : view.trees()) text += mount_line(tree, mask);
  std::string directory = view.trees().at(0).at.str();
  std::vector<std::string> argv = unshare_command();
  argv.push_back(text + "cd " + directory + "\n" + script);
  auto result =
      sys::run_command({argv, {kPath, "HOME=/nonexistent", "ROOT=" + root_}, "/", "", 1 << 20});
  if (!result.ok()) return {-1, result.error().describe()};
  return {result->exit_code, result->out};
}

std::string OverlayTest::output_of(const OpenView& view, const std::string& script,
                                   MaskLayer mask) {
  Said said = run(view, script, mask);
  EXPECT_EQ(said.exit_code, 0) << script << "\n" << said.out;
  return said.out;
}

model::ViewId OverlayTest::step(const std::string& script) {
  auto view = store_->create(options()).value();
  EXPECT_TRUE(view->begin({}).ok());
  output_of(*view, script);
  EXPECT_TRUE(view->finish({}).value().has_value()) << script;
  return view->id();
}

void OverlayTest::step(const model::ViewId& id, const std::string& script) {
  auto view = store_->reopen(id, options()).value();
  EXPECT_TRUE(view->begin({}).ok());
  output_of(*view, script);
  EXPECT_TRUE(view->finish({}).value().has_value()) << script;
}

}  // namespace paddock::view::testing
