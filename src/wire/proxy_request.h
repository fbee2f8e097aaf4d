// What a program says to a proxy before its bytes flow: SOCKS5 (RFC 1928) and HTTP CONNECT, for
// levels where connections cannot be redirected. Pure. The agent serves them; the host decides on
// the destination as on any other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::wire {

enum class ProxyForm { socks5, http_connect };

struct ProxyDestination {
  ProxyForm form = ProxyForm::socks5;
  std::string host;  // a name or an address in text, as asked for; hostile
  uint16_t port = 0;
};

// One client of a proxy, from its first byte to the begin of its own stream.
class ProxyGreeting {
 public:
  // Takes bytes in; what must be sent back before more comes stands in reply(). nullopt: read more.
  // unsupported, data_corrupt: send reply() and close.
  Result<std::optional<ProxyDestination>> receive(std::string_view bytes);

  std::string take_reply();
  // Bytes behind the request: the beginning of the program's own stream.
  const std::string& rest() const { return pending_; }

  // The last word, once the host has answered.
  static std::string accepted(ProxyForm form);
  static std::string refused(ProxyForm form, std::string_view reason);

 private:
  enum class Stage { methods, request, http, done };

  Result<std::optional<ProxyDestination>> receive_socks();
  Result<std::optional<ProxyDestination>> receive_connect();
  Error fail(ProxyForm form, Code code, std::string_view why, char socks_reply);

  Stage stage_ = Stage::methods;
  std::string pending_;
  std::string reply_;
};

}  // namespace paddock::wire
