#include "image/host_etc.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "image/system_users.h"
#include "sys/digest.h"
#include "sys/files.h"

namespace paddock::image {
namespace {

using model::HostPath;
using sys::DirFd;

constexpr size_t kMaxFileBytes = 8u << 20;
constexpr int kMaxDepth = 8;
// Part of the cache key: raise it when what is composed from equal sources changes.
constexpr std::string_view kFormat = "2";

// What tools read and what holds no credential. Directories are taken whole, but only what
// everybody may read of them; private keys and password files are not readable by everybody, and
// not listed.
constexpr std::array<std::string_view, 63> kAllowed{"alternatives",
                                                    "bash.bashrc",
                                                    "bash_completion",
                                                    "ca-certificates",
                                                    "ca-certificates.conf",
                                                    "crypto-policies",
                                                    "debian_version",
                                                    "default/locale",
                                                    "dpkg/origins",
                                                    "dpkg/dpkg.cfg",
                                                    "environment.d",
                                                    "ethertypes",
                                                    "fedora-release",
                                                    "fonts",
                                                    "gai.conf",
                                                    "gdb",
                                                    "groff",
                                                    "host.conf",
                                                    "ImageMagick-6",
                                                    "ImageMagick-7",
                                                    "inputrc",
                                                    "java-11-openjdk",
                                                    "java-17-openjdk",
                                                    "java-21-openjdk",
                                                    "java",
                                                    "ld.so.cache",
                                                    "ld.so.conf",
                                                    "ld.so.conf.d",
                                                    "libnl-3",
                                                    "locale.alias",
                                                    "locale.conf",
                                                    "locale.gen",
                                                    "localtime",
                                                    "login.defs",
                                                    "lsb-release",
                                                    "magic",
                                                    "magic.mime",
                                                    "mailcap",
                                                    "manpath.config",
                                                    "matplotlibrc",
                                                    "maven",
                                                    "mime.types",
                                                    "nanorc",
                                                    "networks",
                                                    "os-release",
                                                    "perl",
                                                    "pki/ca-trust/extracted",
                                                    "pki/tls/certs",
                                                    "profile",
                                                    "protocols",
                                                    "python3",
                                                    "python3.11",
                                                    "python3.12",
                                                    "redhat-release",
                                                    "rpc",
                                                    "services",
                                                    "shells",
                                                    "ssl/certs",
                                                    "ssl/openssl.cnf",
                                                    "terminfo",
                                                    "timezone",
                                                    "xattr.conf",
                                                    "zsh"};

struct Generated {
  std::string name;
  std::string text;
};

std::vector<Generated> generated_overrides(const EtcOptions& o) {
  return {
      {"hosts",
       fmt::format("127.0.0.1 localhost {0}\n::1 localhost ip6-localhost {0}\n", o.hostname)},
      {"hostname", o.hostname + "\n"},
      // The agent's stub resolver; without egress it answers at once that no name exists.
      {"resolv.conf", "nameserver 127.0.0.53\noptions timeout:2 attempts:1\n"},
      // The workspace may belong to another user inside than the one git runs as.
      {"gitconfig", "[safe]\n\tdirectory = *\n"},
  };
}

std::vector<Generated> generated_files(const EtcOptions& o) {
  std::vector<Generated> files = generated_overrides(o);
  bool is_root = o.uid == 0;
  std::string passwd = fmt::format("root:x:0:0:root:{}:/bin/bash\n", is_root ? o.home : "/root");
  std::string group = "root:x:0:\n";
  if (!is_root) {
    passwd += fmt::format("{}:x:{}:{}::{}:/bin/bash\n", o.user, o.uid, o.gid, o.home);
    if (o.gid != 0) group += fmt::format("{}:x:{}:\n", o.user, o.gid);
  }
  // Behind the sandbox's own, which may have one of their numbers.
  passwd += kSystemUsers;
  passwd += "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
  group += kSystemGroups;
  group += "nogroup:x:65534:\n";
  files.push_back({"passwd", passwd});
  files.push_back({"group", group});
  files.push_back(
      {"nsswitch.conf",
       "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"
       "networks: files\nprotocols: files\nservices: files\nethers: files\nrpc: files\n"});
  return files;
}

// Changes whenever an allowed entry is replaced. A directory counts by its own times: packages
// rename files into place.
std::string fingerprint(const EtcOptions& options, const std::vector<Generated>& files) {
  std::string text(kFormat);
  for (std::string_view name : kAllowed) {
    struct stat st {};
    std::string path = options.source.str() + "/" + std::string(name);
    if (::lstat(path.c_str(), &st) != 0) continue;
    text += fmt::format("{}:{}:{}:{}.{}:{};", name, st.st_ino, st.st_size, st.st_mtim.tv_sec,
                        st.st_mtim.tv_nsec, st.st_mode);
  }
  for (const Generated& file : files) text += file.name + "=" + file.text + ";";
  return sys::sha256_hex(text).substr(0, 24);
}

Status put_file(const std::string& path, std::string_view bytes, mode_t mode) {
  sys::FileFd fd = PD_TRY(sys::open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  return sys::write_all(fd, bytes);
}

// Copies one entry when everybody may read it. What may not be read is left out, not an error.
Status copy_entry(const DirFd& from, const std::string& name, const std::string& to, int depth) {
  auto found = sys::lstat_at(from, name);
  if (!found.ok() || depth > kMaxDepth) return {};
  const struct stat& st = *found;
  if (S_ISLNK(st.st_mode)) {
    std::string target = PD_TRY(sys::read_link_at(from, name));
    if (::symlink(target.c_str(), to.c_str()) != 0)
      return Error::from_errno(errno, "linking " + to);
    return {};
  }
  if (S_ISDIR(st.st_mode) && (st.st_mode & 0005) == 0005) {
    auto dir = sys::open_dir_at(from, name);
    if (!dir.ok()) return {};
    PD_TRY(sys::make_dirs(to, 0755));
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*dir))) {
      PD_TRY(copy_entry(*dir, entry.name, to + "/" + entry.name, depth + 1));
    }
    return {};
  }
  if (!S_ISREG(st.st_mode) || (st.st_mode & 0004) == 0) return {};
  auto bytes = sys::read_file_at(from, name, kMaxFileBytes);
  if (!bytes.ok()) return {};
  return put_file(to, *bytes, 0644);
}

