#include "inputs/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

namespace trainfront::inputs {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string read_file(const std::string& path) {
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) text.append(buffer, n);
  if (std::ferror(file.get())) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  return text;
}

}  // namespace

CsvError::CsvError(std::string file_name, std::size_t at_line, std::size_t at_column,
                   std::string what_is_wrong)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file_name, at_line, at_column, what_is_wrong)),
      file(std::move(file_name)),
      line(at_line),
      column(at_column),
      problem(std::move(what_is_wrong)) {}

CsvFile CsvFile::open(const std::string& path, const CsvOptions& options) {
  return CsvFile(path, read_file(path), options);
}

CsvFile::CsvFile(std::string name, std::string text, const CsvOptions& options)
    : name_(std::move(name)), text_(text.begin(), text.end()), options_(options) {
  if (std::string_view(text).substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    next_ = line_start_ = kByteOrderMark.size();
  }
  if (!read_record()) fail(1, 1, "the file is empty; a header line that names the columns is needed");
  for (const Field& field : fields_) {
    if (field.text.empty()) fail(field.line, field.column, "a column without a name");
    if (std::find(header_.begin(), header_.end(), field.text) != header_.end()) {
      fail(field.line, field.column, fmt::format("column '{}' stands twice in the header", field.text));
    }
    header_.emplace_back(field.text);
  }
}

std::optional<std::size_t> CsvFile::find_column(std::string_view column) const {
  const auto at = std::find(header_.begin(), header_.end(), column);
  if (at == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - header_.begin());
}

std::size_t CsvFile::column(std::string_view column) const {
  if (const auto at = find_column(column)) return *at;
  throw CsvError(name_, 1, 1, fmt::format("no column '{}'; found: {}", column, fmt::join(header_, ", ")));
}

bool CsvFile::next() {
  if (!read_record()) return false;
  if (fields_.size() != header_.size()) {
    fail(record_line_, 1,
         fmt::format("{} fields in this record, {} in the header", fields_.size(), header_.size()));
  }
  return true;
}

std::string CsvFile::position() const {
  return fmt::format("{}:{}", name_, record_line_);
}

// Leaves next_ behind the record's line break; false if only blank lines and comments were left.
bool CsvFile::read_record() {
  fields_.clear();
  while (next_ < text_.size()) {
    const char c = text_[next_];
    if ((options_.comment != '\0' && c == options_.comment) || is_blank_line()) {
      skip_line();
      continue;
    }
    record_line_ = line_;
    while (true) {
      fields_.push_back(read_field());
      if (next_ >= text_.size()) return true;
      if (text_[next_] == options_.delimiter) {
        ++next_;
        continue;
      }
      skip_line();
      return true;
    }
  }
  return false;
}

bool CsvFile::is_blank_line() const {
  std::size_t at = next_;
  while (at < text_.size() && is_blank(text_[at]) && text_[at] != options_.delimiter) ++at;
  return at == text_.size() || text_[at] == '\n' || text_[at] == '\r';
}

CsvFile::Field CsvFile::read_field() {
  while (next_ < text_.size() && is_blank(text_[next_]) && text_[next_] != options_.delimiter) ++next_;
  if (next_ < text_.size() && text_[next_] == '"') return read_quoted_field();
  Field field{{}, line_, next_ - line_start_ + 1};
  const char* begin = text_.data() + next_;
  const char* end = begin;
  const char* last = text_.data() + text_.size();
  while (end != last && *end != options_.delimiter && *end != '\n' && *end != '\r') ++end;
  next_ += static_cast<std::size_t>(end - begin);
  field.text = trim({begin, static_cast<std::size_t>(end - begin)});
  return field;
}

CsvFile::Field CsvFile::read_quoted_field() {
  Field field{{}, line_, next_ - line_start_ + 1};
  const std::size_t begin = ++next_;
  std::size_t write = begin;
  while (true) {
    if (next_ >= text_.size()) fail(field.line, field.column, "a quote that is never closed");
    const char c = text_[next_++];
    if (c == '"') {
      if (next_ < text_.size() && text_[next_] == '"') {
        ++next_;
      } else {
        break;
      }
    } else if (c == '\n') {
      ++line_;
      line_start_ = next_;
    }
    text_[write++] = c;
  }
  field.text = {text_.data() + begin, write - begin};
  while (next_ < text_.size() && is_blank(text_[next_]) && text_[next_] != options_.delimiter) ++next_;
  if (next_ < text_.size() && text_[next_] != options_.delimiter && text_[next_] != '\n' &&
      text_[next_] != '\r') {
    const std::size_t line = line_;
    const std::size_t column = next_ - line_start_ + 1;
    skip_line();
    fail(line, column, "text after the closing quote (a quote within a quoted field is written twice)");
  }
  return field;
}

// A lone CR ends a line too.
void CsvFile::skip_line() {
  while (next_ < text_.size() && text_[next_] != '\n' && text_[next_] != '\r') ++next_;
  if (next_ < text_.size() && text_[next_++] == '\r' && next_ < text_.size() && text_[next_] == '\n') ++next_;
  ++line_;
  line_start_ = next_;
}

void CsvFile::fail(std::size_t line, std::size_t column, std::string problem) {
  throw CsvError(name_, line, column, std::move(problem));
}

std::optional<double> csv_number(std::string_view field) {
  field = trim(field);
  if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::string csv_escape(std::string_view field, char delimiter) {
  const bool quote = field.find_first_of("\"\r\n") != std::string_view::npos ||
                     field.find(delimiter) != std::string_view::npos ||
                     (!field.empty() && (is_blank(field.front()) || is_blank(field.back())));
  if (!quote) return std::string(field);
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
  return out;
}

std::string csv_line(const std::vector<std::string>& fields, char delimiter) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += delimiter;
    line += csv_escape(fields[i], delimiter);
  }
  line += '\n';
  return line;
}

}  // namespace trainfront::inputs
