#pragma once

#include <compare>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainfront::inputs {

// Place in a text file, from 1; line 0: not known (the whole file is meant).
struct Position {
  int line = 0;
  int column = 0;

  auto operator<=>(const Position&) const = default;
};

// One thing wrong with what the user wrote. Members that do not apply are empty.
struct Fault {
  std::string file;
  Position at;
  std::string key;         // "market.offer[2].device"
  std::string problem;     // "unknown key"
  std::string found;       // the value as it was read
  std::string allowed;     // "one of a, b, c", "a number above 0"
  std::string suggestion;  // the nearest known name

  bool operator==(const Fault&) const = default;
};

// "sweep.toml:12:5: market.bandwith: unknown key; did you mean "bandwidth"?", one line.
std::string to_string(const Fault& fault);

// Input that cannot be worked with: all of its faults. what() holds one line a fault.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Fault> faults);
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

// Gathers the faults of all files of one problem, so that they are reported at once.
class Diagnostics {
 public:
  void add(Fault fault);
  // As many as are worth keeping; more are counted and dropped.
  bool full() const { return faults_.size() >= kMaxKept; }
  bool empty() const { return faults_.empty(); }
  // By file (in the order of their first fault) and position; a fault reported twice is kept once.
  std::vector<Fault> faults() const;
  // faults().size() and those that were dropped.
  std::size_t count() const { return faults().size() + dropped_; }
  // Throws InputError if there are any.
  void throw_if_any() const;

 private:
  static constexpr std::size_t kMaxKept = 1000;

  std::vector<Fault> faults_;
  std::size_t dropped_ = 0;
};

// Text in quotes, control characters escaped, cut after 80 bytes at a character's boundary: safe to print.
std::string in_quotes(std::string_view text);

}  // namespace trainfront::inputs
