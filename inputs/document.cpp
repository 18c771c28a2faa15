#include "inputs/document.hpp"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

std::string nearest_file(const std::filesystem::path& path) {
  constexpr int kMaxLookedAt = 10000;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::vector<std::string> names;
  int looked_at = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++looked_at > kMaxLookedAt) break;
    names.push_back(entry->path().filename().string());
  }
  return nearest(path.filename().string(), names);
}

bool is_utf16_or_32(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
         text.starts_with(std::string_view("\0\0\xFE\xFF", 4));
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBoolean:
      return value.boolean ? "true" : "false";
    case Value::Kind::kInteger:
      return fmt::format("{}", value.integer);
    case Value::Kind::kReal:
      return fmt::format("{}", value.real);
    case Value::Kind::kText:
      return in_quotes(value.text) + " (text)";
    case Value::Kind::kDate:
      return value.text + " (a date)";
    case Value::Kind::kList:
      return value.items.empty() ? "an empty list" : fmt::format("a list of {}", value.items.size());
    case Value::Kind::kTable:
      return "a table";
  }
  return {};
}

std::optional<std::string> read_text(const std::filesystem::path& path, Diagnostics& faults,
                                     const Fault& named_at) {
  Fault fault = named_at;
  const bool named = !named_at.file.empty();
  if (!named) fault.file = path.string();
  const std::string subject = named ? fmt::format("file {} ", in_quotes(path.string())) : "";
  const auto refuse = [&](std::string why) -> std::optional<std::string> {
    fault.problem = subject + std::move(why);
    faults.add(fault);
    return std::nullopt;
  };

  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found || path.empty()) {
    fault.suggestion = nearest_file(path);
    return refuse("does not exist");
  }
  if (error) return refuse(fmt::format("cannot be read: {}", error.message()));
  if (status.type() == std::filesystem::file_type::directory) return refuse("is a folder, not a file");
  if (status.type() != std::filesystem::file_type::regular) return refuse("is not a regular file");
  const auto size = std::filesystem::file_size(path, error);
  if (error) return refuse(fmt::format("cannot be read: {}", error.message()));
  if (size > kMaxFileBytes)
    return refuse(fmt::format("has {} bytes; at most {} are read", size, kMaxFileBytes));

  std::ifstream stream(path, std::ios::binary);
  if (!stream) return refuse("cannot be opened");
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) return refuse("cannot be read to its end");
  if (is_utf16_or_32(text)) return refuse("is UTF-16 or UTF-32; save it as UTF-8");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

}  // namespace trainfront::inputs
