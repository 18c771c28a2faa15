#include "engine/validation/operator_report.hpp"

#include <doctest/doctest.h>

namespace trainfront::engine {
namespace {

OperatorRow row(const char* harness, const char* point, double measured, double predicted) {
  return {"device gemm bf16", harness, point, measured, predicted};
}

}  // namespace

TEST_CASE("the floor is what repeated measurements differ from their median by") {
  // 105 is the median: 5 of 100 and 5 of 110; the single point does not count.
  const std::vector<OperatorScore> scores =
      score_groups({row("a", "1", 100, 100), row("a", "1", 110, 100), row("a", "2", 100, 100)});
  REQUIRE(scores.size() == 1);
  CHECK(scores[0].repeated == 2);
  CHECK(scores[0].repeat_floor == doctest::Approx(100 * (5 / 100.0 + 5 / 110.0) / 2));
  CHECK(scores[0].errors.count == 3);
}

TEST_CASE("harnesses are compared where they measured the same, after one factor each") {
  const std::vector<OperatorRow> rows = {row("a", "1", 1, 1), row("a", "2", 2, 2), row("a", "3", 3, 3),
                                         row("b", "1", 2, 1), row("b", "2", 4, 2), row("b", "3", 9, 3),
                                         row("b", "4", 8, 4)};
  const std::vector<OperatorScore> scores = score_harnesses(rows);
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].name == "device gemm bf16 of a");
  CHECK(scores[0].shared == 3);
  CHECK(scores[0].shared_error == doctest::Approx(100 * 0.5 / 3));  // 4.5 for 3
  CHECK(scores[1].scale == 2);
  CHECK(scores[1].shared == 3);
  CHECK(scores[1].shared_error == doctest::Approx(100 / 3.0 / 3));  // 3 for 4.5
  CHECK(scores[1].after_scale.mean == doctest::Approx(100 / 3.0 / 4));
  CHECK(scores[1].repeated == 0);
}

TEST_CASE("collectives that did not go over the fabric they name are counted, not scored") {
  const inputs::Catalog catalog = inputs::builtin_catalog();
  inputs::Measurements measurements;
  costmodel::Samples& samples = measurements.samples["a100-80gb-sxm"];
  samples.sources = {"over the fabric", "through the host"};
  samples.fabrics = {"IB HDR 8x200Gb/s per node"};
  const auto add = [&](costmodel::Collective collective, int source, double bytes, double seconds) {
    costmodel::CollectiveSample sample{.collective = collective, .bytes = bytes, .seconds = seconds};
    sample.placement = {16, 2, 8};
    sample.nic_bytes_per_s = 25e9;
    sample.source = source;
    samples.collective.push_back(sample);
  };
  // 1 GiB over 2 x 200 GB/s takes about 10 ms; the second source takes ten times as long.
  add(costmodel::Collective::kAllReduce, 0, 1 << 30, 11e-3);
  add(costmodel::Collective::kAllReduce, 0, 1 << 16, 80e-6);
  add(costmodel::Collective::kAllReduce, 1, 1 << 30, 110e-3);
  add(costmodel::Collective::kSendRecv, 1, 1 << 30, 110e-3);
  const std::vector<OperatorRow> rows = predict_operators(catalog, measurements);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].group == "a100-80gb-sxm all_reduce across nodes");
  CHECK(rows[1].group == "a100-80gb-sxm all_reduce across nodes below 1 MiB");
  REQUIRE(measurements.not_modelled.size() == 1);
  const auto& [reason, count] = *measurements.not_modelled.begin();
  CHECK(count == 2);
  CHECK(reason.find("through the host") != std::string::npos);
}

}  // namespace trainfront::engine
