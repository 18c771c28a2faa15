#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "problems.hpp"
#include "search/layout_domain.hpp"
#include "search/layout_list.hpp"
#include "search/space.hpp"

namespace trainfront::search {
namespace {

using costmodel::ContextExchange;
using costmodel::Framework;
using costmodel::Layout;
using costmodel::Recompute;
using costmodel::Rule;
using enum costmodel::ContextExchange;

std::vector<Layout> listed(const Problem& problem) {
  const LayoutList list = list_layouts(problem, problem.hardware.front().hardware);
  std::vector<Layout> layouts;
  for (std::size_t position = 0; position < list.size(); ++position) {
    layouts.push_back(list[position]);
    REQUIRE(list.position(layouts.back()) == position);
    REQUIRE(layouts.back() == canonical(layouts.back(), problem.model));
    REQUIRE(check_layout(problem.model, problem.recipe, layouts.back(), problem.hardware.front().hardware) ==
            Rule::kNone);
  }
  return layouts;
}

Problem contexts(std::vector<Framework> frameworks) {
  Problem problem = small_problem();
  problem.layout.framework = std::move(frameworks);
  problem.layout.cp = {1, 2, 4};
  problem.layout.zero = {1, 2};
  problem.layout.recompute = {Recompute::kNone, Recompute::kSelective, Recompute::kFull};
  return problem;
}

std::uint64_t excluded_by(const Problem& problem, Rule rule) {
  return list_layouts(problem, problem.hardware.front().hardware).excluded[static_cast<std::size_t>(rule)];
}

}  // namespace

TEST_CASE("Where nothing is said, a list is that of each framework's own kind and modules") {
  Problem problem = contexts({Framework::kMegatron, Framework::kTorchtitan, Framework::kDeepspeed});
  const std::vector<Layout> unsaid = listed(problem);
  for (const Layout& layout : unsaid) {
    const ContextExchange own = default_exchange(costmodel::default_profile(layout.framework), problem.model);
    CHECK(layout.cp_type == (layout.cp > 1 ? own : kRing));
    CHECK(layout.cp_heads == 0);
    CHECK(layout.modules.empty());
  }
  // Said by name, all is as before.
  for (const auto& [framework, own] : {std::pair{Framework::kMegatron, kRing},
                                       {Framework::kTorchtitan, kAllGather},
                                       {Framework::kDeepspeed, kAllToAll}}) {
    Problem named = contexts({framework});
    const std::vector<Layout> before = listed(named);
    named.layout.cp_type = {{own}};
    named.layout.recompute_modules.emplace(1);
    CHECK(listed(named) == before);
    std::size_t of_framework = 0;
    for (const Layout& layout : unsaid) of_framework += layout.framework == framework;
    CHECK(of_framework == before.size());
  }
}

TEST_CASE("Each kind of context parallelism is listed once, and at cp 1 there is none") {
  Problem problem = contexts({Framework::kMegatron});
  problem.layout.recompute = {Recompute::kNone};
  const std::vector<Layout> one = listed(problem);
  problem.layout.cp_type.emplace();  // auto
  const std::vector<Layout> all = listed(problem);
  std::size_t without = 0, exchanging = 0, apart = 0;
  for (const Layout& layout : one) without += layout.cp == 1;
  for (const Layout& layout : all) {
    exchanging += layout.cp == 4 && layout.cp_type == kAllToAllRing;
    apart += layout.cp_type == kAllToAllRing && layout.cp_heads != 2;
  }
  // cp 2: ring, all-gather, all-to-all; cp 4: heads exchanged by twos, too.
  std::size_t at_two = 0, at_four = 0;
  for (const Layout& layout : one) (layout.cp == 2 ? at_two : at_four) += layout.cp > 1;
  CHECK(exchanging == at_four);
  CHECK(apart == 0);
  CHECK(all.size() == without + 3 * at_two + 4 * at_four);
  CHECK(std::set<Layout>(all.begin(), all.end()).size() == all.size());
}

TEST_CASE(
    "A kind that is named and refused is counted with all plans it stands for; of auto it counts nothing") {
  Problem problem = contexts({Framework::kTorchtitan});
  problem.layout.cp = {2};
  const std::size_t each = listed(problem).size();
  problem.layout.cp_type = {{kAllGather, kAllToAll}};
  CHECK(listed(problem).size() == each);
  CHECK(excluded_by(problem, Rule::kContextType) > 0);
  problem.layout.cp_type.emplace();
  CHECK(listed(problem).size() == 2 * each);
  CHECK(excluded_by(problem, Rule::kContextType) == 0);
}

TEST_CASE("Modules multiply selective recomputation on Megatron alone") {
  Problem problem = contexts({Framework::kMegatron, Framework::kTorchtitan});
  problem.layout.zero = {1, 3};
  problem.layout.pp = {1};
  problem.layout.cp = {1};
  const std::vector<Layout> plain = listed(problem);
  problem.layout.recompute_modules.emplace();
  const std::vector<Layout> all = listed(problem);
  std::size_t selective = 0;
  for (const Layout& layout : plain)
    selective += layout.framework == Framework::kMegatron && layout.recompute == Recompute::kSelective;
  // Of a dense model: core attention, or the MLP.
  CHECK(all.size() == plain.size() + selective);

  const Space space{problem};
  for (std::uint64_t index = 0; index < space.size(); index += 7)
    CHECK(space.encode(space.decode(index)) == index);
}

}  // namespace trainfront::search
