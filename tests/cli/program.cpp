#include "cli/program.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace trainfront::tests {
namespace {

std::filesystem::path unique_path(const char* kind) {
  static int count = 0;
  return std::filesystem::temp_directory_path() /
         (std::string("trainfront-cli-") + std::to_string(::getpid()) + "-" + std::to_string(++count) + kind);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const std::vector<std::string>& environment)
    : out_(unique_path(".out")), err_(unique_path(".err")) {
  std::vector<std::string> copy = words;
  std::vector<std::string> added = environment;
  const std::vector<char*> argv = pointers(copy);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    for (std::string& each : added) ::putenv(each.data());
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
}

Process::~Process() {
  if (is_running()) {
    signal(SIGKILL);
    wait();
  }
  std::filesystem::remove(out_);
  std::filesystem::remove(err_);
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

bool Process::is_running() {
  if (!ended_) ended_ = ::waitpid(pid_, &raw_status_, WNOHANG) == pid_;
  return !ended_;
}

Ended Process::wait() {
  if (!ended_) ::waitpid(pid_, &raw_status_, 0);
  ended_ = true;
  const int status = WIFEXITED(raw_status_) ? WEXITSTATUS(raw_status_) : 128 + WTERMSIG(raw_status_);
  return {status, slurp(out_), slurp(err_)};
}

Ended run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  std::vector<std::string> words = {TRAINFRONT_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Process(words, environment).wait();
}

std::vector<std::string> on_ranks(int ranks, std::vector<std::string> arguments) {
  std::vector<std::string> words = {TRAINFRONT_MPIEXEC, "-n", std::to_string(ranks), TRAINFRONT_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Ended run_program_on(int ranks, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment) {
  return Process(on_ranks(ranks, arguments), environment).wait();
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void spew(const std::filesystem::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  REQUIRE(stream.good());
}

Folder::Folder() : path_(unique_path("")) {
  std::filesystem::create_directories(path_);
}

Folder::~Folder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string own_offer(const std::string& region, int usd_per_node_hour) {
  return "[[market.offer]]\nprovider = \"own\"\nregion = \"" + region +
         "\"\ninstance = \"dgx-h100\"\ndevice = \"h100-sxm\"\ngpus_per_node = 8\nusd_per_node_hour = " +
         std::to_string(usd_per_node_hour) + "\n";
}

std::string small_sweep() {
  return R"([model]
name = "llama-3.1-8b"
[recipe]
tokens = 1e12
sequence_length = 8192
global_batch = [512, 1024]
[cluster]
devices = ["h100-sxm"]
gpus = [64, 128, 256]
[market]
catalog = ["builtin"]
)" + own_offer("lab", 16) +
         R"(max_nodes = 512
[failures]
protection = ["checkpoint", "spare"]
r = [2, 3]
)";
}

std::string long_sweep() {
  std::string text = small_sweep();
  const std::string few = "gpus = [64, 128, 256]";
  text.replace(text.find(few), few.size(), "gpus = {min = 64, max = 1536, step = 64}");
  const std::string r = "r = [2, 3]";
  return text.replace(text.find(r), r.size(), "r = {min = 2, max = 10}");
}

}  // namespace trainfront::tests
