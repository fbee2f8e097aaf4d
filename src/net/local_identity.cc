#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "net/kept_authority.h"
#include "net/server_identity.h"

namespace paddock::net {
namespace {

constexpr time_t kDay = 86'400;
constexpr time_t kAuthorityLife = 3650 * kDay;
constexpr time_t kAuthorityLeft = 180 * kDay;
constexpr time_t kLeafLife = 90 * kDay;
constexpr time_t kLeafLeft = 30 * kDay;
constexpr time_t kClocksDiffer = kDay;  // of server and client
constexpr size_t kKeptLeaves = 512;
constexpr std::string_view kLocal = "localhost";

Result<KeptAuthority> open_authority(const LocalIdentityOptions& options, time_t now) {
  KeptAuthorityOptions kept;
  kept.terms.name = "Paddock server authority";
  kept.terms.validity = {now - kClocksDiffer, now + kAuthorityLife};
  kept.terms.only_for = {std::string(kLocal)};
  if (options.domain != kLocal) kept.terms.only_for.push_back(options.domain);
  kept.purpose = "the server's TLS";
  kept.good_until = now + kAuthorityLeft;
  return KeptAuthority::open(options.directory, kept);
}

std::vector<std::string> hosts_of(const LocalIdentityOptions& options) {
  std::vector<std::string> hosts{options.domain, "*." + options.domain};
  if (options.domain != kLocal) hosts.emplace_back(kLocal);
  hosts.insert(hosts.end(), {"127.0.0.1", "::1"});
  for (const model::IpAddress& address : options.addresses) {
    std::string text = address.str();
    if (std::ranges::find(hosts, text) == hosts.end()) hosts.push_back(std::move(text));
  }
  return hosts;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

class LocalIdentity : public ServerIdentity {
 public:
  LocalIdentity(LocalIdentityOptions options, PkeyPtr leaf_key)
      : options_(std::move(options)), leaf_key_(std::move(leaf_key)) {}

  Result<SslPtr> session() override { return make_server(*context_, "http/1.1"); }

  Result<Refreshed> refresh(time_t now) override {
    if (leaf_ != nullptr && now < good_until() - kLeafLeft) return Refreshed::as_before;
    KeptAuthority authority = PD_TRY(open_authority(options_, now));
    const Validity validity{now - kClocksDiffer,
                            std::min(now + kLeafLife, end_of(authority.certificate()))};
    X509Ptr leaf = PD_TRY(make_leaf(
        {hosts_of(options_), *leaf_key_, authority.certificate(), authority.key(), validity}));
    context_ = PD_TRY(make_server_context(*leaf, *leaf_key_, {&authority.certificate()}));
    SSL_CTX_set_cert_cb(context_.get(), show_by_name, this);
    const bool other = authority_ && authority_->pem() != authority.pem();
    leaf_ = std::move(leaf);
    authority_.emplace(std::move(authority));
    validity_ = validity;
    by_name_.clear();
    return other ? Refreshed::by_another_authority : Refreshed::renewed;
  }

  bool is_good_for(const std::string& host) const override {
    return is_for(*leaf_, host) || is_below(host, options_.domain) || is_below(host, kLocal);
  }
  time_t good_until() const override { return end_of(*leaf_); }

 private:
  static bool is_below(std::string_view host, std::string_view domain) {
    return host.size() > domain.size() + 1 && host.ends_with(domain) &&
           host[host.size() - domain.size() - 1] == '.';
  }

  // Of the handshake, when the client has said what it asks for.
  static int show_by_name(SSL* ssl, void* self) {
    const char* asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (asked == nullptr) return 1;
    X509* leaf = static_cast<LocalIdentity*>(self)->leaf_for(lower_case(asked));
    if (leaf == nullptr) return 1;
    return SSL_use_certificate(ssl, leaf);  // of the key that the connection has
  }

  // nullptr: the one that is shown anyway.
  X509* leaf_for(const std::string& host) {
    if (!is_good_for(host) || is_for(*leaf_, host)) return nullptr;
    if (const auto made = by_name_.find(host); made != by_name_.end()) return made->second.get();
    auto leaf =
        make_leaf({{host}, *leaf_key_, authority_->certificate(), authority_->key(), validity_});
    if (!leaf.ok()) return nullptr;
    if (by_name_.size() >= kKeptLeaves) by_name_.clear();
    return by_name_.emplace(host, std::move(*leaf)).first->second.get();
  }

  const LocalIdentityOptions options_;
  const PkeyPtr leaf_key_;  // of every leaf: making one costs more than signing
  std::optional<KeptAuthority> authority_;
  Validity validity_;
  X509Ptr leaf_;
  SslContextPtr context_;
  std::map<std::string, X509Ptr> by_name_;
};

}  // namespace

Result<std::unique_ptr<ServerIdentity>> make_local_identity(LocalIdentityOptions options,
                                                            time_t now) {
  auto identity = std::make_unique<LocalIdentity>(std::move(options), PD_TRY(make_key()));
  PD_TRY(identity->refresh(now));
  return std::unique_ptr<ServerIdentity>(std::move(identity));
}

Result<std::string> local_authority(const LocalIdentityOptions& options, time_t now) {
  return PD_TRY(open_authority(options, now)).pem();
}

}  // namespace paddock::net
