// The OpenAPI document: paths from the table of routes, schemas from here.
#include <boost/json.hpp>
#include <string>

#include "api/paddock/routes.h"
#include "api/paddock/surface.h"
#include "model/json.h"

namespace paddock::api::own {
namespace {

using boost::json::array;
using boost::json::object;

// JSON Schema, as OpenAPI 3.1 takes it.
constexpr const char* kSchemas = R"json({
  "Error": {"type": "object", "required": ["error"], "properties": {
    "error": {"type": "object", "required": ["code", "message"], "properties": {
      "code": {"type": "string", "enum": ["invalid_argument", "not_found", "already_exists",
        "permission_denied", "failed_precondition", "conflict", "unsupported", "unavailable",
        "resource_exhausted", "timed_out", "data_corrupt", "internal"]},
      "message": {"type": "string"},
      "remedy": {"type": "string", "description": "what the caller can do about it"}}}}},
  "CreateSandbox": {"type": "object", "additionalProperties": false, "properties": {
    "template": {"type": "string", "default": "base"},
    "timeout_s": {"type": "integer", "minimum": 1, "default": 300},
    "metadata": {"$ref": "#/components/schemas/Texts"},
    "environment": {"$ref": "#/components/schemas/Texts"},
    "workspace": {"type": "string", "pattern": "^/",
      "description": "a directory of the server's machine, shown as a view at its own path; by the server's own socket alone"}}},
  "Texts": {"type": "object", "additionalProperties": {"type": "string"}},
  "Sandbox": {"type": "object",
    "required": ["id", "template", "state", "created", "deadline", "key", "metadata", "level",
      "home", "limits"],
    "properties": {
      "id": {"type": "string"},
      "template": {"type": "string"},
      "state": {"type": "string", "enum": ["creating", "running", "pausing", "paused", "resuming",
        "stopping", "gone"]},
      "created": {"type": "string", "format": "date-time"},
      "deadline": {"type": ["string", "null"], "format": "date-time",
        "description": "null: paused"},
      "kept": {"type": "string", "enum": ["memory", "files"],
        "description": "of a paused one; files: its processes are gone"},
      "key": {"type": ["string", "null"], "description": "id of the API key it was made with"},
      "metadata": {"$ref": "#/components/schemas/Texts"},
      "level": {"type": "string", "description": "the isolation that holds it"},
      "home": {"type": "string"},
      "workspace": {"description": "the directory that it works on; docs/outcome.md, bytes"},
      "view": {"type": "string", "description": "of its workspace, from its latest start"},
      "limits": {"type": "object", "properties": {
        "memory_bytes": {"type": "integer"}, "disk_bytes": {"type": "integer"},
        "cpus": {"type": "number", "description": "0: all of the host's"},
        "pids": {"type": "integer"}}},
      "decision": {"$ref": "#/components/schemas/Decision"},
      "usage": {"type": "object", "description": "docs/outcome.md"},
      "processes": {"type": "integer", "description": "not of one that stands still"},
      "rules": {"$ref": "#/components/schemas/Texts",
        "description": "hosts that were allowed or denied while it ran"}}},
  "SandboxList": {"type": "object", "required": ["sandboxes"], "properties": {
    "sandboxes": {"type": "array", "items": {"$ref": "#/components/schemas/Sandbox"}}}},
  "Timeout": {"type": "object", "additionalProperties": false, "required": ["timeout_s"],
    "properties": {"timeout_s": {"type": "integer", "minimum": 1}}},
  "Pause": {"type": "object", "additionalProperties": false, "properties": {
    "memory": {"type": "boolean", "default": true, "description": "false: processes end"}}},
  "Resume": {"type": "object", "additionalProperties": false, "properties": {
    "memory": {"type": "boolean", "default": true, "description": "false: it starts anew"},
    "timeout_s": {"type": "integer", "minimum": 1, "default": 300}}},
  "Restart": {"type": "object", "additionalProperties": false, "properties": {
    "timeout_s": {"type": "integer", "minimum": 1,
      "description": "default: a running one keeps its deadline, a paused one has 300"}}},
  "Rollback": {"type": "object", "additionalProperties": false, "required": ["snapshot"],
    "properties": {"snapshot": {"type": "string", "description": "id or name"}}},
  "MakeSnapshot": {"type": "object", "additionalProperties": false, "properties": {
    "name": {"type": "string", "maxLength": 128, "pattern": "^[-A-Za-z0-9_./]*$"}}},
  "Fork": {"type": "object", "additionalProperties": false, "properties": {
    "count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1},
    "timeout_s": {"type": "integer", "minimum": 1, "default": 300}}},
  "ForkList": {"type": "object", "required": ["forks"], "properties": {
    "forks": {"type": "array", "items": {"type": "object", "properties": {
      "sandbox": {"$ref": "#/components/schemas/Sandbox"},
      "error": {"type": "object", "description": "as in Error: that one was not made"}}}}}},
  "Template": {"type": "object", "required": ["id", "kind", "name"], "properties": {
    "id": {"type": "string"},
    "kind": {"type": "string", "enum": ["built-in", "directory", "built", "snapshot"]},
    "name": {"type": "string", "description": "may be empty"},
    "directory": {"type": "string", "description": "of the host; on the socket alone"},
    "state": {"type": "string", "enum": ["waiting", "building", "ready", "error"],
      "description": "of the latest build"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "template": {"type": "string", "description": "that its sandbox was made of, or its build began with"},
    "sandbox": {"type": "string"},
    "guarantee": {"type": "string", "enum": ["quiesced", "crash-consistent"],
      "description": "docs/serve.md"},
    "created": {"type": "string", "format": "date-time"},
    "key": {"type": ["string", "null"]}}},
  "AddTemplate": {"type": "object", "additionalProperties": false, "required": ["name", "directory"],
    "properties": {
      "name": {"type": "string", "maxLength": 128, "pattern": "^[-A-Za-z0-9_./]+$"},
      "directory": {"type": "string", "description": "absolute; docs/surface.md says what it must be"}}},
  "TemplateList": {"type": "object", "required": ["templates"], "properties": {
    "templates": {"type": "array", "items": {"$ref": "#/components/schemas/Template"}}}},
  "Decision": {"type": "object", "description": "docs/outcome.md"},
  "ChangeRule": {"type": "object", "additionalProperties": false, "required": ["verb"],
    "properties": {"verb": {"type": "string", "enum": ["allow", "deny"]}}},
  "ChangedRule": {"type": "object", "required": ["host", "verb"], "properties": {
    "host": {"type": "string"}, "verb": {"type": "string", "enum": ["allow", "deny"]}}},
  "DenialList": {"type": "object", "required": ["denials"], "properties": {
    "denials": {"type": "array", "items": {"type": "object", "description": "docs/outcome.md"}}}},
  "Exec": {"type": "object", "additionalProperties": false, "required": ["argv"], "properties": {
    "argv": {"type": "array", "minItems": 1, "items": {"type": "string"}},
    "environment": {"$ref": "#/components/schemas/Texts"},
    "directory": {"type": "string", "description": "default: the user's home"},
    "terminal": {"$ref": "#/components/schemas/TerminalSize"},
    "input": {"type": "boolean", "default": false, "description": "input is sent later"},
    "timeout_ms": {"type": "integer", "minimum": 0, "default": 0, "description": "0: none"},
    "tag": {"type": "string"},
    "on_leave": {"type": "string", "enum": ["keep", "kill"], "default": "keep",
      "description": "what becomes of the command when this client leaves"}}},
  "ExecEvent": {"type": "object", "required": ["event"], "properties": {
    "event": {"type": "string", "enum": ["started", "output", "alive", "ended", "lost"],
      "description": "one line each; the last one is ended or lost"},
    "pid": {"type": "integer"},
    "terminal": {"type": "boolean", "description": "of started: whether it has one"},
    "has_ended": {"type": "boolean", "description": "of started: it runs no more"},
    "sequence": {"type": "integer",
      "description": "of the first byte of data; all outputs count together, from 0"},
    "stream": {"type": "string", "enum": ["stdout", "stderr", "terminal"]},
    "data": {"type": "string", "contentEncoding": "base64"},
    "outcome": {"type": "object", "description": "docs/outcome.md"},
    "error": {"type": "object"}}},
  "CreateRun": {"type": "object", "additionalProperties": false, "required": ["argv"],
    "properties": {
    "argv": {"type": "array", "minItems": 1, "items": {"type": "string"}},
    "workspace": {"type": "string", "pattern": "^/", "description": "by the server's own socket alone"},
    "environment": {"$ref": "#/components/schemas/Texts"},
    "directory": {"type": "string", "description": "default: the workspace, else the user's home"},
    "terminal": {"$ref": "#/components/schemas/TerminalSize"},
    "input": {"type": "boolean", "default": false},
    "timeout_ms": {"type": "integer", "minimum": 0, "default": 0, "description": "0: none"},
    "template": {"type": "string", "default": "base"},
    "timeout_s": {"type": "integer", "minimum": 1, "description": "of its sandbox; default: as long as the server gives"},
    "metadata": {"$ref": "#/components/schemas/Texts"}}},
  "Run": {"type": "object", "required": ["id", "state", "argv"], "properties": {
    "id": {"type": "string", "description": "of its sandbox"},
    "state": {"type": "string", "description": "of its sandbox; ended: it is gone"},
    "argv": {"type": "array"},
    "pid": {"type": "integer"},
    "terminal": {"type": "boolean"}, "input": {"type": "boolean"},
    "ended": {"type": "string", "format": "date-time"},
    "outcome": {"type": "object", "description": "docs/outcome.md"}}},
  "RunList": {"type": "object", "required": ["runs"], "properties": {
    "runs": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}}},
  "ProcessList": {"type": "object", "required": ["processes"], "properties": {
    "processes": {"type": "array", "items": {"type": "object", "required": ["pid", "argv"],
      "properties": {"pid": {"type": "integer"}, "tag": {"type": "string"},
        "argv": {"type": "array", "items": {"type": "string"}}}}}}},
  "Signal": {"type": "object", "additionalProperties": false, "required": ["signal"],
    "properties": {"signal": {"type": "integer", "minimum": 1, "maximum": 64}}},
  "TerminalSize": {"type": "object", "additionalProperties": false,
    "required": ["rows", "columns"], "properties": {
      "rows": {"type": "integer", "minimum": 1, "maximum": 65535},
      "columns": {"type": "integer", "minimum": 1, "maximum": 65535}}},
  "EventList": {"type": "object", "required": ["events"], "properties": {
    "events": {"type": "array", "items": {"type": "object", "required": ["seq", "time", "event"],
      "properties": {"seq": {"type": "integer"},
        "time": {"type": "string", "format": "date-time"}, "event": {"type": "string"},
        "sandbox": {"type": "string"}}}}}},
  "View": {"type": "object", "required": ["id", "workspace", "state", "created_ms"], "properties": {
    "id": {"type": "string"},
    "workspace": {"description": "text, or base64 of what is none; docs/outcome.md"},
    "state": {"type": "string",
      "enum": ["running", "interrupted", "ready", "applied", "discarded"]},
    "created_ms": {"type": "integer"},
    "commands": {"type": "integer", "description": "that are not undone"},
    "bytes": {"type": "integer"},
    "steps": {"type": "array", "items": {"type": "object", "properties": {
      "number": {"type": "integer"}, "argv": {"type": "array"}, "started_ms": {"type": "integer"},
      "ended_ms": {"type": ["integer", "null"]}, "undone": {"type": "boolean"},
      "decision": {"description": "docs/outcome.md"},
      "outcome": {"description": "docs/outcome.md"},
      "network": {"description": "docs/outcome.md"}}}}}},
  "ViewList": {"type": "object", "required": ["views"], "properties": {
    "views": {"type": "array", "items": {"$ref": "#/components/schemas/View"}}}},
  "ChangeSet": {"type": "object", "description": "as `paddock diff --json`"},
  "ApplyView": {"type": "object", "additionalProperties": false, "properties": {
    "dry_run": {"type": "boolean", "default": false},
    "allow_host_exec": {"type": "boolean", "default": false,
      "description": "bring what would execute on this machine, too"},
    "paths": {"type": "array", "items": {"type": "string"},
      "description": "relative to the workspace; these and below alone"},
    "branch": {"type": "string", "description": "in the place of all else: commits, as this ref"}}},
  "Applied": {"type": "object", "properties": {
    "conflict": {"type": "boolean", "description": "true: nothing was written"},
    "paths": {"type": "array", "items": {"type": "object", "properties": {
      "path": {}, "result": {"type": "string",
        "enum": ["applied", "unchanged", "merged", "held", "conflict"]},
      "reason": {"type": "string"}}}},
    "git_paths": {"type": "array"},
    "branch": {"type": "string"}, "commit": {"type": "string"}}},
  "RollBackView": {"type": "object", "additionalProperties": false, "properties": {
    "commands": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1}}},
  "UsageList": {"type": "object", "required": ["usage"], "properties": {
    "usage": {"type": "array", "items": {"type": "object", "required": ["day", "key"],
      "properties": {"day": {"type": "string", "format": "date"},
        "key": {"type": ["string", "null"]}, "label": {"type": "string"},
        "sandboxes": {"type": "integer", "description": "that ended"},
        "sandbox_ms": {"type": "integer"}, "cpu_us": {"type": "integer"},
        "received_bytes": {"type": "integer"}, "sent_bytes": {"type": "integer"}}}}}}
})json";

