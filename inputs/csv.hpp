#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainfront::inputs {

// A CSV file that breaks the format: what() is "file:line:column: problem". Lines and columns (in bytes)
// from 1.
class CsvError : public std::runtime_error {
 public:
  CsvError(std::string file, std::size_t line, std::size_t column, std::string problem);

  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string problem;
};

struct CsvOptions {
  char delimiter = ',';
  char comment = '\0';  // lines that begin with it, outside quotes, are skipped; '\0': there are no comments
};

// Comma-separated values with a header line, as RFC 4180 has it, and what tools write beside it: LF or CRLF,
// a byte-order mark, no newline at the end, blank lines (skipped). Quoted fields keep commas, newlines and
// blanks; unquoted ones lose blanks at both ends. Every record has as many fields as the header.
//
// Reads record by record over a text held in memory; fields are views into it that live as long as the
// CsvFile.
class CsvFile {
 public:
  // Reads a file. std::runtime_error if it cannot be read; CsvError if it has no header, or a header that
  // names a column twice or not at all.
  static CsvFile open(const std::string& path, const CsvOptions& options = {});

  // `name` stands for the file in messages.
  CsvFile(std::string name, std::string text, const CsvOptions& options = {});

  CsvFile(CsvFile&&) = default;
  CsvFile& operator=(CsvFile&&) = default;
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<std::string>& header() const { return header_; }

  // Where a column stands; nothing if the header lacks it.
  std::optional<std::size_t> find_column(std::string_view column) const;

  // The same for a column that must be there: CsvError that names it and those found.
  std::size_t column(std::string_view column) const;

  // Goes to the next record; false at the end. CsvError on a broken record: an unclosed quote, text after a
  // closing quote, too few or too many fields. After such an error next() goes on with the record that
  // follows.
  bool next();

  // Field of the present record. column < header().size().
  std::string_view operator[](std::size_t column) const { return fields_[column].text; }

  // Where the present record, or one of its fields, begins.
  std::size_t line() const { return record_line_; }
  std::size_t line_of(std::size_t column) const { return fields_[column].line; }
  std::size_t column_of(std::size_t column) const { return fields_[column].column; }

  // "file:line" of the present record, for messages.
  std::string position() const;

 private:
  struct Field {
    std::string_view text;
    std::size_t line = 0;
    std::size_t column = 0;
  };

  bool read_record();
  bool is_blank_line() const;
  Field read_field();
  Field read_quoted_field();
  void skip_line();
  [[noreturn]] void fail(std::size_t line, std::size_t column, std::string problem);

  std::string name_;
  std::vector<char> text_;  // quoted fields are unescaped in place; a vector, so that views survive a move
  CsvOptions options_;
  std::size_t next_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;  // offset of the present line's first byte
  std::size_t record_line_ = 0;
  std::vector<Field> fields_;
  std::vector<std::string> header_;
};

// The whole field as a finite decimal number, whatever the locale; nothing if it is empty or anything else.
std::optional<double> csv_number(std::string_view field);

// A field as it must stand in a file: quoted if it holds a delimiter, a quote, a line break, or blanks at an
// end (or is `quote_empty` and empty).
std::string csv_escape(std::string_view field, char delimiter = ',');

// Fields joined to one line, ended by "\n".
std::string csv_line(const std::vector<std::string>& fields, char delimiter = ',');

}  // namespace trainfront::inputs
