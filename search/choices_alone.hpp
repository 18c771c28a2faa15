#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "costmodel/layout.hpp"
#include "costmodel/legality.hpp"
#include "search/layout_domain.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

struct Pipeline {
  int pp = 1;
  int vpp = 1;
  costmodel::Schedule schedule = costmodel::Schedule::k1f1b;

  auto operator<=>(const Pipeline&) const = default;
  void set_in(costmodel::Layout& layout) const {
    layout.pp = pp;
    layout.vpp = vpp;
    layout.schedule = schedule;
  }
};

// Stages, chunks and schedules that mean something together: without stages there is one schedule;
// interleaving is a schedule of its own and needs chunks. Ascending. `look_up` as in LayoutLimits.
std::vector<Pipeline> pipelines(const Problem& problem, const LayoutDomain& domain,
                                const std::function<void()>& look_up);

// Pipelines as a framework judges them by themselves.
struct JudgedPipelines {
  std::uint64_t all = 0;
  std::uint64_t legal = 0;
  std::array<std::uint64_t, costmodel::kRules> refused{};  // by rule; those of "auto" lists were never meant
};

// Those of one pp.
struct Stages {
  int pp = 1;
  JudgedPipelines judged;
  JudgedPipelines from_here;  // and of every larger pp
  std::vector<Pipeline> legal;
};

// By pp, ascending.
struct StageChoices {
  std::vector<Stages> by_pp;
  std::uint64_t too_long = 0;  // named pipelines of so many stages that they are refused before all else
};

// Values to be tried, and how many are refused by themselves.
struct Judged {
  std::vector<int> values;
  std::uint64_t refused = 0;

  std::uint64_t all() const { return values.size() + refused; }
};

// Rules that look at one choice alone, whatever stands around it: asked once for each value, so that lists of
// a thousand do not multiply what is refused anyway.
class ChoicesAlone {
 public:
  // The problem must outlive it.
  ChoicesAlone(const Problem& problem, const costmodel::Hardware& hardware,
               const std::function<void()>& look_up);

  // `layout` names the framework, all else in it is one.
  StageChoices stages(const std::vector<Pipeline>& pipelines, costmodel::Layout layout) const;
  // Without RDMA none is refused: the network's rule comes first, and is for all degrees together.
  Judged experts(const std::vector<int>& tried, const costmodel::Layout& layout) const;
  Judged expert_tensors(const std::vector<int>& tried, const costmodel::Layout& layout) const;

 private:
  Judged judged(const std::vector<int>& tried, costmodel::Layout layout, int costmodel::Layout::*degree,
                costmodel::Rule rule) const;

  const Problem& problem_;
  const std::function<void()>& look_up_;
  bool network_first_;
  costmodel::Hardware hardware_;  // and a recipe: neither network nor precision break a rule
  costmodel::Recipe recipe_;
};

}  // namespace trainfront::search
