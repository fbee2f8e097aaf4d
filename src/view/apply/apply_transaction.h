// Carries out the ops of a committed journal on the host tree, or takes them back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "view/apply/apply_types.h"

namespace paddock::view {

// The host was found otherwise than it was checked.
struct Mismatch {
  std::string path;
  std::string reason;
};

// Both directions may be cut anywhere and begun again, by another process too: what was done is
// read from the slots. `journal` outlives the transaction.
class Transaction {
 public:
  // failed_precondition when the host tree is not there any more, or is another one.
  static Result<Transaction> open(const Journal& journal);

  // Does what is not done yet and compares everything that came out. With a mismatch (or an error)
  // the caller marks the abort and calls backward().
  Result<std::optional<Mismatch>> forward();

  // Undoes what was done. What the host put into our places meanwhile stays there, and the version
  // that was there before stays in its slot.
  Status backward();
  // After backward(): ops whose slot holds something of the host's.
  Result<std::vector<Op>> kept() const;

  // Writes the host tree's changed directories to disk.
  Status sync();

 private:
  Transaction(const Journal& journal, sys::DirFd host, sys::DirFd stage)
      : journal_(journal), host_(std::move(host)), stage_(std::move(stage)) {}

  using Found = std::optional<Mismatch>;
  Result<Found> do_op(const Op& op);
  Result<Found> do_rename(const Op& op, const sys::DirFd& parent);
  Result<Found> compare_out(const Op& op);
  Result<Found> set_directory(const Op& op, const DirectoryState& from, const DirectoryState& to);

  Status undo_op(const Op& op);
  Status undo_arrival(const Op& op, const sys::DirFd& parent);
  Status put_back(const Op& op, const sys::DirFd& parent);

  const Journal& journal_;
  sys::DirFd host_;
  sys::DirFd stage_;
};

}  // namespace paddock::view