object content_of(const Body& body) {
  object schema;
  if (body.type == "application/octet-stream") {
    schema["type"] = "string";
    schema["format"] = "binary";
  } else if (body.schema.empty()) {
    schema["type"] = "object";
  } else {
    schema["$ref"] = "#/components/schemas/" + std::string(body.schema);
  }
  object media;
  media["schema"] = std::move(schema);
  object content;
  content[body.type] = std::move(media);
  return content;
}

object parameter(std::string_view name, std::string_view in) {
  object out;
  out["name"] = name;
  out["in"] = in;
  out["required"] = in == "path" || name == "path";
  out["schema"] = object{{"type", "string"}};
  return out;
}

array parameters_of(const Route& route) {
  array out;
  std::string_view path = route.path;
  for (size_t at; (at = path.find('{')) != std::string_view::npos;) {
    const size_t end = path.find('}', at);
    out.emplace_back(parameter(path.substr(at + 1, end - at - 1), "path"));
    path.remove_prefix(end + 1);
  }
  for (const std::string_view name : route.query) out.emplace_back(parameter(name, "query"));
  return out;
}

object operation_of(const Route& route) {
  object good;
  good["description"] = route.summary;
  if (!route.gives.type.empty()) good["content"] = content_of(route.gives);
  object bad;
  bad["description"] = "what went wrong, and what to do about it";
  bad["content"] = content_of({"application/json", "Error"});
  object responses;
  responses[std::to_string(route.status)] = std::move(good);
  responses["default"] = std::move(bad);
  object out;
  out["operationId"] = route.id;
  out["summary"] = route.summary;
  if (auto parameters = parameters_of(route); !parameters.empty()) {
    out["parameters"] = std::move(parameters);
  }
  if (!route.takes.type.empty()) {
    out["requestBody"] = object{{"required", true}, {"content", content_of(route.takes)}};
  }
  out["responses"] = std::move(responses);
  return out;
}

std::string lower(std::string_view method) {
  std::string out(method);
  for (char& c : out) c = static_cast<char>(::tolower(c));
  return out;
}

}  // namespace

object openapi_document() {
  object paths;
  for (const Route& route : routes()) {
    if (!paths.contains(route.path)) paths[route.path] = object();
    paths[route.path].as_object()[lower(route.method)] = operation_of(route);
  }
  object document;
  document["openapi"] = "3.1.0";
  document["info"] =
      object{{"title", "Paddock"},
             {"version", "1"},
             {"summary", "Sandboxes for coding agents"},
             {"description",
              "On the server's port with an API key, of which a caller sees its own things; on "
              "$PADDOCK_HOME/run/paddock.sock, for whoever runs the server, without one."},
             {"license", object{{"name", "see the project"}}}};
  document["servers"] = array{object{{"url", "/"}}};
  document["security"] = array{object{{"key", array()}}};
  document["paths"] = std::move(paths);
  object components;
  components["securitySchemes"] =
      object{{"key", object{{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}}};
  components["schemas"] = boost::json::parse(kSchemas);
  document["components"] = std::move(components);
  return document;
}

}  // namespace paddock::api::own
