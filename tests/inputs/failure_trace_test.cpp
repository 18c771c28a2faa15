#include "inputs/failure_trace.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace trainfront::inputs {
namespace {

std::vector<faults::DatedFailure> read(const std::string& text) {
  Diagnostics faults;
  auto failures = parse_failure_trace(text, "trace.csv", faults);
  faults.throw_if_any();
  return failures;
}

std::string complaint(const std::string& text) {
  Diagnostics faults;
  parse_failure_trace(text, "trace.csv", faults);
  std::string all;
  for (const Fault& fault : faults.faults()) all += to_string(fault) + "\n";
  return all;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a failure trace in durations, in any order, with a column of units or without") {
  const auto failures = read("# seen\nnode,time\nb,2h\na,90\nc,1d12h\n");
  REQUIRE(failures.size() == 3);
  CHECK(failures[0].time_s == 90);
  CHECK(failures[1].time_s == 7200);
  CHECK(failures[2].time_s == 129'600);
  CHECK(failures[2].units == 1);
  CHECK(read("time,units\n10s,3\n")[0].units == 3);
}

TEST_CASE("a failure trace in dates counts from the row of no units") {
  const auto failures =
      read("time,units\n2024-02-28 23:59:30,0\n2024-02-29T00:00:00Z,1\n2024-03-01,2\n2024-02-01,5\n");
  // 2024 has a 29th of February; what came before the start does not count.
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].time_s == 30);
  CHECK(failures[1].time_s == 30 + 86'400);
  CHECK(failures[1].units == 2);
}

TEST_CASE("what is wrong with a failure trace is said with its place") {
  CHECK(has(complaint("when\n1\n"), "time"));
  CHECK(has(complaint("time,units\nsoon,1\n"), "trace.csv:2:1"));
  CHECK(has(complaint("time,units\n-5,1\n"), "is no time"));
  CHECK(has(complaint("time,units\n2023-02-29,1\n"), "is no time"));
  CHECK(has(complaint("time,units\n2023-02-28 24:00:00,1\n"), "is no time"));
  CHECK(has(complaint("time,units\n1,1\n1e30,1\n"), "trace.csv:3:1"));
  CHECK(has(complaint("time,units\n1e30,1\n"), "at most 1e9 s"));
  CHECK(has(complaint("time,units\n99999-01-01,1\n"), "is no time"));
  CHECK(has(complaint("time,units\n5,1.5\n"), "trace.csv:2:3"));
  CHECK(has(complaint("time,units\n5,-1\n"), "whole number from 1"));
  CHECK(has(complaint("time,units\n2024-01-01,1\n"), "no row of 0 units"));
  CHECK(has(complaint("time,units\n5,1\n2024-01-01,1\n"), "unlike the rows above"));
  CHECK(has(complaint("time,units\n5,0\n7,0\n9,1\n"), "more than one row of 0 units"));
  CHECK(has(complaint("time,units\n"), "no failures"));
  CHECK(has(complaint("time,units\n1,1,1\n"), "trace.csv:2"));
}

}  // namespace trainfront::inputs
