#pragma once

#include <string>

#include "search/problem.hpp"

namespace trainfront::engine {

// A problem with only those plans that a text like "tp=8,pp=4,dp=16,device=h100-sxm,protection=spare,r=9"
// allows: what it does not name stays open. Keys are the column names of front.csv that describe a plan;
// values of the sweep file need not contain the text's. With dp and a whole layout, the GPU count follows.
// Throws UsageError for an unknown key (with the nearest), a value that is none, or an offer, device or
// protection that the problem lacks.
search::Problem narrow(const search::Problem& problem, const std::string& text);

}  // namespace trainfront::engine
