#include "isolation/container/mount_program.h"

#include <fmt/core.h>

#include "base/strings.h"

namespace paddock::isolation::container {
namespace {

std::string place(const Target& at) {
  return "/" + printable(at.path);
}

struct Describe {
  std::string operator()(const step::MountScratch&) { return "mounting the scratch tmpfs"; }
  std::string operator()(const step::ScratchDirectory& s) {
    return "making " + s.name + " on the scratch tmpfs";
  }
  std::string operator()(const step::ScratchFile& s) {
    return "making " + s.name + " on the scratch tmpfs";
  }
  std::string operator()(const step::NameLayer& s) {
    return "attaching the layer " + printable(s.source.path);
  }
  std::string operator()(const step::ScratchSymlink& s) { return "naming the layer " + s.name; }
  std::string operator()(const step::MountRoot&) { return "mounting the root tmpfs"; }
  std::string operator()(const step::MountOverlay& s) {
    return "mounting the overlay at " + place(s.at);
  }
  std::string operator()(const step::BindTree& s) {
    return fmt::format("binding {} at {}", printable(s.source.path), place(s.at));
  }
  std::string operator()(const step::BindScratch& s) {
    return "mounting a private directory at " + place(s.at);
  }
  std::string operator()(const step::MountFileSystem& s) {
    return fmt::format("mounting {} at {}", s.type, place(s.at));
  }
  std::string operator()(const step::BindDevice& s) {
    return fmt::format("binding the device {} at {}", s.source, place(s.at));
  }
  std::string operator()(const step::MakeSymlink& s) {
    return fmt::format("making the symlink {} -> {}", place(s.at), printable(s.target));
  }
  std::string operator()(const step::Mask& s) { return "masking /" + printable(s.path); }
  std::string operator()(const step::MakeReadOnly& s) {
    return "making /" + printable(s.path) + " read-only";
  }
  std::string operator()(const step::SealRoot&) { return "making the root read-only"; }
  std::string operator()(const step::EnterRoot&) { return "entering the new root"; }
};

}  // namespace

std::string describe(const Step& step) {
  return std::visit(Describe{}, step);
}

}  // namespace paddock::isolation::container
