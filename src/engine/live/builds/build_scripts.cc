#include "engine/live/builds/build_scripts.h"

namespace paddock::engine {
namespace {

constexpr const char* kMakeDirectories = R"sh(
set -e
umask 022
make_directories() {
  missing='' at=$1
  while [ ! -e "$at" ]; do missing=$at; at=$(dirname "$at"); done
  mkdir -p "$1"
  if [ -n "$missing" ] && [ -n "$2" ]; then chown -R -h "$2" "$missing"; fi
}
)sh";

// In tar's own form for the second half: it merges directories, replaces links in the place of
// files, and goes through links to directories.
constexpr const char* kCopy = R"sh(
source=$1 destination=$2 owner=$3 mode=$4 unpacking=$5
case $destination in /*) ;; *) destination=$PWD/$destination ;; esac
stage=$(mktemp -d)
trap 'chmod -R u+rwx "$stage" 2>/dev/null; rm -rf "$stage"' EXIT
mkdir "$stage/sent"
tar -x $unpacking -o -f - -C "$stage/sent"
from=$stage/sent${source:+/$source}
if [ ! -e "$from" ] && [ ! -L "$from" ]; then
  echo "'$source' is not in what was sent" >&2
  exit 1
fi
if [ -n "$owner" ]; then chown -R -h "$owner" "$from"; fi
if [ -n "$mode" ] && [ ! -L "$from" ]; then chmod -R "$mode" "$from"; fi
if [ -d "$from" ] && [ ! -L "$from" ]; then
  make_directories "$destination" "$owner"
  merging=''
  if tar --version 2>/dev/null | grep -q GNU; then
    merging='--keep-directory-symlink --no-overwrite-dir'
  fi
  tar -c -f "$stage/merged" -C "$from" .
  tar -x -p $merging -f "$stage/merged" -C "$destination"
else
  case $destination in
    */) make_directories "${destination%/}" "$owner" ;;
    *) make_directories "$(dirname "$destination")" "$owner" ;;
  esac
  mv -f "$from" "$destination"
fi
)sh";

constexpr const char* kDirectory = R"sh(
make_directories "$1" "$2"
[ -d "$1" ] || { echo "it is no directory" >&2; exit 1; }
)sh";

constexpr const char* kUser = R"sh(
if command -v useradd >/dev/null; then
  exec useradd -m -s /bin/bash -- "$1"
fi
exec adduser -D -- "$1"
)sh";

ProcessRequest script(std::string text, std::vector<std::string> words) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", std::move(text), "sh"};
  for (std::string& word : words) request.argv.push_back(std::move(word));
  return request;
}

}  // namespace

ProcessRequest copy_script(const CopyWords& words) {
  ProcessRequest request =
      script(std::string(kMakeDirectories) + kCopy,
             {words.source, words.destination, words.owner, words.mode, words.unpacking});
  request.input = ProcessRequest::Input::open;
  return request;
}

ProcessRequest directory_script(const std::string& directory, const std::string& owner) {
  return script(std::string(kMakeDirectories) + kDirectory, {directory, owner});
}

ProcessRequest user_script(const std::string& name) {
  return script(kUser, {name});
}

}  // namespace paddock::engine
