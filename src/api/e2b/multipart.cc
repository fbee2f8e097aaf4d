#include "api/e2b/multipart.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "net/http/message.h"

namespace paddock::api::e2b {
namespace {

using net::http::equals_ignoring_case;

Error broken(std::string why) {
  return Error(Code::invalid_argument, "the multipart body: " + std::move(why));
}

// A parameter of a header: name="value" with backslashes and %22 as browsers write them, or a
// token.
std::optional<std::string> parameter_of(std::string_view header, std::string_view name) {
  size_t at = header.find(';');
  while (at != std::string_view::npos) {
    std::string_view rest = trim(header.substr(at + 1));
    const size_t equals = rest.find_first_of("=;");
    const bool wanted = equals != std::string_view::npos && rest[equals] == '=' &&
                        equals_ignoring_case(trim(rest.substr(0, equals)), name);
    std::string value;
    size_t end = equals == std::string_view::npos ? rest.size() : equals + 1;
    if (end < rest.size() && rest[end] == '"') {
      for (++end; end < rest.size() && rest[end] != '"'; ++end) {
        if (rest[end] == '\\' && end + 1 < rest.size() &&
            (rest[end + 1] == '"' || rest[end + 1] == '\\'))
          ++end;
        value.push_back(rest[end]);
      }
    } else {
      const size_t stop = std::min(rest.find(';', end), rest.size());
      value = trim(rest.substr(end, stop - end));
      end = stop;
    }
    if (wanted) return value;
    const size_t next = rest.find(';', std::min(end, rest.size()));
    if (next == std::string_view::npos) return std::nullopt;
    at = static_cast<size_t>(rest.data() - header.data()) + next;
  }
  return std::nullopt;
}

// Browsers write a quote and line breaks in a name as percent escapes (HTML, "multipart form
// data").
std::string unescape(std::string name) {
  for (const auto& [escape, character] :
       {std::pair{"%22", "\""}, std::pair{"%0D", "\r"}, std::pair{"%0A", "\n"}}) {
    for (size_t at = 0; (at = name.find(escape, at)) != std::string::npos; ++at) {
      name.replace(at, 3, character);
    }
  }
  return name;
}

Result<PartBegin> part_of(std::string_view headers) {
  PartBegin part;
  bool found = false;
  for (const std::string& line : split(headers, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (!equals_ignoring_case(trim(std::string_view(line).substr(0, colon)),
                              "content-disposition")) {
      continue;
    }
    const std::string_view value = trim(std::string_view(line).substr(colon + 1));
    if (!value.starts_with("form-data")) return broken("a part that is no form-data");
    part.name = unescape(parameter_of(value, "name").value_or(""));
    part.file_name = unescape(parameter_of(value, "filename").value_or(""));
    found = true;
  }
  if (!found) return broken("a part without Content-Disposition");
  return part;
}

}  // namespace

Result<std::string> boundary_of(std::string_view content_type) {
  const std::string boundary = parameter_of(content_type, "boundary").value_or("");
  // RFC 2046: 1 to 70 characters. Line breaks could make it match anything.
  if (boundary.empty() || boundary.size() > 70 ||
      boundary.find_first_of("\r\n") != std::string::npos) {
    return Error(Code::invalid_argument, "multipart/form-data without a usable boundary");
  }
  return boundary;
}

MultipartParser::MultipartParser(const std::string& boundary)
    : delimiter_("\r\n--" + boundary), buffer_("\r\n") {}  // the first delimiter may lack its break

Result<std::vector<PartEvent>> MultipartParser::feed(std::string_view bytes) {
  std::vector<PartEvent> events;
  if (is_done()) return events;
  buffer_.append(bytes);
  while (PD_TRY(step(events))) {
  }
  return events;
}

Result<bool> MultipartParser::step(std::vector<PartEvent>& events) {
  switch (state_) {
    case State::preamble:
      return skip_preamble();
    case State::after_delimiter:
      return after_delimiter();
    case State::headers:
      return take_headers(events);
    case State::data:
      return take_data(events);
    case State::done:
      return false;
  }
  return false;
}

Result<bool> MultipartParser::skip_preamble() {
  const size_t at = buffer_.find(delimiter_);
  if (at == std::string::npos) {
    if (buffer_.size() > kMaxHeaders) return broken("no boundary at its beginning");
    return false;
  }
  buffer_.erase(0, at + delimiter_.size());
  state_ = State::after_delimiter;
  return true;
}

Result<bool> MultipartParser::after_delimiter() {
  if (buffer_.size() < 2) return false;
  if (buffer_.starts_with("--")) {
    state_ = State::done;
    buffer_.clear();
    return false;
  }
  const size_t blank = buffer_.find_first_not_of(" \t");
  if (blank == std::string::npos || buffer_.size() < blank + 2) {
    if (buffer_.size() > kMaxHeaders) return broken("a boundary that does not end");
    return false;
  }
  if (buffer_.compare(blank, 2, "\r\n") != 0) return broken("a boundary with something behind it");
  if (++parts_ > kMaxParts) return broken("too many parts");
  buffer_.erase(0, blank);  // its line break is the empty first line of what may be no headers
  state_ = State::headers;
  return true;
}

Result<bool> MultipartParser::take_headers(std::vector<PartEvent>& events) {
  const size_t end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos || end > kMaxHeaders) {
    if (buffer_.size() > kMaxHeaders) return broken("headers of a part that are too long");
    return false;
  }
  events.emplace_back(PD_TRY(part_of(std::string_view(buffer_).substr(0, end))));
  // Data may be empty: its delimiter then begins with the line break of the headers' end.
  buffer_.erase(0, end + 4);
  state_ = State::data;
  return true;
}

Result<bool> MultipartParser::take_data(std::vector<PartEvent>& events) {
  const size_t at = buffer_.find(delimiter_);
  const bool whole = at != std::string::npos;
  // The end of what is there may be the beginning of the delimiter.
  const size_t keep = whole ? 0 : delimiter_.size() - 1;
  const size_t count = whole ? at : buffer_.size() - std::min(keep, buffer_.size());
  if (count > 0) events.emplace_back(PartData{buffer_.substr(0, count)});
  buffer_.erase(0, count + (whole ? delimiter_.size() : 0));
  if (!whole) return false;
  events.emplace_back(PartEnd{});
  state_ = State::after_delimiter;
  return true;
}

}  // namespace paddock::api::e2b
