// Every route of our own surface, as data: the server serves by it and the OpenAPI document is made
// of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/paddock/request.h"

namespace paddock::api::own {

// How a body is described in the document.
struct Body {
  std::string_view type;    // media type; empty: none
  std::string_view schema;  // name in the document's components; empty: bytes
};

struct Route {
  std::string_view method;
  std::string_view path;  // {name} stands for one segment
  std::string_view id;    // operationId
  std::string_view summary;
  Body takes;
  int status = 200;  // of a good answer
  Body gives;
  std::vector<std::string_view> query;  // names of parameters
  Status (*serve)(const Request& request);
};

std::span<const Route> routes();

struct Match {
  const Route* route;
  std::vector<std::string> names;
};
// By method and path, which is still encoded. nullopt: no route has that path;
// Match without a route: another method has.
std::optional<Match> find_route(std::string_view method, std::string_view path);

}  // namespace paddock::api::own
