#include "ssh/known_hosts.h"

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::ssh {
namespace {

Error refused(const std::string& host, std::string_view why) {
  return Error(Code::permission_denied, "the key of " + host + " " + std::string(why));
}

Result<std::string> server_key(ssh_session session, const std::string& host) {
  ssh_key key = nullptr;
  char* text = nullptr;
  if (ssh_get_server_publickey(session, &key) != SSH_OK) return refused(host, "cannot be read");
  const int encoded = ssh_pki_export_pubkey_base64(key, &text);
  ssh_key_free(key);
  if (encoded != SSH_OK) return refused(host, "cannot be read");
  std::string out = text;
  ssh_string_free_char(text);
  return out;
}

// libssh passes over lines with a marker.
bool is_revoked(const std::string& key, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const auto text = sys::read_file(file);
    if (!text.ok()) continue;
    for (const std::string& line : split(*text, '\n')) {
      if (trim(line).starts_with("@revoked") && line.find(key) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

Status check_known(ssh_session session, const std::string& host,
                   const std::vector<std::string>& files) {
  const std::string key = PD_TRY(server_key(session, host));
  if (is_revoked(key, files)) return refused(host, "is revoked in " + join(files, " or "));
  switch (ssh_session_is_known_server(session)) {
    case SSH_KNOWN_HOSTS_OK:
      return {};
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      return refused(host, "is not the one that is known: somebody may stand in between")
          .set_remedy("if the host has a new key, correct " + join(files, " or "));
    default:
      return refused(host, "is not in " + join(files, " or "))
          .set_remedy("on this machine, connect to it once by ssh and check the key that it shows");
  }
}

}  // namespace paddock::ssh
