// secret add, ls and rm: Paddock's own store.
#include <fmt/core.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "egress/credentials/secret_store.h"
#include "model/json.h"
#include "sys/files.h"
#include "sys/terminal.h"

namespace paddock::cmd {
namespace {

constexpr size_t kMaxSecret = 64 * 1024;

// From stdin, never from the command line, which other processes can read. One line break at the
// end is not part of it.
Result<egress::Secret> read_secret() {
  if (sys::is_terminal(STDIN_FILENO)) {
    return Error(Code::invalid_argument, "a secret is read from stdin, and stdin is a terminal")
        .set_remedy("printf %s \"$TOKEN\" | paddock secret add NAME, or redirect a file");
  }
  std::string text = PD_TRY_CTX("reading the secret", sys::read_file("/dev/stdin", kMaxSecret));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (!text.empty()) return egress::Secret(std::move(text));
  return Error(Code::invalid_argument, "stdin holds no secret");
}

Status list_secrets(const SecretArgs& args, const egress::SecretStore& store) {
  const std::vector<std::string> names = PD_TRY(store.names());
  if (args.json) {
    boost::json::array list;
    for (const std::string& name : names) list.emplace_back(boost::json::object{{"name", name}});
    print(model::pretty_json(list));
    return {};
  }
  for (const std::string& name : names) print(printable(name) + "\n");
  if (names.empty()) say("no secrets: `paddock secret add NAME` keeps one");
  return {};
}

Status add_secret(const SecretArgs& args, const egress::SecretStore& store) {
  const egress::Secret secret = PD_TRY(read_secret());
  return store.put(args.name, secret);
}

Status act(const SecretArgs& args, Context& context) {
  const egress::SecretStore store((PD_TRY(context.home()) / "secrets").str());
  switch (args.verb) {
    case SecretArgs::Verb::list:
      return list_secrets(args, store);
    case SecretArgs::Verb::add:
      PD_TRY(add_secret(args, store));
      say(fmt::format("kept; a [[credential]] uses it by from = \"store:{}\"",
                      printable(args.name)));
      return {};
    case SecretArgs::Verb::remove:
      PD_TRY(store.remove(args.name));
      say("forgot secret " + printable(args.name));
      return {};
  }
  return {};
}

}  // namespace

int secret(const SecretArgs& args, Context& context) {
  const Status status = act(args, context);
  return status.ok() ? 0 : fail(Status(status).error());
}

}  // namespace paddock::cmd
