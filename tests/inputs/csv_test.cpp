#include "inputs/csv.hpp"

#include <doctest/doctest.h>

#include <clocale>
#include <filesystem>
#include <string>
#include <vector>

using namespace trainfront::inputs;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(CsvFile csv) {
  Rows rows;
  while (csv.next()) {
    rows.emplace_back();
    for (std::size_t i = 0; i < csv.header().size(); ++i) rows.back().emplace_back(csv[i]);
  }
  return rows;
}

Rows rows_of(std::string text, CsvOptions options = {}) {
  return rows_of(CsvFile("t.csv", std::move(text), options));
}

std::string error_of(std::string text, CsvOptions options = {}) {
  try {
    rows_of(std::move(text), options);
  } catch (const CsvError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("plain records come out field by field") {
  CHECK(rows_of("a,b\n1,2\n3,\n") == Rows{{"1", "2"}, {"3", ""}});
  CHECK(rows_of("a\nx") == Rows{{"x"}});
  CHECK(rows_of("a,b\n").empty());
}

TEST_CASE("quoted fields keep commas, quotes, line breaks and blanks") {
  CHECK(rows_of("a,b\n\"x, y\",\"he said \"\"no\"\"\"\n") == Rows{{"x, y", "he said \"no\""}});
  CHECK(rows_of("a,b\n\"one\ntwo\",\"one\r\ntwo\"\n") == Rows{{"one\ntwo", "one\r\ntwo"}});
  CHECK(rows_of("a,b\n\"  \", \" x \" \n") == Rows{{"  ", " x "}});
  CHECK(rows_of("a\n\"\"\n") == Rows{{""}});
}

TEST_CASE("CRLF, lone CR, a byte-order mark, blank lines and a missing last newline make no difference") {
  const Rows expected{{"1", "2"}, {"3", "4"}};
  CHECK(rows_of("a,b\r\n1,2\r\n3,4\r\n") == expected);
  CHECK(rows_of("a,b\r1,2\r3,4\r") == expected);
  CHECK(rows_of("\xEF\xBB\xBF"
                "a,b\n1,2\n3,4") == expected);
  CHECK(rows_of("\n\na,b\n \t\n1,2\n\n\n3,4\n  ") == expected);
  CHECK(CsvFile("t.csv",
                "\xEF\xBB\xBF"
                "a,b\n")
            .header()
            .front() == "a");
}

TEST_CASE("unquoted fields lose blanks at both ends, and only there") {
  CHECK(rows_of(" a , b \n  x y\t,\t2\n") == Rows{{"x y", "2"}});
}

TEST_CASE("comment lines are skipped where they are asked for, not within quotes") {
  CHECK(rows_of("# one\na,b\n# two, with \"quotes\n1,2\n", {.comment = '#'}) == Rows{{"1", "2"}});
  CHECK(rows_of("a,b\n\"x\n# no comment\",2\n", {.comment = '#'}) == Rows{{"x\n# no comment", "2"}});
  CHECK(rows_of("a,b\n#1,2\n") == Rows{{"#1", "2"}});
}

TEST_CASE("another delimiter can be chosen, a tab too") {
  CHECK(rows_of("a;b\n1,5;2\n", {.delimiter = ';'}) == Rows{{"1,5", "2"}});
  CHECK(rows_of("a\tb\n\t2\n", {.delimiter = '\t'}) == Rows{{"", "2"}});
}

TEST_CASE("names in any script pass through unchanged, whatever the locale") {
  const char* old = std::setlocale(LC_ALL, "C");
  CHECK(rows_of("name\n\"研究室, α 🚀\"\n") == Rows{{"研究室, α 🚀"}});
  std::setlocale(LC_ALL, old);
}

TEST_CASE("a broken file is refused with line and column") {
  CHECK(error_of("") == "t.csv:1:1: the file is empty; a header line that names the columns is needed");
  CHECK(error_of("\n \n") == "t.csv:1:1: the file is empty; a header line that names the columns is needed");
  CHECK(error_of(" ,b\n") == "t.csv:1:2: a column without a name");
  CHECK(error_of("a,a\n") == "t.csv:1:3: column 'a' stands twice in the header");
  CHECK(error_of("a,,b\n") == "t.csv:1:3: a column without a name");
  CHECK(error_of("a,b\n1,2\n1\n") == "t.csv:3:1: 1 fields in this record, 2 in the header");
  CHECK(error_of("a,b\n\n1,2,3\n") == "t.csv:3:1: 3 fields in this record, 2 in the header");
  CHECK(error_of("a,b\n1,\"two\n") == "t.csv:2:3: a quote that is never closed");
  CHECK(error_of("a,b\n\"x\ny\" z,2\n") ==
        "t.csv:3:4: text after the closing quote (a quote within a quoted field is written twice)");
}

TEST_CASE("after a broken record reading goes on with the next") {
  CsvFile csv("t.csv", "a,b\n1\n2,3\n\"x\"y,4\n5,6\n");
  std::vector<std::string> seen;
  int errors = 0;
  for (bool more = true; more;) {
    try {
      more = csv.next();
      if (more) seen.emplace_back(csv[0]);
    } catch (const CsvError&) {
      ++errors;
    }
  }
  CHECK(errors == 2);
  CHECK(seen == std::vector<std::string>{"2", "5"});
}

TEST_CASE("records and fields know where they stand") {
  CsvFile csv("t.csv", "a,b\n\n\"x\ny\", z\n1,2\n");
  REQUIRE(csv.next());
  CHECK(csv.line() == 3);
  CHECK(csv.line_of(1) == 4);
  CHECK(csv.column_of(1) == 5);
  REQUIRE(csv.next());
  CHECK(csv.position() == "t.csv:5");
  CHECK(csv.column_of(1) == 3);
}

TEST_CASE("columns are found by name, and a missing one is named beside those found") {
  const CsvFile csv("t.csv", "x,y\n");
  CHECK(csv.find_column("y") == 1);
  CHECK(!csv.find_column("z"));
  CHECK_THROWS_WITH(csv.column("z"), "t.csv:1:1: no column 'z'; found: x, y");
}

TEST_CASE("fields stay valid when the file object moves") {
  CsvFile csv("t.csv", "a\nvalue\n");
  REQUIRE(csv.next());
  const std::string_view before = csv[0];
  const CsvFile moved = std::move(csv);
  CHECK(before == "value");
  CHECK(moved[0] == "value");
}

TEST_CASE("numbers are read whole, finite and in any locale") {
  CHECK(csv_number("1.5") == 1.5);
  CHECK(csv_number(" -2e3 ") == -2000);
  CHECK(csv_number("+4") == 4);
  for (const char* text :
       {"", " ", "nan", "NaN", "inf", "-inf", "1e400", "1,5", "12x", "0x10", "--1", "+-1", "1 2"})
    CHECK_MESSAGE(!csv_number(text), text);
}

TEST_CASE("what is written reads back the same") {
  const std::vector<std::string> fields = {"plain",        "",   "a,b", "say \"hi\"", "two\nlines",
                                           " blank ends ", "é🚀", "#x",  "\r"};
  std::string header;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) header += ',';
    header += static_cast<char>('a' + i);
  }
  CHECK(rows_of(header + "\n" + csv_line(fields)) == Rows{fields});
  CHECK(csv_escape("plain") == "plain");
  CHECK(csv_escape("a,b") == "\"a,b\"");
  CHECK(csv_escape("a,b", ';') == "a,b");
}

TEST_CASE("a file that cannot be read is named with the system's reason") {
  CHECK_THROWS_WITH(CsvFile::open("no/such/file.csv"),
                    "cannot read no/such/file.csv: No such file or directory");
  CHECK_THROWS(CsvFile::open("."));
}

TEST_CASE("five megabytes are read to the last row") {
  std::string text = "device,m,n,k,us\n";
  std::size_t written = 0;
  for (; text.size() < 5'000'000; ++written) text += "h100-sxm,4096,\"8192\",14336,123.456\n";
  CsvFile csv("big.csv", text);
  std::size_t rows = 0;
  double sum = 0;
  while (csv.next()) {
    ++rows;
    sum += csv_number(csv[4]).value();
  }
  CHECK(rows == written);
  CHECK(sum == doctest::Approx(123.456 * static_cast<double>(rows)));
}

TEST_CASE("the measurement tables at hand are read to the end") {
  const std::filesystem::path folder = std::filesystem::path(TRAINFRONT_DATA_DIR) / "ops";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no folder " << folder.string());
    return;
  }
  CsvFile csv = CsvFile::open((folder / "gemm.csv").string());
  std::size_t rows = 0;
  while (csv.next()) ++rows;
  CHECK(rows > 60000);
}
