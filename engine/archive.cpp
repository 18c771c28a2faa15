#include "engine/archive.hpp"

#include <boost/archive/archive_exception.hpp>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/array_wrapper.hpp>
#include <sstream>

#include "engine/errors.hpp"

namespace trainfront::engine {
namespace {

// Every type once, in both directions; `Archive` saves or loads.
template <typename Archive, typename Struct>
void items(Archive& archive, std::vector<Struct>& values) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  std::uint64_t count = values.size();
  archive& count;
  if constexpr (Archive::is_loading::value) {
    // Grows piece by piece: a damaged count must not take all memory before the end of the bytes is met.
    constexpr std::uint64_t kPiece = 1 << 20;
    values.clear();
    for (std::uint64_t at = 0; at < count; at += kPiece) {
      const std::uint64_t piece = std::min(kPiece, count - at);
      values.resize(static_cast<std::size_t>(at + piece));
      archive.load_binary(values.data() + at, static_cast<std::size_t>(piece) * sizeof(Struct));
    }
  } else {
    archive.save_binary(values.data(), values.size() * sizeof(Struct));
  }
}

template <typename Archive>
void item(Archive& archive, search::Front& front) {
  std::vector<search::Point> points(front.points().begin(), front.points().end());
  items(archive, points);
  if constexpr (Archive::is_loading::value) {
    front = {};
    for (const search::Point& point : points) front.add(point);
  }
}

template <typename Archive>
void item(Archive& archive, search::Counts& counts) {
  archive& counts.plans& counts.out_of_memory& counts.non_finite& counts.struck_too_often& counts.evaluated;
  for (std::uint64_t& count : counts.illegal) archive& count;
  for (std::uint64_t& count : counts.pruned) archive& count;
}

template <typename Archive>
void item(Archive& archive, search::Harvest& harvest) {
  item(archive, harvest.front);
  item(archive, harvest.counts);
  bool near_miss = harvest.least_memory_excess.has_value();
  archive& near_miss;
  search::NearMiss miss = harvest.least_memory_excess.value_or(search::NearMiss{});
  archive& miss.excess_bytes& miss.index;
  if (near_miss) harvest.least_memory_excess = miss;
}

template <typename Archive>
void item(Archive& archive, BlockRanges& blocks) {
  std::vector<BlockRange> ranges = blocks.ranges();
  items(archive, ranges);
  if constexpr (Archive::is_loading::value) {
    blocks.clear();
    for (const BlockRange& range : ranges) blocks.add(range);
  }
}

template <typename Archive>
void item(Archive& archive, Report& report) {
  item(archive, report.harvest);
  item(archive, report.done);
  archive& report.last;
}

template <typename Archive>
void item(Archive& archive, Snapshot& snapshot) {
  archive& snapshot.program& snapshot.problem& snapshot.plans& snapshot.blocks& snapshot.elapsed_s& snapshot
      .runs;
  item(archive, snapshot.harvest);
  item(archive, snapshot.done);
}

constexpr unsigned kFlags = boost::archive::no_header | boost::archive::no_codecvt;

template <typename T>
std::string pack_any(T value) {
  std::ostringstream stream(std::ios::binary);
  boost::archive::binary_oarchive archive(stream, kFlags);
  item(archive, value);
  return std::move(stream).str();
}

template <typename T>
T unpack_any(const std::string& bytes, const char* what) {
  try {
    std::istringstream stream(bytes, std::ios::binary);
    boost::archive::binary_iarchive archive(stream, kFlags);
    T value;
    item(archive, value);
    return value;
  } catch (const boost::archive::archive_exception& error) {
    throw MachineError(std::string(what) + " cannot be read: " + error.what());
  }
}

}  // namespace

void Report::merge(const Report& other) {
  harvest.merge(other.harvest);
  done.add(other.done);
}

std::string pack(const Report& report) {
  return pack_any(report);
}
std::string pack(const Snapshot& snapshot) {
  return pack_any(snapshot);
}
std::string pack(const search::Front& front) {
  return pack_any(front);
}
Report unpack_report(const std::string& bytes) {
  return unpack_any<Report>(bytes, "a report");
}
Snapshot unpack_snapshot(const std::string& bytes) {
  return unpack_any<Snapshot>(bytes, "a checkpoint");
}
search::Front unpack_front(const std::string& bytes) {
  return unpack_any<search::Front>(bytes, "a front");
}

}  // namespace trainfront::engine
