#include "inputs/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace trainfront::inputs {
namespace {

// More than a person reads at once; the count of the rest is stated.
constexpr std::size_t kMaxListed = 100;

std::string list(const std::vector<Fault>& faults) {
  std::string text;
  for (std::size_t i = 0; i < faults.size() && i < kMaxListed; ++i) {
    if (i > 0) text += '\n';
    text += to_string(faults[i]);
  }
  if (faults.size() > kMaxListed) text += fmt::format("\n... and {} more", faults.size() - kMaxListed);
  return text;
}

// Bytes of the well-formed UTF-8 character that the text begins with; 0 if it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  const std::size_t bytes = lead < 0x80   ? 1
                            : lead < 0xC2 ? 0
                            : lead < 0xE0 ? 2
                            : lead < 0xF0 ? 3
                            : lead < 0xF5 ? 4
                                          : 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates, beyond U+10FFFF.
  const unsigned second = byte(1);
  const bool malformed = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                         (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return malformed ? 0 : bytes;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxBytes = 80;
  const bool cut = text.size() > kMaxBytes;
  if (cut) {
    std::size_t end = kMaxBytes;
    while (end > kMaxBytes - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t bytes = character_bytes(text.substr(i));
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (bytes == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += text.substr(i, bytes);
    }
    i += bytes == 0 ? 1 : bytes;
  }
  return out + (cut ? "...\"" : "\"");
}

std::string to_string(const Fault& fault) {
  std::string text = fault.file;
  if (fault.at.line > 0) text += fmt::format(":{}:{}", fault.at.line, fault.at.column);
  if (!text.empty()) text += ": ";
  if (!fault.key.empty()) text += fault.key + ": ";
  text += fault.problem;
  if (!fault.found.empty()) text += "; found " + fault.found;
  if (!fault.allowed.empty()) text += "; allowed: " + fault.allowed;
  if (!fault.suggestion.empty()) text += fmt::format("; did you mean \"{}\"?", fault.suggestion);
  return text;
}

InputError::InputError(std::vector<Fault> faults)
    : std::runtime_error(list(faults)), faults_(std::move(faults)) {}

void Diagnostics::add(Fault fault) {
  if (!full()) faults_.push_back(std::move(fault));
}

std::vector<Fault> Diagnostics::faults() const {
  std::map<std::string, std::size_t> order;
  for (const Fault& fault : faults_) order.emplace(fault.file, order.size());
  std::vector<Fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Fault& a, const Fault& b) {
    return std::pair(order.at(a.file), a.at) < std::pair(order.at(b.file), b.at);
  });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

void Diagnostics::throw_if_any() const {
  if (!faults_.empty()) throw InputError(faults());
}

}  // namespace trainfront::inputs
