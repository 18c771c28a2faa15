#include "engine/checkpoint.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/fingerprint.hpp"
#include "tests/engine/folder.hpp"

using namespace trainfront::engine;
namespace search = trainfront::search;
using trainfront::tests::Folder;

namespace {

Snapshot some_snapshot() {
  Snapshot snapshot;
  snapshot.program = 11;
  snapshot.problem = 22;
  snapshot.plans = std::uint64_t{5} << 33;
  snapshot.blocks = 100;
  snapshot.elapsed_s = 12.5;
  snapshot.runs = 3;
  for (int i = 0; i < 50; ++i) {
    snapshot.harvest.front.add({1.0 + i, 100.0 - i, static_cast<std::uint64_t>(i) << 40});
  }
  snapshot.harvest.counts.plans = std::uint64_t{3} << 33;
  snapshot.harvest.counts.illegal[4] = 7;
  snapshot.harvest.counts.pruned[2] = 9;
  snapshot.harvest.least_memory_excess = search::NearMiss{1e9, 77};
  snapshot.done.add({0, 40});
  snapshot.done.add({50, 60});
  return snapshot;
}

}  // namespace

TEST_CASE("a checkpoint reads back as it was written") {
  const Folder folder;
  const Snapshot written = some_snapshot();
  save_checkpoint(folder / "c", written);
  const std::optional<Snapshot> read = load_checkpoint(folder / "c", written);
  REQUIRE(read.has_value());
  CHECK(read->harvest.front == written.harvest.front);
  CHECK(read->harvest.counts.plans == written.harvest.counts.plans);
  CHECK(read->harvest.counts.illegal == written.harvest.counts.illegal);
  CHECK(read->harvest.counts.pruned == written.harvest.counts.pruned);
  CHECK(read->harvest.least_memory_excess->index == 77);
  CHECK(read->done == written.done);
  CHECK(read->elapsed_s == 12.5);
  CHECK(read->runs == 3);
}

TEST_CASE("no file is no checkpoint") {
  const Folder folder;
  CHECK_FALSE(load_checkpoint(folder / "none", some_snapshot()).has_value());
}

TEST_CASE("a checkpoint cut at any length is refused, never misread") {
  const Folder folder;
  save_checkpoint(folder / "c", some_snapshot());
  const std::string whole = read_file(folder / "c");
  for (std::size_t length = 0; length < whole.size(); length += length < 80 ? 1 : 97) {
    CAPTURE(length);
    write_file(folder / "cut", whole.substr(0, length));
    CHECK_THROWS_AS(load_checkpoint(folder / "cut", some_snapshot()), UsageError);
  }
}

TEST_CASE("a checkpoint with any one byte changed is refused") {
  const Folder folder;
  save_checkpoint(folder / "c", some_snapshot());
  const std::string whole = read_file(folder / "c");
  for (std::size_t at = 0; at < whole.size(); at += at < 80 ? 1 : 53) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_file(folder / "d", damaged);
    CHECK_THROWS_AS(load_checkpoint(folder / "d", some_snapshot()), UsageError);
  }
}

TEST_CASE("a checkpoint that goes on behind its end is damaged, not cut short") {
  const Folder folder;
  save_checkpoint(folder / "c", some_snapshot());
  write_file(folder / "d", read_file(folder / "c") + "x");
  CHECK_THROWS_WITH(load_checkpoint(folder / "d", some_snapshot()), doctest::Contains("damaged"));
  const std::string whole = read_file(folder / "c");
  write_file(folder / "cut", whole.substr(0, whole.size() - 1));
  CHECK_THROWS_WITH(load_checkpoint(folder / "cut", some_snapshot()), doctest::Contains("cut short"));
}

TEST_CASE("what a checkpoint was not written for is named") {
  const Folder folder;
  save_checkpoint(folder / "c", some_snapshot());
  Snapshot other = some_snapshot();
  other.problem = 1;
  CHECK_THROWS_WITH(load_checkpoint(folder / "c", other), doctest::Contains("the input has changed"));
  other = some_snapshot();
  other.program = 1;
  CHECK_THROWS_WITH(load_checkpoint(folder / "c", other), doctest::Contains("another build"));
  other = some_snapshot();
  other.blocks = 1;
  CHECK_THROWS_WITH(load_checkpoint(folder / "c", other), doctest::Contains("another space"));
  write_file(folder / "text", "hello\nworld\n");
  CHECK_THROWS_WITH(load_checkpoint(folder / "text", other), doctest::Contains("not a checkpoint"));
  write_file(folder / "new", "trainfront-checkpoint 99 0 0\n");
  CHECK_THROWS_WITH(load_checkpoint(folder / "new", other), doctest::Contains("version 99"));
}

TEST_CASE("a file is replaced as a whole, and nothing stays beside it") {
  const Folder folder;
  write_file(folder / "f", "first");
  write_file(folder / "f", "second");
  CHECK(read_file(folder / "f") == "second");
  const std::filesystem::directory_iterator begin(folder.path());
  CHECK(std::distance(begin, std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("a full disk is said, and leaves the former file") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Folder folder;
  CHECK_THROWS_AS(write_file(folder.path() / "missing" / "f", "x"), MachineError);
  CHECK_THROWS_WITH_AS(make_writable_folder("/dev/full/out"), doctest::Contains("/dev/full/out"),
                       MachineError);
  write_file(folder / "f", "here");
  CHECK_THROWS_AS(make_writable_folder(folder / "f"), MachineError);
  CHECK(read_file(folder / "f") == "here");
}

TEST_CASE("the fingerprint is FNV-1a") {
  // Test vectors of the authors: http://www.isthe.com/chongo/src/fnv/test_fnv.c
  CHECK(fingerprint("") == 0xcbf29ce484222325);
  CHECK(fingerprint("a") == 0xaf63dc4c8601ec8c);
  CHECK(fingerprint("foobar") == 0x85944171f73967e8);
  CHECK(fingerprint("bar", fingerprint("foo")) == fingerprint("foobar"));
}
