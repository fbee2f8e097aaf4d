#include "egress/credentials/credential_set.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/credentials/placeholder.h"
#include "egress/credentials/scanner.h"

namespace paddock::egress {
namespace {

using model::Credential;
using model::CredentialKind;

Error refused(const Credential& credential, std::string why) {
  const std::string place = credential.origin.empty() ? "" : " (" + credential.origin + ")";
  return Error(Code::invalid_argument,
               fmt::format("credential {}{}: {}", printable(credential.name), place, why));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

// A secret goes into a header or a query: a line break in it would be a second header.
bool can_be_sent(std::string_view secret) {
  return !secret.empty() && secret.size() <= 8192 &&
         std::all_of(secret.begin(), secret.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

// Of a login: as is_name, and dots.
bool is_user(std::string text) {
  std::replace(text.begin(), text.end(), '.', '-');
  return is_name(text);
}

bool is_of_agent(const Credential& source) {
  return source.secret.source == model::SecretSource::agent;
}

// A private key: programs inside hold nothing in its place.
Status check_ssh(const LoadedCredential& loaded) {
  const Credential& source = loaded.source;
  if (!source.env.empty()) {
    return refused(source, "a key of ssh has no placeholder that a variable could hold")
        .set_remedy("leave env out: the gate logs in for the program");
  }
  if (source.methods || source.paths) return refused(source, "methods and paths are HTTP's");
  if (!source.user.empty() && !is_user(source.user)) return refused(source, "its user is no name");
  if (is_of_agent(source)) return {};
  if (!loaded.secret.reveal().starts_with("-----BEGIN ")) {
    return refused(source, "its secret is no private key").set_remedy("name a file of ssh-keygen");
  }
  return {};
}

Status check(const LoadedCredential& loaded) {
  const Credential& source = loaded.source;
  if (!is_name(source.name)) return refused(source, "its name is not letters, digits, '-' and '_'");
  if (source.hosts.empty()) {
    return refused(source, "is bound to no host").set_remedy("list the hosts that may receive it");
  }
  if (source.kind == CredentialKind::ssh) return check_ssh(loaded);
  if (!can_be_sent(loaded.secret.reveal())) {
    return refused(source, "its secret is empty, too long or holds control characters")
        .set_remedy("look at its source; a line break at the end is the usual cause");
  }
  if (source.kind == CredentialKind::header && source.form.find(kSecretSlot) == std::string::npos) {
    return refused(source, "its form does not hold {secret}");
  }
  if (source.kind == CredentialKind::header && http::lower_case(source.header) == "host") {
    return refused(source, "cannot be the host header");
  }
  if (source.kind == CredentialKind::query && source.parameter.empty()) {
    return refused(source, "names no parameter");
  }
  if (source.kind == CredentialKind::sigv4 &&
      (!loaded.key_id || !can_be_sent(loaded.key_id->reveal()))) {
    return refused(source, "has no access key id");
  }
  return {};
}

bool is_ssh(const Credential& source) {
  return source.kind == CredentialKind::ssh;
}

Result<std::vector<HostPattern>> compile_hosts(const Credential& source) {
  std::vector<HostPattern> out;
  for (const std::string& text : source.hosts) {
    out.push_back(PD_TRY(HostPattern::parse(text, SharedSuffix::refused)));
  }
  return out;
}

}  // namespace

Result<CredentialSet::Entry> CredentialSet::compile(LoadedCredential loaded,
                                                    std::string_view sandbox_key) {
  PD_TRY(check(loaded));
  const Credential source = loaded.source;
  const std::string doing = fmt::format("credential {}", source.name);
  Entry entry{.loaded = std::move(loaded)};
  entry.hosts = PD_TRY_CTX(doing, compile_hosts(source));
  entry.ports = PD_TRY_CTX(
      doing, PortSet::parse(source.ports.value_or(model::TextList{is_ssh(source) ? "22" : "443"})));
  entry.match =
      PD_TRY_CTX(doing, HttpMatch::compile({.methods = source.methods, .paths = source.paths}));
  // Nothing stands for a key of ssh.
  if (!is_ssh(source)) {
    entry.placeholder = make_placeholder(entry.loaded.secret.reveal(), sandbox_key, source.name);
  }
  std::vector<std::string> own{entry.placeholder};
  if (entry.loaded.key_id) {
    entry.key_id_placeholder =
        make_placeholder(entry.loaded.key_id->reveal(), sandbox_key, source.name + " id");
    own.push_back(entry.key_id_placeholder);
    entry.aws_key = AwsKey{*entry.loaded.key_id, entry.loaded.secret};
  }
  entry.own = std::make_shared<PatternSet>(own);
  return entry;
}

void CredentialSet::note(const Entry& entry) {
  const Credential& source = entry.loaded.source;
  if (!source.env.empty()) environment_.emplace_back(source.env, entry.placeholder);
  if (!source.key_id_env.empty())
    environment_.emplace_back(source.key_id_env, entry.key_id_placeholder);
}

Result<std::shared_ptr<const CredentialSet>> CredentialSet::make(
    std::vector<LoadedCredential> credentials, std::string_view sandbox_key) {
  auto set = std::make_shared<CredentialSet>();
  std::vector<std::string> placeholders, secrets;
  for (LoadedCredential& loaded : credentials) {
    Entry entry = PD_TRY(compile(std::move(loaded), sandbox_key));
    const std::string& name = entry.loaded.source.name;
    if (std::find(set->names_.begin(), set->names_.end(), name) != set->names_.end()) {
      return refused(entry.loaded.source, "two credentials have this name");
    }
    set->names_.push_back(name);
    placeholders.push_back(entry.placeholder);
    // A key of ssh is never sent, so that no answer holds it.
    const bool masked =
        entry.loaded.source.confidence == model::Confidence::secret && !is_ssh(entry.loaded.source);
    secrets.emplace_back(masked ? entry.loaded.secret.reveal() : std::string_view());
    if (entry.aws_key) {
      // An id is no secret on its own, but its placeholder belongs to one sandbox.
      set->names_.push_back(name);
      placeholders.push_back(entry.key_id_placeholder);
      secrets.emplace_back();
    }
    set->note(entry);
    set->entries_.push_back(std::move(entry));
  }
  set->placeholders_ = std::make_shared<PatternSet>(placeholders);
  set->secrets_ = std::make_shared<PatternSet>(secrets);
  for (std::string& secret : secrets) wipe(secret);
  return std::shared_ptr<const CredentialSet>(std::move(set));
}

bool CredentialSet::binds(const Target& target) const {
  const auto* name = std::get_if<HostName>(&target.host);
  return name != nullptr && std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
           return !is_ssh(entry.loaded.source) && entry.ports.contains(target.port) &&
                  std::any_of(entry.hosts.begin(), entry.hosts.end(),
                              [&](const HostPattern& pattern) { return pattern.matches(*name); });
         });
}

std::optional<SshIdentity> CredentialSet::ssh_identity(const Target& target) const {
  const auto* name = std::get_if<HostName>(&target.host);
  if (name == nullptr) return std::nullopt;
  for (const Entry& entry : entries_) {
    const Credential& source = entry.loaded.source;
    const bool bound =
        is_ssh(source) && entry.ports.contains(target.port) &&
        std::any_of(entry.hosts.begin(), entry.hosts.end(),
                    [&](const HostPattern& pattern) { return pattern.matches(*name); });
    if (!bound) continue;
    SshIdentity identity{.credential = source.name,
                         .user = source.user.empty() ? "git" : source.user,
                         .private_key = Secret(std::string())};
    if (is_of_agent(source)) {
      identity.agent_socket = entry.loaded.secret.reveal();
      identity.agent_key = source.secret.name;
    } else {
      identity.private_key = entry.loaded.secret;
    }
    return identity;
  }
  return std::nullopt;
}

Result<Injection> CredentialSet::inject(const Target& target, http::Request& request) const {
  Injection injection;
  const auto* name = std::get_if<HostName>(&target.host);
  for (const Entry& entry : entries_) {
    const bool bound =
        name != nullptr && entry.ports.contains(target.port) && entry.match.grants(request) &&
        std::any_of(entry.hosts.begin(), entry.hosts.end(),
                    [&](const HostPattern& pattern) { return pattern.matches(*name); });
    if (bound) PD_TRY(put_on(entry, request, injection));
  }
  PD_TRY(check_strays(request));
  return injection;
}

Error CredentialSet::stray(size_t text) const {
  return Error(Code::permission_denied,
               fmt::format("the placeholder of credential {} stands where it does not belong",
                           names_.at(text)))
      .set_remedy("bind the credential to this host, method and path, or leave it out");
}

Status CredentialSet::check_text(std::string_view text) const {
  const auto found = Scanner::find(placeholders_, text);
  return found ? Status(stray(*found)) : Status();
}

Status CredentialSet::check_strays(const http::Fields& fields) const {
  for (const http::Field& field : fields) {
    PD_TRY(check_text(field.name));
    PD_TRY(check_text(field.value));
  }
  return {};
}

Status CredentialSet::check_strays(const http::Request& request) const {
  PD_TRY(check_text(request.method));
  PD_TRY(check_text(request.target));
  PD_TRY(check_text(request.authority));
  return check_strays(request.fields);
}

}  // namespace paddock::egress
