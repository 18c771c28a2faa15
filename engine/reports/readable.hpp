#pragma once

#include <string>

#include "engine/reports/plan_row.hpp"

namespace trainfront::engine {

// For people; files and JSON carry exact numbers.

// 999; 12.3 k; 1.23 G.
std::string readable_count(double count);
// 45 s, 3 min 20 s, 5 h 02 min, 12.3 d.
std::string readable_duration(double seconds);
// $12.3M, $850k, $3.20, $0.0040: three digits, and never $0.00 for what is not free.
std::string readable_money(double usd);
// 79.7 GB (1e9 bytes).
std::string readable_bytes(double bytes);
// 41.2 %.
std::string readable_percent(double share);

// "aws us-east-1 p5.48xlarge spot"; where the price is a zone's, "aws us-east-1/us-east-1a p5.48xlarge spot".
std::string readable_offer(const costmodel::Offer& offer);
// "tp8 sp cp4 all_gather pp16 vpp2 dp64 zero1 mb1 recompute selective mlp": degrees of 1 are left out, and
// the kind of context parallelism where it is a ring.
std::string readable_layout(const costmodel::Layout& layout);
// For narrow columns: "aws us-east-1 spot"; "tp8 sp pp16 vpp2 dp64 zero1 mb1 rc-selective", where the
// schedule is left out if it is 1F1B, or interleaved for vpp above 1.
std::string short_offer(const costmodel::Offer& offer);
std::string short_layout(const costmodel::Layout& layout);
// "checkpoint", "spare r=9", "spares +2 nodes".
std::string readable_protection(const faults::Protection& protection);

}  // namespace trainfront::engine
