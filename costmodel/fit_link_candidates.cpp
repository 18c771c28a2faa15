#include "costmodel/fit_link_candidates.hpp"

#include <algorithm>

namespace trainfront::costmodel {
namespace {

constexpr std::size_t kEnough = kLeastTableSamples * 5 / 4;  // a fifth less in a fold must still give a table

// Those that so many samples, and so many of a companion, can give.
std::vector<Shape> shapes_of(bool by_library, std::size_t samples, std::size_t companions) {
  std::vector<Shape> shapes;
  if (samples >= kLeastTableSamples) {
    shapes = {Shape::kStepBySize, Shape::kStepByShare, Shape::kStepByRanks};
    if (companions >= kEnough) shapes.push_back(Shape::kCompanion);
  }
  if (by_library && samples >= kLeastLibrarySamples) shapes.push_back(Shape::kByLibrary);
  if (by_library && std::min(samples, companions) >= kLeastLibrarySamples)
    shapes.push_back(Shape::kByLibraryBeside);
  return shapes;
}

}  // namespace

const char* LinkCandidate::name() const {
  if (basis == LinkBasis::kEarlierTable) return "table, as profile's";
  if (basis == LinkBasis::kRelatives) return "table, as relatives'";
  switch (shape) {
    case Shape::kForm:
      return "table";
    case Shape::kCompanion:
      return "table, as companion";
    case Shape::kByLibrary:
      return "table, library's protocols";
    case Shape::kByLibraryBeside:
      return "table, library's protocols, as companion";
    default:
      return "table, two protocols";
  }
}

std::vector<LinkCandidate> link_candidates(bool by_library, const LinkCandidateCounts& counts,
                                           bool has_earlier_table) {
  std::vector<LinkCandidate> candidates;
  for (const Shape shape : shapes_of(by_library, counts.own, counts.companion))
    candidates.push_back({LinkBasis::kOwn, shape});
  if (has_earlier_table) candidates.push_back({LinkBasis::kEarlierTable, Shape::kForm});
  if (counts.relatives < kEnough) return candidates;
  candidates.push_back({LinkBasis::kRelatives, Shape::kForm});
  for (const Shape shape : shapes_of(by_library, counts.relatives, counts.relatives_companion))
    candidates.push_back({LinkBasis::kRelatives, shape});
  return candidates;
}

}  // namespace trainfront::costmodel
