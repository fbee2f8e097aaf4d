#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/copy.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "sys/random.h"
#include "view/bases/base_format.h"
#include "view/bases/base_segments.h"
#include "view/bases/base_store.h"

namespace paddock::view {
namespace {

uint64_t next_page(uint64_t at) {
  return (at + kSegmentPage - 1) / kSegmentPage * kSegmentPage;
}

Status write_at(const sys::FileFd& fd, uint64_t at, std::string_view bytes) {
  if (::lseek(fd.get(), static_cast<off_t>(at), SEEK_SET) < 0) {
    return Error::from_errno(errno, "writing a base segment");
  }
  return sys::write_all(fd, bytes);
}

constexpr std::string_view kBeingWritten = "tmp-";
constexpr std::string_view kParked = "parked-";

std::string random_name(std::string_view prefix) {
  return std::string(prefix) + sys::sha256_hex(sys::random_bytes(16)).substr(0, 16);
}

}  // namespace

Result<BaseWriter> BaseWriter::create(const model::HostPath& dir, SegmentRole role) {
  PD_TRY(sys::make_dirs(dir.str(), 0700));
  BaseWriter writer(dir, role);
  std::string name = random_name(kBeingWritten);
  writer.fd_ =
      PD_TRY(sys::open_file((dir / name).str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  writer.temporary_ = std::move(name);
  if (::ftruncate(writer.fd_.get(), kSegmentPage) != 0) {
    return Error::from_errno(errno, "sizing a base segment");
  }
  writer.end_ = kSegmentPage;
  return writer;
}

BaseWriter::~BaseWriter() {
  if (fd_.is_open() && !temporary_.empty()) ::unlink((dir_ / temporary_).c_str());
}

Result<std::optional<uint64_t>> BaseWriter::clone_blob(const sys::Fd& from) {
  uint64_t at = next_page(end_);
  if (PD_TRY(sys::clone_into(from, fd_, at)) == sys::Cloned::no) return std::optional<uint64_t>();
  off_t end = ::lseek(fd_.get(), 0, SEEK_END);
  if (end < 0) return Error::from_errno(errno, "sizing a base segment");
  end_ = static_cast<uint64_t>(end);
  return std::optional<uint64_t>(at);
}

Result<uint64_t> BaseWriter::write_blob(std::string_view bytes) {
  uint64_t at = end_;
  PD_TRY(write_at(fd_, at, bytes));
  end_ += bytes.size();
  return at;
}

void BaseWriter::add(const std::string& path, const BaseRecord& record) {
  ByteWriter writer;
  encode_record(writer, path, record);
  index_ += writer.bytes();
  ++count_;
}

Status BaseWriter::complete() {
  PD_TRY(write_at(fd_, end_, index_));
  SegmentHeader header{role_, end_, index_.size(), sys::sha256_hex(index_)};
  PD_TRY(write_at(fd_, 0, encode_header(header)));
  if (::fsync(fd_.get()) != 0) return Error::from_errno(errno, "syncing a base segment");
  return {};
}

Status BaseWriter::publish() {
  PD_TRY_CTX("keeping base versions", complete());
  std::vector<std::string> older = PD_TRY(list_segments(dir_));
  PD_TRY_CTX("keeping base versions", number_segment(dir_, temporary_));
  temporary_.clear();
  if (role_ == SegmentRole::add) return {};
  for (const std::string& name : older) ::unlink((dir_ / name).c_str());
  return {};
}

Result<std::string> BaseWriter::park() {
  PD_TRY_CTX("keeping base versions", complete());
  std::string name = random_name(kParked);
  if (::rename((dir_ / temporary_).c_str(), (dir_ / name).c_str()) != 0) {
    return Error::from_errno(errno, "keeping base versions");
  }
  temporary_.clear();
  sys::DirFd dir = PD_TRY(sys::open_dir(dir_.str()));
  if (::fsync(dir.get()) != 0) return Error::from_errno(errno, "syncing " + dir_.str());
  return name;
}

Status publish_parked(const model::HostPath& dir, const std::string& name) {
  if (name.empty() || !sys::exists((dir / name).str())) return {};
  return number_segment(dir, name);
}

Status remove_parked(const model::HostPath& dir, const std::string& name) {
  if (name.empty() || ::unlink((dir / name).c_str()) == 0 || errno == ENOENT) return {};
  return Error::from_errno(errno, "removing " + printable((dir / name).str()));
}

Status remove_unpublished(const model::HostPath& dir) {
  Result<sys::DirFd> opened = sys::open_dir(dir.str());
  if (!opened.ok()) {
    if (opened.error().code() == Code::not_found) return {};
    return std::move(opened).error();
  }
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*opened))) {
    std::string_view name = entry.name;
    bool unpublished = name.substr(0, kBeingWritten.size()) == kBeingWritten ||
                       name.substr(0, kParked.size()) == kParked;
    if (unpublished) PD_TRY(sys::remove_tree_at(*opened, entry.name));
  }
  return {};
}

}  // namespace paddock::view
