#include "search/space.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <stdexcept>

#include "random_problems.hpp"
#include "search/layout_domain.hpp"
#include "search/walk.hpp"
#include "tests/sanitized.hpp"

namespace trainfront::search {
namespace {

using costmodel::Rule;
using costmodel::Schedule;

std::vector<costmodel::Layout> all_of(const LayoutList& list) {
  std::vector<costmodel::Layout> layouts;
  for (std::size_t position = 0; position < list.size(); ++position) layouts.push_back(list[position]);
  return layouts;
}

// Every combination of the choices asked by itself.
std::set<costmodel::Layout> allowed_layouts(const Problem& problem, const costmodel::Hardware& hardware) {
  const LayoutDomain domain{problem, hardware};
  const LayoutChoices& choices = problem.layout;
  std::set<costmodel::Layout> allowed;
  const auto add = [&](costmodel::Layout spelled) {
    spelled = canonical(spelled, problem.model);
    if (check_layout(problem.model, problem.recipe, spelled, hardware) != Rule::kNone) return;
    const auto is_held = [&](std::int64_t gpus) { return gpus % spelled.group_gpus() == 0; };
    const auto divides = [&](std::int64_t batch) { return batch % spelled.micro_batch == 0; };
    if (std::any_of(problem.gpus.begin(), problem.gpus.end(), is_held) &&
        std::any_of(problem.global_batches.begin(), problem.global_batches.end(), divides))
      allowed.insert(spelled);
  };
  for (auto framework : choices.framework)
    for (int tp : chosen_or(choices.tp, domain.tp()))
      for (int cp : chosen_or(choices.cp, domain.cp()))
        for (auto cp_type : domain.cp_type(framework))
          for (int pp : chosen_or(choices.pp, domain.pp()))
            for (int vpp : chosen_or(choices.vpp, domain.vpp(pp)))
              for (auto schedule : chosen_or(choices.schedule, domain.schedule()))
                for (int ep : chosen_or(choices.ep, domain.ep()))
                  for (int etp : chosen_or(choices.etp, domain.etp(tp)))
                    for (bool sp : chosen_or(choices.sp, std::vector<bool>{false, true}))
                      for (int zero : chosen_or(choices.zero, domain.zero()))
                        for (int ranks : chosen_or(choices.shard_group, domain.shard_group()))
                          for (int micro_batch : chosen_or(choices.micro_batch, domain.micro_batch()))
                            for (auto recompute : chosen_or(choices.recompute, domain.recompute()))
                              for (auto modules : domain.recompute_modules(framework)) {
                                costmodel::Layout layout;
                                layout.framework = framework;
                                layout.tp = tp;
                                layout.cp = cp;
                                layout.cp_type = cp_type;
                                layout.pp = pp;
                                layout.vpp = vpp;
                                layout.schedule = schedule;
                                layout.ep = ep;
                                layout.etp = etp;
                                layout.sp = sp;
                                layout.zero = zero;
                                layout.shard_group = ranks;
                                layout.micro_batch = micro_batch;
                                layout.recompute = recompute;
                                layout.modules = modules;
                                if (cp > 1 && cp_type == costmodel::ContextExchange::kAllToAllRing)
                                  layout.cp_heads = widest_head_exchange(problem.model, layout, hardware);
                                add(layout);
                              }
  return allowed;
}

std::uint64_t excluded_by(const Space& space, Rule rule) {
  return space.excluded()[static_cast<std::size_t>(rule)];
}

}  // namespace

TEST_CASE("Index and plan are one to one") {
  RandomProblems problems{21};
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const Space space{problems.next()};
    for (int draw = 0; draw < 300 && space.size() > 0; ++draw) {
      const std::uint64_t index = problems.below(space.size());
      const Plan plan = space.decode(index);
      CHECK(plan.index == index);
      CHECK(space.encode(plan) == index);
    }
  }
}

