#include "costmodel/pipeline_time.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

using Stages = std::vector<StageTime>;

Stages equal(int count, double forward, double input, double weight) {
  return Stages(static_cast<std::size_t>(count), {forward, input, weight});
}

// One chunk has no layer, so that any transfer is longer than its passes.
TEST_CASE("an interleaved flush takes at least the busiest stage's work, however long its transfers") {
  Stages chunks = equal(8, 1, 1, 1);
  chunks[3] = {0.01, 0.01, 0};
  chunks[6] = {3, 3, 3};
  for (const double transfer_s : {0.0, 0.02, 0.5, 2.0}) {
    CAPTURE(transfer_s);
    const PipelineCurve curve = interleaved_curve(chunks, 4, transfer_s);
    for (const int groups : {1, 2, 3, 4, 7, 64, 1000}) {
      CAPTURE(groups);
      CHECK(curve.time(4 * groups) >= 4 * groups * (3 + 9) * (1 - 1e-12));
    }
  }
}

TEST_CASE("equal stages: m + p - 1 slots under GPipe and 1F1B (arXiv 2104.04473, section 2.2)") {
  for (const int p : {1, 2, 3, 8}) {
    for (const int m : {1, 2, 5, 8, 9, 64}) {
      const double slots = m + p - 1;
      CHECK(gpipe_time(equal(p, 1, 1, 1), m) == near(3 * slots));
      CHECK(one_f_one_b_time(equal(p, 1, 1, 1), m) == near(3 * slots));
      const PipelineCurve curve = one_f_one_b_curve(equal(p, 1, 1, 1));
      if (m >= curve.min_micro_batches) CHECK(curve.time(m) == near(3 * slots));
    }
  }
}

TEST_CASE("interleaving divides the bubble by the number of chunks") {
  // v chunks of a third each: m p v + p - 1 chunk slots of 1.
  for (const int p : {2, 4, 8}) {
    for (const int v : {2, 3, 5}) {
      const PipelineCurve curve = interleaved_curve(equal(p * v, 1, 1, 1), p, 0);
      for (const int groups : {1, 2, 7}) {
        const int m = groups * p;
        CHECK(curve.time(m) == near(3.0 * (m * v + p - 1)));
      }
    }
  }
}

TEST_CASE("interleaved transfers of c each way add (v p - 1) 2 c when nothing hides the ring's ends") {
  const PipelineCurve curve = interleaved_curve(equal(4 * 3, 1, 2, 0), 4, 0.1);
  CHECK(curve.time(16) == near((16 * 3 + 3) * 3 + (3 * 4 - 1) * 0.2));
}

TEST_CASE("two stages by hand: a heavier last stage paces 1F1B and the first one fills and drains") {
  // Stage 0: 1 + 2, stage 1: 2 + 4. m = 3: F0 ends at 1; stage 1 works from 1 to 19 without a gap; B of the
  // last micro-batch on stage 0 takes 2 more.
  const Stages stages{{1, 1, 1}, {2, 2, 2}};
  CHECK(one_f_one_b_time(stages, 3) == 21);
  CHECK(one_f_one_b_curve(stages).time(3) == 21);
  CHECK(gpipe_time(stages, 3) == 21);
}

TEST_CASE("zero bubble: m (f+b+w) + (p-1)(f+b-w) on equal stages (arXiv 2401.10241, section 2.2)") {
  for (const int p : {1, 2, 4, 8}) {
    for (const int m : {8, 16, 17, 40}) {
      if (m < p) continue;
      const Stages stages = equal(p, 3, 3, 2);
      CHECK(zero_bubble_time(stages, m) == 8 * m + (p - 1) * 4);
      const PipelineCurve curve = zero_bubble_curve(stages);
      if (m >= curve.min_micro_batches) CHECK(curve.time(m) == 8 * m + (p - 1) * 4);
    }
  }
}

TEST_CASE("a curve drops lines that others cover") {
  PipelineCurve curve;
  curve.add({1, 2});
  curve.add({0, 1});
  CHECK(curve.count == 1);
  curve.add({5, 1});
  CHECK(curve.count == 2);
  curve.add({6, 3});
  CHECK(curve.count == 1);
  CHECK(curve.slope() == 3);
}

TEST_CASE("of too many lines those remain that are highest at a typical m") {
  PipelineCurve curve;
  for (int i = 0; i < 20; ++i) curve.add({100.0 - i, 1.0 + i});
  CHECK(curve.count == PipelineCurve::kMaxLines);
  CHECK(curve.time(4) == 81 + 4 * 20);  // the last line is the highest there and stays
}

TEST_CASE("pipelines deeper than the tables are infinitely slow, not wrong") {
  CHECK(std::isinf(one_f_one_b_time(equal(kMaxStages + 1, 1, 1, 1), 1000)));
  CHECK(std::isinf(one_f_one_b_curve(equal(kMaxStages + 1, 1, 1, 1)).time(1000)));
}

}  // namespace
}  // namespace trainfront::costmodel
