// SPDX-License-Identifier: Apache-2.0
#include "runtime/counters_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/replace_file.hpp"

namespace vgpu {
namespace {

constexpr std::string_view kProcess = "%p";

bool has_process_id(const std::string& name) { return name.find(kProcess) != name.npos; }

std::string with_process_id(std::string name) {
  const std::string id = std::to_string(::getpid());
  for (auto at = name.find(kProcess); at != name.npos; at = name.find(kProcess, at + id.size()))
    name.replace(at, kProcess.size(), id);
  return name;
}

}  // namespace

std::string check_counters_file(const std::string& name) {
  return check_writable(with_process_id(name));
}

CountersFile::CountersFile(std::string name, std::string claims, std::string head, std::string tail)
    : pattern_(std::move(name)),
      claims_(std::move(claims)),
      head_(std::move(head)),
      tail_(std::move(tail)),
      made_by_(::getpid()) {}

CountersFile::~CountersFile() {
  if (file_ >= 0) ::close(file_);
}

// Claims the name with that suffix; false if another process has claimed it.
bool CountersFile::claim(const std::string& suffix) {
  path_ = real_path(with_process_id(pattern_) + suffix);
  if (claims_.empty()) {
    part_ = fmt::format("{}.{}.part", path_, ::getpid());
    return has_process_id(pattern_) || ::getpid() == made_by_ || !suffix.empty();
  }
  part_ = path_ + ".part";
  const std::string who = has_process_id(pattern_) ? std::to_string(::getpid()) : "first";
  claim_ = fmt::format("{}/{}{}", claims_, who, suffix);
  return ::symlink(path_.c_str(), claim_.c_str()) == 0 || errno != EEXIST;
}

CountersFile::Said CountersFile::open() {
  if (file_ >= 0) ::close(file_);  // inherited from the parent by fork
  opened_by_ = ::getpid();
  end_ = 0;
  empty_ = true;
  failed_ = placed_ = false;
  Said said;
  if (!claim("")) {
    const std::string own = has_process_id(pattern_) ? "" : fmt::format(".{}", opened_by_);
    bool taken = own.empty() || !claim(own);
    for (int n = 2; taken; ++n) taken = !claim(fmt::format("{}.{}", own, n));
    said.note = fmt::format(
        "process {} writes its counters to {}: another process of the program writes {}",
        opened_by_, path_, with_process_id(pattern_));
  }
  ::unlink(part_.c_str());  // left by a process that was killed
  file_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) {
    said.error = fail(part_, errno);
    return said;
  }
  struct stat former {};
  if (::stat(path_.c_str(), &former) == 0) (void)::fchmod(file_, former.st_mode & 0777);
  said.error = append(head_);
  return said;
}

// Appends the text after the last launch, followed by the tail that completes the JSON.
std::string CountersFile::append(std::string_view text) {
  const int error = write_at(file_, std::string(text) + tail_, end_);
  if (error != 0) {
    // The former tail fits again, because there was room for it before.
    if (::ftruncate(file_, end_) == 0 && end_ != 0) write_at(file_, tail_, end_);
    return fail(part_, error);
  }
  end_ += static_cast<off_t>(text.size());
  return "";
}

std::string CountersFile::fail(const std::string& what, int error) {
  failed_ = true;
  if (!claims_.empty()) std::rename(claim_.c_str(), (claim_ + ".failed").c_str());
  std::string message =
      fmt::format("cannot write {}: {}; {} is as it was", what, std::strerror(error), path_);
  if (empty_)
    ::unlink(part_.c_str());
  else
    message += fmt::format("; what was counted until then is in {}", part_);
  return message;
}

CountersFile::Said CountersFile::add(std::string_view launch) {
  Said said;
  if (opened_by_ != ::getpid()) said = open();
  if (failed_) return said;
  said.error = append(fmt::format("{}{}", empty_ ? "\n" : ",\n", launch));
  if (!failed_) empty_ = false;
  return said;
}

CountersFile::Said CountersFile::close() {
  Said said;
  if (opened_by_ != ::getpid()) {
    if (made_by_ != ::getpid() || !claim("")) return said;
    if (!claim_.empty()) ::unlink(claim_.c_str());
    said = open();
  }
  if (failed_ || std::exchange(placed_, true)) return said;
  if (::fsync(file_) != 0 && errno != EINVAL)
    said.error = fail(part_, errno);
  else if (std::rename(part_.c_str(), path_.c_str()) != 0 && (claims_.empty() || errno != ENOENT))
    said.error = fail(path_, errno);
  return said;
}

}  // namespace vgpu
