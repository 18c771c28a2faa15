#include "engine/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/errors.hpp"

namespace trainfront::engine {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // Network file systems report a full quota only here.
  bool close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result == 0;
  }

 private:
  int fd_;
};

[[noreturn]] void fail(std::string_view doing, const std::filesystem::path& path, int error) {
  throw MachineError(
      fmt::format("cannot {} {}: {}", doing, path.string(), std::generic_category().message(error)));
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A rename is only safe from a crash once its folder is on the disk. File systems that cannot sync a folder
// say so; that is no reason to fail.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

constexpr std::string_view kBeside = ".writing-";

std::string beside(const std::filesystem::path& path) {
  return fmt::format("{}{}{}", path.string(), kBeside, ::getpid());
}

enum class Wait { kNo, kForDisk };

// 0, or the system's reason why the content is not beside its place.
int write_beside(const std::filesystem::path& path, std::string_view content, Wait wait) {
  Descriptor fd(::open(beside(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd.get() < 0) return errno;
  if (!write_all(fd.get(), content)) return errno;
  if (wait == Wait::kForDisk && ::fsync(fd.get()) != 0) return errno;
  return fd.close() ? 0 : errno;
}

}  // namespace

void write_files(const std::vector<FileContent>& files) {
  const auto give_up = [&](const std::filesystem::path& path, int error) {
    for (const FileContent& file : files) ::unlink(beside(file.path).c_str());
    fail("write", path, error);
  };
  for (const FileContent& file : files) {
    if (std::filesystem::is_directory(file.path)) give_up(file.path, EISDIR);  // or the rename would say so
    if (const int error = write_beside(file.path, file.content, Wait::kForDisk); error != 0)
      give_up(file.path, error);
  }
  for (const FileContent& file : files) {
    if (::rename(beside(file.path).c_str(), file.path.c_str()) != 0) give_up(file.path, errno);
    sync_folder(file.path.parent_path());
  }
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  write_files({{path, std::string(content)}});
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  int error = write_beside(path, content, Wait::kNo);
  if (error == 0 && ::rename(beside(path).c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(beside(path).c_str());
  fail("write", path, error);
}

void remove_half_written(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find(kBeside) != std::string::npos) std::filesystem::remove(entry.path(), error);
  }
}

void make_writable_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("make folder", folder, error.value());
  if (!std::filesystem::is_directory(folder)) fail("make folder", folder, ENOTDIR);
  // Permission bits say nothing about a read-only mount or a full quota; writing a byte does.
  const std::filesystem::path probe = folder / fmt::format(".probe-{}", ::getpid());
  Descriptor fd(::open(probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd.get() < 0) fail("write into folder", folder, errno);
  const bool written = write_all(fd.get(), "x");
  const int write_error = errno;
  ::unlink(probe.c_str());
  if (!written) fail("write into folder", folder, write_error);
}

std::string read_file(const std::filesystem::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail("read", path, errno);
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace trainfront::engine
