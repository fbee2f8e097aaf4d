// What is known about a connection when the rules are asked: first the destination alone, then what
// the client's bytes are, then each request.
#pragma once

#include <cstdint>

#include "egress/http/message.h"
#include "egress/names/host_name.h"
#include "egress/tls/client_hello.h"

namespace paddock::egress {

struct Target {
  Host host;
  uint16_t port = 0;
};

// `other` is what no parser of ours knows; it may still be any of the rest in disguise.
enum class Wire { nothing_yet, silent, tls, http, ssh, other };

// Of TLS and ssh: whether the gate may look inside.
enum class Opening { possible, impossible, done };

struct GitOperation;

struct Seen {
  Wire wire = Wire::nothing_yet;
  Opening opening = Opening::possible;
  const tls::ClientHello* hello = nullptr;
  const http::Request* request = nullptr;
  const GitOperation* git = nullptr;  // of the request, or the command of ssh
};

}  // namespace paddock::egress
