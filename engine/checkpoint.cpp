#include "engine/checkpoint.hpp"

#include <fmt/core.h>

#include <charconv>
#include <string>
#include <string_view>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/fingerprint.hpp"

namespace trainfront::engine {
namespace {

constexpr std::string_view kMagic = "trainfront-checkpoint";
constexpr int kVersion = 2;

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view why) {
  throw UsageError(fmt::format(
      "cannot go on from {}: {}\nUse --fresh to start the sweep over, or -o for another output folder.",
      path.string(), why));
}

// Takes the text up to the next blank or line's end.
std::string_view next_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

std::optional<std::uint64_t> number(std::string_view word, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot) {
  const std::string body = pack(snapshot);
  write_file(path,
             fmt::format("{} {} {} {:016x}\n", kMagic, kVersion, body.size(), fingerprint(body)) + body);
}

std::optional<Snapshot> load_checkpoint(const std::filesystem::path& path, const Snapshot& expected) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  const std::string content = read_file(path);
  const std::size_t line_end = content.find('\n');
  std::string_view line = std::string_view(content).substr(0, line_end);
  if (line_end == std::string::npos || next_word(line) != kMagic) refuse(path, "it is not a checkpoint");
  const auto version = number(next_word(line), 10);
  if (version != kVersion) {
    refuse(path, fmt::format("its format has version {}, this program reads {}",
                             version ? std::to_string(*version) : "?", kVersion));
  }
  const auto length = number(next_word(line), 10);
  const auto checksum = number(next_word(line), 16);
  const std::string body = content.substr(line_end + 1);
  if (!length || !checksum) refuse(path, "it is damaged (first line)");
  if (body.size() < *length) refuse(path, "it is cut short");
  if (body.size() > *length) refuse(path, "it is damaged (something stands behind its end)");
  if (fingerprint(body) != *checksum) refuse(path, "it is damaged (checksum)");

  Snapshot snapshot = unpack_snapshot(body);
  if (snapshot.problem != expected.problem) refuse(path, "the input has changed since it was written");
  if (snapshot.program != expected.program) refuse(path, "another build of trainfront wrote it");
  const bool same_space = snapshot.plans == expected.plans && snapshot.blocks == expected.blocks;
  if (!same_space ||
      !snapshot.done.complement(snapshot.blocks).empty() == (snapshot.done.count() == snapshot.blocks)) {
    refuse(path, "it belongs to another space of plans");
  }
  return snapshot;
}

}  // namespace trainfront::engine
