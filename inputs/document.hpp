#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// A TOML or JSON text as a tree of values that know where they stand.
struct Value {
  enum class Kind { kNull, kBoolean, kInteger, kReal, kText, kDate, kList, kTable };
  struct Member;

  Kind kind = Kind::kNull;
  Position at;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;              // of an integer too
  std::string text;             // of a date too, as written
  std::vector<Value> items;     // of a list
  std::vector<Member> members;  // of a table, as written

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kReal; }
  // The member of a table, or null.
  const Value* find(std::string_view key) const;
};

struct Value::Member {
  std::string key;
  Position at;
  Value value;
};

// "a list of 3", "\"80\" (text)", "-1", "nan": a value as messages show it.
std::string describe(const Value& value);

struct Document {
  std::string file;      // as messages name it
  Value root;            // a table
  bool damaged = false;  // parts could not be read: what is missing may be there
};

// Larger files are refused: nothing that a person writes comes near.
inline constexpr std::uintmax_t kMaxFileBytes = 16u << 20;

// The bytes of a text file without its byte order mark. A file that is missing, no regular file, too large or
// encoded in UTF-16/32 is a fault (and nothing is returned). Of a missing file the nearest name beside it is
// suggested. `named_at`, where set, is the fault that tells where the name was found; its file, place and key
// are used.
std::optional<std::string> read_text(const std::filesystem::path& path, Diagnostics& faults,
                                     const Fault& named_at = {});

// Reads TOML 1.0. Syntax errors are faults; reading goes on behind those within one line, so that later
// faults are found too. Values nested deeper than 32 tables are refused.
Document parse_toml(std::string_view text, std::string file, Diagnostics& faults);

// Reads JSON, and the NaN and Infinity that Python writes (as reals). Duplicate keys and deep nesting are
// faults.
Document parse_json(std::string_view text, std::string file, Diagnostics& faults);

}  // namespace trainfront::inputs
