#pragma once

#include <vector>

#include "costmodel/breakdown.hpp"

namespace trainfront::costmodel {

// What the times of a step's parts rest on: for each part that the layout has, the worst of what its
// operations rest on.
struct PartEvidence {
  PathPart part = PathPart::kGemm;
  Evidence evidence = Evidence::kCalibrated;
};
std::vector<PartEvidence> part_evidence(const Model& model, const Recipe& recipe, const Layout& layout,
                                        const Hardware& hardware, const FrameworkProfile& framework);

}  // namespace trainfront::costmodel
