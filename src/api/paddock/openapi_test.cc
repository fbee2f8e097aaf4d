#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <string>

#include "api/paddock/routes.h"
#include "api/paddock/surface.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using boost::json::value;

// Every "$ref" below `node`.
void collect_refs(const value& node, std::set<std::string>& into) {
  if (node.is_array()) {
    for (const value& item : node.get_array()) collect_refs(item, into);
  }
  if (!node.is_object()) return;
  for (const auto& [name, item] : node.get_object()) {
    if (name == "$ref") into.insert(std::string(item.as_string()));
    collect_refs(item, into);
  }
}

TEST(OpenApi, EveryRouteIsInTheDocumentAndNothingElse) {
  const object document = openapi_document();
  size_t operations = 0;
  for (const auto& [path, item] : document.at("paths").as_object()) {
    operations += item.as_object().size();
  }
  EXPECT_EQ(operations, routes().size());
}

TEST(OpenApi, ReferencesLeadSomewhereAndEverySchemaIsUsed) {
  const value document = openapi_document();
  std::set<std::string> refs;
  collect_refs(document, refs);
  const object& schemas = document.at("components").at("schemas").as_object();
  std::set<std::string> defined;
  for (const auto& [name, schema] : schemas) {
    defined.insert("#/components/schemas/" + std::string(name));
  }
  EXPECT_EQ(refs, defined);
}

TEST(OpenApi, OperationsHaveNamesOfTheirOwnAndNameTheirParameters) {
  const object document = openapi_document();
  std::set<std::string> ids;
  for (const auto& [path, item] : document.at("paths").as_object()) {
    for (const auto& [method, operation] : item.as_object()) {
      EXPECT_TRUE(ids.insert(std::string(operation.at("operationId").as_string())).second);
      EXPECT_TRUE(operation.at("responses").as_object().contains("default"));
      std::set<std::string> named;
      if (const auto* parameters = operation.as_object().if_contains("parameters")) {
        for (const value& parameter : parameters->as_array()) {
          if (parameter.at("in") == "path") {
            named.insert("{" + std::string(parameter.at("name").as_string()) + "}");
          }
        }
      }
      const std::string text(path);
      for (const std::string& name : named) EXPECT_NE(text.find(name), std::string::npos);
      EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '{')), named.size());
    }
  }
}

TEST(OwnRoutes, AreFoundByMethodAndPath) {
  const auto exec = find_route("POST", "/paddock/v1/sandboxes/abc/exec");
  ASSERT_TRUE(exec && exec->route != nullptr);
  EXPECT_EQ(exec->route->id, "exec");
  EXPECT_EQ(exec->names, std::vector<std::string>{"abc"});
  const auto input = find_route("POST", "/paddock/v1/sandboxes/a%62c/processes/7/input");
  ASSERT_TRUE(input && input->route != nullptr);
  EXPECT_EQ(input->names, (std::vector<std::string>{"abc", "7"}));
}

TEST(OwnRoutes, TellAWrongMethodFromAWrongPath) {
  const auto method = find_route("PATCH", "/paddock/v1/sandboxes");
  ASSERT_TRUE(method.has_value());
  EXPECT_EQ(method->route, nullptr);
  for (const char* path : {"/paddock/v1/nothing", "/paddock/v1/sandboxes/", "/paddock/v1",
                           "/paddock/v1/sandboxes//exec", "/paddock/v1/sandboxes/a/exec/"}) {
    EXPECT_FALSE(find_route("GET", path).has_value()) << path;
  }
}

}  // namespace
}  // namespace paddock::api::own