TEST_CASE("Blocks hold every shape on every hardware and GPU count once, GPU counts of a shape together") {
  RandomProblems problems{22};
  for (int i = 0; i < 40; ++i) {
    const Space space{problems.next()};
    const std::size_t counts = space.problem().gpus.size();
    std::set<std::array<std::size_t, 3>> seen;
    std::uint64_t plans = 0;
    for (std::uint64_t number = 0; number < space.blocks(); ++number) {
      const Block block = space.block(number);
      REQUIRE(block.first_shape < block.last_shape);
      CHECK(block.gpus == number % counts);
      for (std::size_t shape = block.first_shape; shape < block.last_shape; ++shape)
        CHECK(seen.insert({static_cast<std::size_t>(block.hardware), block.gpus, shape}).second);
      Harvest harvest;
      walk(space, number, number + 1, {}, {}, harvest);
      plans += harvest.counts.plans;
    }
    CHECK(plans == space.size());
  }
}

TEST_CASE("Every plan is listed once") {
  Problem problem = small_problem();
  problem.layout = {};
  problem.gpus = {64};
  const Space space{problem};
  const auto layouts = all_of(space.layouts(0));
  CHECK(layouts.size() > 1000);
  CHECK(std::set<costmodel::Layout>(layouts.begin(), layouts.end()).size() == layouts.size());
  CHECK(std::is_sorted(layouts.begin(), layouts.end(), listed_before));
}

TEST_CASE("Sequence parallelism on one tensor rank is no other plan") {
  Problem problem = small_problem();
  problem.layout.tp = {1};
  problem.layout.sp = {false, true};
  const Space both{problem};
  problem.layout.sp = {false};
  CHECK(both.size() == Space{problem}.size());
  Plan plan = both.decode(0);
  plan.layout.sp = true;
  CHECK(both.encode(plan) == 0);
  problem.layout.tp = {2};
  problem.layout.sp = {false, true};
  const Space apart{problem};
  problem.layout.sp = {false};
  CHECK(apart.size() == 2 * Space{problem}.size());
}

TEST_CASE(
    "A schedule without stages, a shard group without shards and one chunk of interleaving are no other "
    "plans") {
  Problem problem = small_problem();
  problem.layout.pp = {1};
  problem.layout.zero = {0};
  const std::uint64_t plain = Space{problem}.size();
  problem.layout.schedule = {Schedule::kGpipe, Schedule::k1f1b, Schedule::kInterleaved};
  problem.layout.shard_group = {0, 8, 16};
  CHECK(Space{problem}.size() == plain);
}

TEST_CASE("A mixture's experts on tensor ranks need sequence parallelism; a dense model's MLP does not") {
  Problem problem = small_problem();
  problem.layout.tp = {2};
  problem.layout.sp = {false};
  CHECK(Space{problem}.size() > 0);
  problem.model = mixture_model();
  problem.layout.etp = {1};
  const Space refused{problem};
  CHECK(refused.size() == 0);
  CHECK(excluded_by(refused, Rule::kSequenceParallel) > 0);
}

TEST_CASE("A tensor degree that does not divide the heads is counted with all plans it stands for") {
  Problem problem = small_problem();
  problem.layout.tp = {1, 2};
  problem.layout.sp = {false};
  const std::uint64_t legal = Space{problem}.size();
  problem.layout.tp = {1, 2, 3};
  const Space space{problem};
  CHECK(space.size() == legal);
  CHECK(excluded_by(space, Rule::kHeadsByTp) == legal / 2);  // as many as tp 1 or tp 2
}

