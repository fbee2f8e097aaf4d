#include "cmd/serve_settings.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cmd/console.h"
#include "model/json.h"
#include "sys/files.h"

namespace paddock::cmd {
namespace {

constexpr const char* kAdminFile = "/etc/paddock/server.toml";
constexpr size_t kMaxServerToml = 1u << 20;

Error no_endpoint(const std::string& text, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("--listen {}: {}", printable(text), why))
      .set_remedy("for example --listen 127.0.0.1:3100");
}

std::string user_file(const Caller& caller) {
  const auto config = caller.environment.find("XDG_CONFIG_HOME");
  const bool is_set = config != caller.environment.end() && config->second.starts_with('/');
  if (is_set) return config->second + "/paddock/server.toml";
  return caller.home.empty() ? "" : caller.home.str() + "/.config/paddock/server.toml";
}

// nullopt: there is none. One that cannot be read is not one without limits.
Result<std::optional<std::string>> read_settings_file(const std::string& path) {
  auto file = sys::open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok() && file.error().code() == Code::not_found) return std::optional<std::string>();
  if (!file.ok()) return std::move(file).error();
  struct stat st {};
  if (::fstat(file->get(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return Error(Code::invalid_argument, "not a regular file");
  }
  if (path == kAdminFile && (st.st_uid != 0 || (st.st_mode & 0022) != 0)) {
    return Error(Code::permission_denied, "others than root can change it")
        .set_remedy(fmt::format("chown root {0} && chmod go-w {0}", path));
  }
  return std::optional(PD_TRY(sys::read_all(*file, kMaxServerToml)));
}

}  // namespace

Result<Endpoint> parse_endpoint(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return no_endpoint(text, "no port");
  std::string host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  auto address = model::IpAddress::parse(host);
  if (!address.ok()) return no_endpoint(text, "no address");
  const auto port = parse_u64(text.substr(colon + 1));
  if (!port || *port > 65535) return no_endpoint(text, "no port");
  const Reach reach =
      host == "::1" || host.starts_with("127.") ? Reach::this_machine : Reach::everybody;
  return Endpoint{std::move(*address), static_cast<uint16_t>(*port), reach};
}

Result<service::LoadedSettings> read_server_settings(const ServeArgs& args,
                                                     const Context& context) {
  std::vector<service::ServerFile> files;
  for (const std::string& path : {std::string(kAdminFile), user_file(context.caller())}) {
    if (path.empty()) continue;
    auto text = PD_TRY_CTX("reading " + printable(path), read_settings_file(path));
    if (text) files.push_back({path, std::move(*text)});
  }
  return service::load_server_settings(
      files,
      {.listen = args.listen, .tls = args.tls, .tls_cert = args.tls_cert, .tls_key = args.tls_key});
}

Status explain_server(const ServeArgs& args, const Context& context) {
  const service::LoadedSettings loaded = PD_TRY(read_server_settings(args, context));
  if (args.json) {
    boost::json::array out;
    for (const service::SettingRow& row : loaded.rows) {
      out.emplace_back(boost::json::object{
          {"key", row.key}, {"value", row.value}, {"from", row.origin}, {"doc", row.doc}});
    }
    print(model::pretty_json(out));
    return {};
  }
  std::vector<std::vector<std::string>> rows{{"SETTING", "FROM", "VALUE", ""}};
  for (const service::SettingRow& row : loaded.rows) {
    rows.push_back({row.key, row.origin, row.value, row.doc});
  }
  print(table(rows));
  return {};
}

}  // namespace paddock::cmd
