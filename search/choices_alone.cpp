#include "search/choices_alone.hpp"

#include <algorithm>
#include <iterator>

#include "costmodel/pipeline_time.hpp"
#include "search/layout_list.hpp"

namespace trainfront::search {

using costmodel::Layout;
using costmodel::Rule;
using costmodel::Schedule;

std::vector<Pipeline> pipelines(const Problem& problem, const LayoutDomain& domain,
                                const std::function<void()>& look_up) {
  const LayoutChoices& choices = problem.layout;
  const auto schedules = chosen_or(choices.schedule, domain.schedule());
  std::vector<Pipeline> all;
  for (int pp : chosen_or(choices.pp, domain.pp())) {
    if (look_up) look_up();
    const auto before = std::ssize(all);
    for (int vpp : chosen_or(choices.vpp, domain.vpp(pp))) {
      for (Schedule schedule : schedules) {
        if (choices.vpp.empty() || choices.schedule.empty()) {
          if ((vpp > 1) != (schedule == Schedule::kInterleaved)) continue;
        }
        Layout spelled;
        Pipeline{pp, vpp, schedule}.set_in(spelled);
        spelled = canonical(spelled, problem.model);
        all.push_back({spelled.pp, spelled.vpp, spelled.schedule});
      }
      // Only interleaving was asked for: one chunk is plain 1F1B.
      if (vpp == 1 && std::ssize(all) == before) all.push_back({pp, 1, Schedule::k1f1b});
    }
    std::sort(all.begin() + before, all.end());
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

ChoicesAlone::ChoicesAlone(const Problem& problem, const costmodel::Hardware& hardware,
                           const std::function<void()>& look_up)
    : problem_{problem},
      look_up_{look_up},
      network_first_{!hardware.network.rdma},
      hardware_{hardware},
      recipe_{problem.recipe} {
  hardware_.network.rdma = true;
  recipe_.precision = costmodel::Precision::kBf16;
}

StageChoices ChoicesAlone::stages(const std::vector<Pipeline>& pipelines, Layout layout) const {
  StageChoices choices;
  std::vector<Stages>& by_pp = choices.by_pp;
  for (const Pipeline& pipeline : pipelines) {
    const bool meant = !problem_.layout.pp.empty() && (pipeline.vpp == 1 || !problem_.layout.vpp.empty());
    if (pipeline.pp > costmodel::kMaxStages) {
      choices.too_long += meant ? 1 : 0;
      continue;
    }
    if (by_pp.empty() || by_pp.back().pp != pipeline.pp) {
      by_pp.emplace_back();
      by_pp.back().pp = pipeline.pp;
      if (look_up_) look_up_();
    }
    Stages& stages = by_pp.back();
    ++stages.judged.all;
    pipeline.set_in(layout);
    const Rule rule = check_layout(problem_.model, recipe_, layout, hardware_);
    if (rule != Rule::kLayersByStages && rule != Rule::kInterleaving && rule != Rule::kSchedule) {
      stages.legal.push_back(pipeline);
      ++stages.judged.legal;
    } else if (meant) {
      ++stages.judged.refused[static_cast<std::size_t>(rule)];
    }
  }
  JudgedPipelines sum;
  for (std::size_t i = by_pp.size(); i-- > 0;) {
    sum.all += by_pp[i].judged.all;
    sum.legal += by_pp[i].judged.legal;
    for (std::size_t rule = 0; rule < sum.refused.size(); ++rule)
      sum.refused[rule] += by_pp[i].judged.refused[rule];
    by_pp[i].from_here = sum;
  }
  return choices;
}

Judged ChoicesAlone::experts(const std::vector<int>& tried, const Layout& layout) const {
  return judged(tried, layout, &Layout::ep, Rule::kExperts);
}

Judged ChoicesAlone::expert_tensors(const std::vector<int>& tried, const Layout& layout) const {
  return judged(tried, layout, &Layout::etp, Rule::kExpertTensor);
}

Judged ChoicesAlone::judged(const std::vector<int>& tried, Layout layout, int Layout::*degree,
                            Rule rule) const {
  Judged judged{tried, 0};
  if (network_first_) return judged;
  std::erase_if(judged.values, [&](int value) {
    layout.*degree = value;
    return check_layout(problem_.model, recipe_, layout, hardware_) == rule;
  });
  judged.refused = tried.size() - judged.values.size();
  return judged;
}

}  // namespace trainfront::search