TEST_CASE("Automatic choices name values, they do not ask for the impossible") {
  Problem problem = small_problem();
  problem.layout = {};
  const Space space{problem};
  CHECK(excluded_by(space, Rule::kHeadsByTp) == 0);
  CHECK(excluded_by(space, Rule::kLayersByStages) == 0);
  const auto layouts = all_of(space.layouts(0));
  for (int tp : {1, 2, 4, 8})
    CHECK(std::any_of(layouts.begin(), layouts.end(), [&](const auto& layout) { return layout.tp == tp; }));
  for (int pp : {1, 2, 3, 4, 6, 8})  // of 24 layers, on 16 or 32 GPUs
    CHECK(std::any_of(layouts.begin(), layouts.end(), [&](const auto& layout) { return layout.pp == pp; }) ==
          (pp != 3 && pp != 6));
}

TEST_CASE("Wide ranges of every degree are cut where a degree alone can be judged") {
  Problem problem = small_problem();
  std::vector<int> range(96);
  std::iota(range.begin(), range.end(), 1);
  problem.layout = {};
  for (auto* degrees : {&problem.layout.tp, &problem.layout.cp, &problem.layout.pp, &problem.layout.vpp,
                        &problem.layout.ep, &problem.layout.etp, &problem.layout.micro_batch})
    *degrees = range;
  const Space space{problem};
  CHECK(space.size() > 0);
  CHECK(excluded_by(space, Rule::kHeadsByTp) > 0);
  CHECK(excluded_by(space, Rule::kExperts) > 0);
  CHECK(excluded_by(space, Rule::kBatch) > 0);
  for (const costmodel::Layout& layout : all_of(space.layouts(0))) {
    CHECK(layout.ep == 1);
    CHECK(256 % layout.micro_batch == 0);
  }
}

TEST_CASE("What is listed is what the rules and some GPU count allow, each once") {
  RandomProblems problems{23};
  std::size_t listed = 0;
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    const Problem problem = problems.next();
    for (const HardwareClass& kind : problem.hardware) {
      const std::set<costmodel::Layout> allowed = allowed_layouts(problem, kind.hardware);
      const LayoutList list = list_layouts(problem, kind.hardware);
      const auto layouts = all_of(list);
      CHECK(std::set<costmodel::Layout>(layouts.begin(), layouts.end()) == allowed);
      CHECK(layouts.size() == allowed.size());
      CHECK(std::is_sorted(layouts.begin(), layouts.end(), listed_before));
      listed += layouts.size();
    }
  }
  CHECK(listed > 1000);
}

TEST_CASE(
    "Of a thousand values for every degree what is refused is counted, past 64 bits too, and not tried") {
  for (const bool mixture : {false, true}) {
    for (const bool rdma : {true, false}) {
      for (const auto precision : {costmodel::Precision::kBf16, costmodel::Precision::kFp8}) {
        CAPTURE(mixture);
        CAPTURE(rdma);
        Problem problem = small_problem();
        if (mixture) problem.model = mixture_model();
        problem.recipe.precision = precision;
        std::vector<int> range(kSanitized ? 100 : 1000);
        std::iota(range.begin(), range.end(), 1);
        problem.layout = {};
        problem.layout.framework = {costmodel::Framework::kMegatron, costmodel::Framework::kTorchtitan,
                                    costmodel::Framework::kDeepspeed};
        problem.global_batches = {1};
        for (auto* degrees : {&problem.layout.tp, &problem.layout.cp, &problem.layout.pp, &problem.layout.vpp,
                              &problem.layout.ep, &problem.layout.etp, &problem.layout.micro_batch})
          *degrees = range;
        costmodel::Hardware nodes = h100_nodes();
        nodes.network.rdma = rdma;
        std::uint64_t looks = 0;
        LayoutLimits limits;
        limits.look_up = [&] { ++looks; };
        const LayoutList list = list_layouts(problem, nodes, limits);
        CHECK(list.size() > 0);
        // Combinations that are tried come to many times as many.
        CHECK(looks < 20'000'000);
        CHECK(list.excluded[static_cast<std::size_t>(Rule::kHeadsByTp)] > 0);
        CHECK(list.excluded[static_cast<std::size_t>(Rule::kGpusNotDivisible)] > 0);
        struct Enough {};
        limits.look_up = [] { throw Enough{}; };
        CHECK_THROWS_AS(list_layouts(problem, nodes, limits), Enough);
      }
    }
  }
}

