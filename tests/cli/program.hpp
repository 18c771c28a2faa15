#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace trainfront::tests {

// How a process ended, and what it wrote.
struct Ended {
  int status = 0;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};

// A process that runs with its output going to files.
class Process {
 public:
  // `words[0]` is sought in PATH; `environment` adds "NAME=value".
  explicit Process(const std::vector<std::string>& words, const std::vector<std::string>& environment = {});
  ~Process();  // kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  bool is_running();
  Ended wait();

 private:
  pid_t pid_ = -1;
  int raw_status_ = 0;
  bool ended_ = false;
  std::filesystem::path out_, err_;
};

// trainfront with these arguments, to its end.
Ended run_program(const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment = {});
// The same on so many ranks.
Ended run_program_on(int ranks, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment = {});
// The words to start it on so many ranks.
std::vector<std::string> on_ranks(int ranks, std::vector<std::string> arguments);

std::string slurp(const std::filesystem::path& path);
void spew(const std::filesystem::path& path, const std::string& text);

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The section of a sweep file that offers nodes of eight H100, "dgx-h100" of "own".
std::string own_offer(const std::string& region, int usd_per_node_hour);
// A sweep file of a small model on a few GPUs, some 10^5 plans: a tenth of a second.
std::string small_sweep();
// The same with so many choices that brute force takes some seconds.
std::string long_sweep();

}  // namespace trainfront::tests
