#include "agent/asker.h"

#include <utility>

#include "agent/process_tree.h"

namespace paddock::agent {

void AskerFinder::open() {
  auto sockets = sys::SocketDiag::open();
  if (sockets.ok()) sockets_ = std::move(*sockets);
}

pid_t AskerFinder::find_holder(uint64_t inode) const {
  if (user_) {
    const sys::ActingAs acting(*user_);
    if (const pid_t pid = find_socket_holder(inode, last_); pid != 0) return pid;
  }
  return find_socket_holder(inode, last_);
}

wire::Asker AskerFinder::find(sys::SocketDiag::Protocol protocol, const sys::Endpoint& local,
                              const sys::Endpoint& remote) {
  wire::Asker asker;
  if (!sockets_) return asker;
  const auto inode = sockets_->find_inode(protocol, local, remote);
  const pid_t pid = inode ? find_holder(*inode) : 0;
  if (pid == 0) return asker;
  last_ = pid;
  asker.set_pid(pid);
  asker.set_process(name_of_process(pid));
  return asker;
}

}  // namespace paddock::agent
