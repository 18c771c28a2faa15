#include "engine/reports/readable.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace trainfront::engine;

TEST_CASE("counts are read at a glance") {
  CHECK(readable_count(0) == "0");
  CHECK(readable_count(999) == "999");
  CHECK(readable_count(1000) == "1.00 k");
  CHECK(readable_count(12345) == "12.3 k");
  CHECK(readable_count(999999) == "1.00 M");
  CHECK(readable_count(2.5e12) == "2.50 T");
  CHECK(readable_count(1.8e19) == "18.0 E");
}

TEST_CASE("durations are read at a glance") {
  CHECK(readable_duration(0) == "0 s");
  CHECK(readable_duration(0.25) == "0.250 s");
  CHECK(readable_duration(5.018) == "5.02 s");
  CHECK(readable_duration(9.999) == "10.0 s");
  CHECK(readable_duration(59.4) == "59.4 s");
  CHECK(readable_duration(59.96) == "1 min 00 s");
  CHECK(readable_duration(3725) == "1 h 02 min");
  CHECK(readable_duration(12.26 * 86400) == "12.3 d");
  CHECK(readable_duration(INFINITY) == "never");
}

TEST_CASE("money shows three digits, and something that is not free never as $0.00") {
  CHECK(readable_money(0) == "$0.00");
  CHECK(readable_money(0.004) == "$0.00400");
  CHECK(readable_money(3.2) == "$3.20");
  CHECK(readable_money(998.5) == "$998.50");
  CHECK(readable_money(850000) == "$850k");
  CHECK(readable_money(12345678) == "$12.3M");
  CHECK(readable_money(9996e3) == "$10.0M");
  CHECK(readable_money(2.5e9) == "$2.50B");
}

TEST_CASE("what is next to nothing is not shown with all its zeros") {
  CHECK(readable_duration(5e-324) == "4.94e-324 s");
  CHECK(readable_money(5e-324) == "$4.94e-324");
  CHECK(readable_duration(1.5e-9) == "0.00000000150 s");
}

TEST_CASE("a layout names what is not 1") {
  trainfront::costmodel::Layout layout;
  layout.tp = 8;
  layout.sp = true;
  layout.pp = 16;
  layout.vpp = 2;
  layout.dp = 64;
  layout.schedule = trainfront::costmodel::Schedule::kInterleaved;
  layout.recompute = trainfront::costmodel::Recompute::kSelective;
  CHECK(readable_layout(layout) == "tp8 sp pp16 vpp2 dp64 zero1 mb1 recompute selective interleaved");
  CHECK(short_layout(layout) == "tp8 sp pp16 vpp2 dp64 zero1 mb1 rc-selective");
  layout.vpp = 1;
  layout.schedule = trainfront::costmodel::Schedule::kZeroBubble;
  CHECK(short_layout(layout) == "tp8 sp pp16 dp64 zero1 mb1 zero_bubble rc-selective");
  layout.modules.add(trainfront::costmodel::RecomputeModule::kMlp);
  layout.cp = 16;
  CHECK(readable_layout(layout) == "tp8 sp cp16 pp16 dp64 zero1 mb1 recompute selective mlp zero_bubble");
  layout.cp_type = trainfront::costmodel::ContextExchange::kAllToAllRing;
  layout.cp_heads = 8;
  CHECK(readable_layout(layout) ==
        "tp8 sp cp16 all_to_all_ring 8 pp16 dp64 zero1 mb1 recompute selective mlp zero_bubble");
  CHECK(short_layout(layout) == "tp8 sp cp16 all_to_all_ring 8 pp16 dp64 zero1 mb1 zero_bubble rc-mlp");
}

TEST_CASE("spare nodes are counted in words") {
  using trainfront::faults::Scheme;
  trainfront::faults::Protection protection;
  protection.scheme = Scheme::kSpares;
  protection.spares = 1;
  CHECK(readable_protection(protection) == "spares +1 node");
  protection.scheme = Scheme::kSpare;
  protection.r = 9;
  protection.spares = 2;
  CHECK(readable_protection(protection) == "spare r=9 +2 spare nodes");
}
