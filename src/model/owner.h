// Whose a thing of the daemon is, and who asks for it.
#pragma once

#include <string>

#include "model/ids.h"

namespace paddock::model {

struct KeyTag {};
using KeyId = Id<KeyTag>;  // of an API key

// The API key that a thing was made with. Without one it is the keeper's: whoever runs the daemon.
struct Owner {
  // `socket`: only for who comes by the keeper's socket, whatever key others show.
  enum class Reach { listener, socket };

  KeyId key;
  Reach reach = Reach::listener;
  bool operator==(const Owner&) const = default;
};

// Who makes a request. What it makes is its owner's; what it may not see does not exist for it.
struct Caller {
  enum class Sees { own, all };

  Owner owner;
  std::string label;  // of its key
  Sees sees = Sees::own;

  bool may_see(const Owner& other) const { return sees == Sees::all || other == owner; }
};

}  // namespace paddock::model
