// What steps do inside, as scripts for the sandbox's own sh.
#pragma once

#include <string>

#include "engine/live/process.h"

namespace paddock::engine {

struct CopyWords {
  std::string source;       // below what was sent; empty: all of it
  std::string destination;  // relative ones lie where the script starts
  std::string owner;        // of chown; empty: nobody else
  std::string mode;         // octal; empty: as it was sent
  std::string unpacking;    // option of tar
};
// Takes an archive from its input, unpacks it aside, and moves what was named to its place: a
// directory's entries into that of the same name, a file or link over it. What is made on the way
// is the owner's, too.
ProcessRequest copy_script(const CopyWords& words);
// Makes the directory, and what is missing above it, the owner's.
ProcessRequest directory_script(const std::string& directory, const std::string& owner);
// A user with a home.
ProcessRequest user_script(const std::string& name);

}  // namespace paddock::engine
