#pragma once

#include <string>
#include <vector>

#include "inputs/catalog.hpp"
#include "inputs/measurements.hpp"

namespace trainfront::engine {

// One measurement of an operator beside what the catalogue's device profile says of it, in a burst.
struct OperatorRow {
  std::string group;    // device, operation, precision
  std::string harness;  // who measured it
  std::string point;    // its sizes: equal for equal work
  double measured_s = 0, predicted_s = 0;

  double error() const { return predicted_s / measured_s - 1; }
};

// Collectives of fewer bytes make groups of their own: latency rules them, and the choice of protocol.
inline constexpr double kSmallMessage = 65536;

// Rows of all devices that the catalogue knows. Measurements across nodes without a network in the catalogue,
// and those of harnesses that did not use the fabric they name, are counted under not_modelled.
std::vector<OperatorRow> predict_operators(const inputs::Catalog& catalog,
                                           inputs::Measurements& measurements);

}  // namespace trainfront::engine
