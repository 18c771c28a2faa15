#include "inputs/diagnostics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "inputs/printable.hpp"

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
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return printable(out) + (cut ? "...\"" : "\"");
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
  return printable(text);
}

InputError::InputError(std::vector<Fault> faults)
    : std::runtime_error(list(faults)), faults_(std::move(faults)) {}

void Diagnostics::add(Fault fault) {
  if (full()) {
    ++dropped_;
  } else {
    faults_.push_back(std::move(fault));
  }
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