Status fill(const EtcOptions& options, const std::vector<Generated>& files, const std::string& to) {
  DirFd source = PD_TRY(sys::open_dir(options.source.str()));
  for (std::string_view name : kAllowed) {
    std::string target = to + "/" + std::string(name);
    PD_TRY(sys::make_dirs(target.substr(0, target.find_last_of('/')), 0755));
    PD_TRY(copy_entry(source, std::string(name), target, 0));
  }
  for (const Generated& file : files) PD_TRY(put_file(to + "/" + file.name, file.text, 0644));
  if (::symlink("/proc/self/mounts", (to + "/mtab").c_str()) != 0) {
    return Error::from_errno(errno, "linking mtab");
  }
  return {};
}

// Fills a temporary directory and renames it to its key; whoever comes second uses the first one's.
template <typename Fill>
Result<HostPath> cached(const HostPath& cache, const std::string& key, Fill fill_into) {
  HostPath target = cache / key;
  if (sys::exists(target.str())) return target;
  PD_TRY(sys::make_dirs(cache.str(), 0755));
  std::string temporary = (cache / ".new-XXXXXX").str();
  if (::mkdtemp(temporary.data()) == nullptr)
    return Error::from_errno(errno, "creating " + temporary);
  Status filled = fill_into(temporary);
  if (filled.ok() && ::chmod(temporary.c_str(), 0755) != 0) {
    filled = Error::from_errno(errno, "setting the mode of " + temporary);
  }
  if (filled.ok() && ::rename(temporary.c_str(), target.c_str()) != 0 && errno != EEXIST &&
      errno != ENOTEMPTY) {
    filled = Error::from_errno(errno, "renaming to " + target.str());
  }
  (void)sys::remove_tree(temporary).ok();
  PD_TRY(std::move(filled));
  return target;
}

}  // namespace

Result<HostPath> compose_etc(const EtcOptions& options) {
  std::vector<Generated> files = generated_files(options);
  return cached(options.cache, "etc-" + fingerprint(options, files),
                [&](const std::string& to) { return fill(options, files, to); })
      .with_context("composing /etc");
}

Result<HostPath> compose_etc_overrides(const EtcOptions& options) {
  std::vector<Generated> files = generated_overrides(options);
  std::string text(kFormat);
  for (const Generated& file : files) text += file.name + "=" + file.text + ";";
  return cached(options.cache, "over-" + sys::sha256_hex(text).substr(0, 24),
                [&](const std::string& to) -> Status {
                  PD_TRY(sys::make_dir(to + "/etc", 0755));
                  for (const Generated& file : files) {
                    PD_TRY(put_file(to + "/etc/" + file.name, file.text, 0644));
                  }
                  return {};
                })
      .with_context("composing the files of /etc");
}

}  // namespace paddock::image
