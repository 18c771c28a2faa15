#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/memory.hpp"
#include "costmodel/step_time.hpp"
#include "engine/reports/json_writer.hpp"
#include "search/front.hpp"
#include "search/outcome.hpp"
#include "search/plan.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

// Of a run's time and cost, beside the mean.
inline constexpr std::array<double, 4> kQuantiles = {0.1, 0.5, 0.9, 0.95};
// Of runs with fewer cycles of failures than this the quantiles are rough (docs/failures.md).
inline constexpr double kFewestCycles = 3;
// Where failures come more often than every so many steps, the search's form of the mean is rough.
inline constexpr double kFewestSteps = 5;

// A plan with all that the output says of it, recomputed from its index.
struct PlanRow {
  std::string id;  // by which the user may ask for it: its index
  search::Plan plan;
  search::Outcome outcome;
  costmodel::Offer offer;
  double tokens_per_s_per_gpu = 0;  // of the computing GPUs, without failures
  double mfu = 0;                   // share of the dense peak; see docs/output.md for the FLOPs that count
  costmodel::StepParts step;        // where the step's time goes
  costmodel::Fit fit = costmodel::Fit::kFits;  // of its memory
  std::string_view framework_profile;          // whose constants the step rests on
  bool framework_has_runs = true;              // published ones, behind these constants
  // The time and cost that this share of the runs keep, by kQuantiles.
  std::array<double, 4> quantiles_s{};
  std::array<double, 4> quantiles_usd{};
  double mean_usd = 0;
  std::string_view bottleneck;    // the largest part
  std::string_view top_overhead;  // the largest that is not matrix products or attention
};

// A part of so small a share of its whole is rounding and shown as 0.
inline constexpr double kResidue = 1e-12;

// The plan must be feasible.
PlanRow plan_row(const search::Space& space, std::uint64_t index);
std::vector<PlanRow> plan_rows(const search::Space& space, const search::Front& front);

// The named parts of a step, in the output's order.
struct NamedPart {
  std::string_view name;
  double seconds = 0;
};
std::vector<NamedPart> named_parts(const costmodel::StepParts& parts);

// Receives the fields of a row one by one, in the order of the output.
class FieldSink {
 public:
  virtual ~FieldSink() = default;
  virtual void text(std::string_view name, std::string_view value) = 0;
  virtual void real(std::string_view name, double value) = 0;
  virtual void integer(std::string_view name, std::int64_t value) = 0;
  virtual void truth(std::string_view name, bool value) = 0;
};
void write_fields(const PlanRow& row, FieldSink& sink);

// The row as an object; the caller has begun it.
void write_row(const PlanRow& row, JsonWriter& json);

}  // namespace trainfront::engine