TEST_CASE("More layouts than memory holds are refused, those of all kinds of hardware together") {
  Problem problem = small_problem();
  problem.layout.zero = {0, 1, 2};
  problem.layout.shard_group = {0, 8};
  problem.hardware.push_back({a100_nodes(), {offer(16)}});
  const Space space{problem};
  const std::size_t shapes = space.layouts(0).shape_count() + space.layouts(1).shape_count();
  const std::size_t layouts = space.layouts(0).size() + space.layouts(1).size();
  REQUIRE(space.layouts(1).size() > 0);
  // Zero 0, and 1 on all ranks or eight; 2 only without stages, which half of the shapes have.
  CHECK(layouts == 4 * shapes);
  CHECK(Space(problem, {.shapes = shapes, .layouts = layouts}).size() == space.size());
  CHECK_THROWS_AS(Space(problem, {.shapes = shapes - 1, .layouts = layouts}), std::length_error);
  CHECK_THROWS_AS(Space(problem, {.shapes = shapes, .layouts = layouts - 1}), std::length_error);
}

TEST_CASE("Of a million shard groups few bytes are kept, and too many are refused at once") {
  Problem problem = small_problem();
  problem.layout.shard_group.resize(kSanitized ? 100'000 : 1'000'000);
  std::iota(problem.layout.shard_group.begin(), problem.layout.shard_group.end(), 0);
  problem.layout.zero = {1};
  problem.layout.tp = problem.layout.pp = {1};
  problem.layout.micro_batch = {1};
  const LayoutList list = list_layouts(problem, h100_nodes());
  CHECK(list.size() == problem.layout.shard_group.size());
  CHECK(list.shape_count() == 1);
  problem.layout.tp = {1, 2};
  CHECK_THROWS_AS(list_layouts(problem, h100_nodes(), {.shapes = 8, .layouts = list.size()}),
                  std::length_error);
}

TEST_CASE("A space of 2^63 plans is refused") {
  Problem problem = small_problem();
  problem.gpus.resize(200'000);
  std::iota(problem.gpus.begin(), problem.gpus.end(), std::int64_t{8});
  problem.global_batches = problem.gpus;
  problem.protections.assign(200'000, {.scheme = faults::Scheme::kCheckpoint});
  problem.hardware[0].offers.assign(200'000, offer(24));
  CHECK_THROWS_AS(Space{problem}, std::length_error);
}

TEST_CASE("Past 2^32 plans indices still are plans") {
  Problem problem = small_problem();
  problem.gpus.clear();
  for (std::int64_t nodes = 1; nodes <= 1000; ++nodes) problem.gpus.push_back(8 * nodes);
  problem.global_batches.clear();
  for (std::int64_t batch = 1; batch <= 1000; ++batch) problem.global_batches.push_back(16 * batch);
  problem.hardware[0].offers.assign(100, offer(24));
  problem.protections.clear();
  for (int r = 1; r <= 20; ++r) problem.protections.push_back({.scheme = faults::Scheme::kSpare, .r = r});
  const Space space{problem};
  REQUIRE(space.size() > (std::uint64_t{1} << 34));
  for (std::uint64_t index : {std::uint64_t{1} << 31, (std::uint64_t{1} << 32) + 5, space.size() - 1})
    CHECK(space.encode(space.decode(index)) == index);
}

TEST_CASE("A problem without hardware, protections or GPU counts has no plans") {
  Problem problem = small_problem();
  problem.hardware.clear();
  CHECK(Space{problem}.size() == 0);
  problem = small_problem();
  problem.protections.clear();
  CHECK(Space{problem}.size() == 0);
  problem = small_problem();
  problem.gpus.clear();
  CHECK(Space{problem}.size() == 0);
  CHECK(Space{problem}.blocks() == 0);
}

}  // namespace trainfront::search
