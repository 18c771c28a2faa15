#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "inputs/hf_config.hpp"
#include "sweep_text.hpp"

using namespace trainfront::inputs;

namespace {

std::string file_text(const std::string& name) {
  std::ifstream stream(std::string(TRAINFRONT_SOURCE_DIR "/inputs/examples/") + name, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Damages a text a little: what a slip, a bad copy or a hostile hand might do.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::uint64_t i = 0, edits = 1 + below(3); i < edits; ++i) edit(text);
    return text;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }

  void edit(std::string& text) {
    static const std::vector<std::string> kTokens = {"\"",
                                                     "'",
                                                     "[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     "=",
                                                     ",",
                                                     ".",
                                                     "\n",
                                                     "\r\n",
                                                     "#",
                                                     "\\",
                                                     "\"\"\"",
                                                     "[[",
                                                     "]]",
                                                     "-",
                                                     "+",
                                                     "0",
                                                     "1e400",
                                                     "nan",
                                                     "inf",
                                                     "-inf",
                                                     "9223372036854775807",
                                                     "9223372036854775808",
                                                     "-9223372036854775808",
                                                     "1e308",
                                                     "0x7fffffffffffffff",
                                                     "true",
                                                     "\"auto\"",
                                                     "{min = 1, max = 1000000000}",
                                                     "{min = -5, max = 3, step = 0}",
                                                     "[]",
                                                     "[[]]",
                                                     "{}",
                                                     "\xff",
                                                     "\xc3\x28",
                                                     "中",
                                                     "\0",
                                                     "1979-05-27",
                                                     "\"1h\"",
                                                     "\"1GB/s\"",
                                                     "\"\"",
                                                     "[model]\n",
                                                     "[market]\n",
                                                     "[[market.offer]]\n",
                                                     "a.b.c = 1\n",
                                                     "1_000"};
    const std::size_t at = below(text.size() + 1);
    switch (below(8)) {
      case 0:  // one byte changed
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 1:  // a few bytes lost
        text.erase(at, below(8));
        break;
      case 2:  // the end lost
        text.resize(at);
        break;
      case 3:  // a piece doubled
        text.insert(at, text.substr(below(text.size() + 1), below(60)));
        break;
      case 4: {  // a line moved
        const std::string line = take_line(text);
        text.insert(line_begin(text, below(text.size() + 1)), line);
        break;
      }
      case 5:  // a line lost
        take_line(text);
        break;
      case 6: {  // another value
        const std::size_t equals = text.find('=', at);
        if (equals == std::string::npos) break;
        const std::size_t end = std::min(text.find('\n', equals), text.size());
        text.replace(equals + 1, end - equals - 1, fmt::format(" {}", kTokens[below(kTokens.size())]));
        break;
      }
      default:
        text.insert(at, kTokens[below(kTokens.size())]);
    }
  }

  static std::size_t line_begin(const std::string& text, std::size_t at) {
    const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    return before == std::string::npos ? 0 : before + 1;
  }

  std::string take_line(std::string& text) {
    const std::size_t begin = line_begin(text, below(text.size() + 1));
    const std::size_t end = text.find('\n', begin);
    const std::size_t size = end == std::string::npos ? text.size() - begin : end + 1 - begin;
    std::string line = text.substr(begin, size);
    text.erase(begin, size);
    return line;
  }

  std::mt19937_64 random_;
};

// Fine, or refused with faults that say where and what; anything else fails the test.
struct Tally {
  int fine = 0;
  int refused = 0;
};

void try_sweep(const std::string& text, Tally& tally) {
  const Attempt read = attempt(text);
  if (read.list.empty()) {
    ++tally.fine;
    const auto& problem = read.problem();
    CHECK(!problem.hardware.empty());
    CHECK(!problem.gpus.empty());
    CHECK(!problem.protections.empty());
    CHECK(problem.recipe.tokens > 0);
    CHECK(problem.model.layers > 0);
    return;
  }
  ++tally.refused;
  CHECK(!read.faults.empty());
  for (const Fault& fault : read.list) {
    CHECK(!fault.file.empty());
    CHECK(!fault.problem.empty());
  }
}

}  // namespace

TEST_CASE("thousands of damaged sweep files are read or refused, never more") {
  for (const char* example : {"llama-3.1-405b.toml", "llama-3.1-8b.toml", "qwen3-235b-a22b.toml"}) {
    const std::string text = file_text(example);
    REQUIRE(!text.empty());
    Tally tally;
    Mutator mutator(20240914);
    for (int i = 0; i < 1500; ++i) try_sweep(mutator.mutate(text), tally);
    CHECK(tally.refused > 500);
    CHECK(tally.fine > 50);
  }
}

TEST_CASE("every beginning of a sweep file is read or refused") {
  const std::string text = file_text("llama-3.1-8b.toml");
  Tally tally;
  for (std::size_t size = 0; size < text.size(); size += 3) try_sweep(text.substr(0, size), tally);
  CHECK(tally.refused > 100);
}

TEST_CASE("bytes without sense are refused") {
  std::mt19937_64 random(7);
  Tally tally;
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 300, ' ');
    for (char& byte : bytes) byte = static_cast<char>(random() % 256);
    try_sweep(bytes, tally);
  }
  CHECK(tally.fine == 0);
}

TEST_CASE("thousands of damaged configs are read or refused, never more") {
  const std::string text = file_text("llama-3.1-405b.json");
  REQUIRE(!text.empty());
  Mutator mutator(5);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    Diagnostics faults;
    std::vector<std::string> notes;
    const auto model = parse_hf_config(mutator.mutate(text), "config.json", "x", faults, notes).model;
    if (!faults.empty()) ++refused;
    if (faults.empty()) CHECK(model.layers > 0);
  }
  CHECK(refused > 1000);
  CHECK(refused < 5000);
}

TEST_CASE("large files are read in the time they deserve") {
  std::string keys = "[model]\n";
  for (int i = 0; i < 100000; ++i) keys += fmt::format("key{} = {}\n", i, i);
  const Attempt read = attempt(keys);
  CHECK(read.list.size() <= 1000);
  CHECK(has(read.faults, "more"));

  std::string list = "[cluster]\ngpus = [1";
  for (int i = 2; i < 200000; ++i) list += fmt::format(",{}", i);
  CHECK(has(attempt(list + "]\n").faults, "cluster.gpus: is too long"));

  std::string texts = "[market]\nproviders = [\"x\"";
  for (int i = 0; i < 20000; ++i) texts += fmt::format(",\"p{}\"", i);
  CHECK(!attempt(texts + "]\n").list.empty());

  std::string offers;
  for (int i = 0; i < 5000; ++i) offers += fmt::format("[[market.offer]]\nprovider = \"p{}\"\n", i);
  CHECK(!attempt(offers).list.empty());

  std::string broken = "[model]\n";
  for (int i = 0; i < 20000; ++i) broken += "a = = 1\n";
  CHECK(attempt(broken).list.size() <= 30);
}
