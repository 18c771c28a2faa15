#pragma once

#include <vector>

#include "search/problem.hpp"

namespace trainfront::inputs {

// Adds an offer to the class of its hardware, which is made if there is none. Two offers share a class if the
// cost model cannot tell their nodes apart.
void add_offer(std::vector<search::HardwareClass>& classes, const costmodel::Hardware& hardware,
               costmodel::Offer offer);

// Puts classes and the offers of each in an order that depends on what they are alone: equal input, equal
// plans.
void sort_classes(std::vector<search::HardwareClass>& classes);

}  // namespace trainfront::inputs
