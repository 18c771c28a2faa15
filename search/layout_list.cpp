#include "search/layout_list.hpp"

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <map>
#include <stdexcept>

#include "search/layout_domain.hpp"

namespace trainfront::search {
namespace {

using costmodel::Layout;
using costmodel::Rule;
using costmodel::Schedule;

Layout shape_of(Layout layout) {
  layout.zero = 0;
  layout.shard_group = 0;
  return layout;
}

template <class T>
std::vector<T> ascending(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <class T>
std::vector<T> chosen_or(const std::vector<T>& chosen, std::vector<T> otherwise) {
  return chosen.empty() ? otherwise : ascending(chosen);
}

// What the backward pass runs again.
struct Recomputation {
  costmodel::Recompute recompute;
  costmodel::RecomputeModules modules;
};

// Walks the choices from the outside in and asks for the rules of each level as soon as they can be decided,
// so that a wrong tp is not tried with every micro-batch. A refused value counts all combinations it stands
// for; a value of an "auto" list that its own level refuses was never meant and counts nothing.
class Lister {
 public:
  Lister(const Problem& problem, const costmodel::Hardware& hardware, const LayoutLimits& limits)
      : problem_{problem}, hardware_{hardware}, limits_{limits}, domain_{problem, hardware} {
    micro_batches_ = chosen_or(problem.layout.micro_batch, domain_.micro_batch());
    schedules_ = chosen_or(problem.layout.schedule, domain_.schedule());
    for (int zero : chosen_or(problem.layout.zero, domain_.zero()))
      for (int ranks :
           zero == 0 ? std::vector<int>{0} : chosen_or(problem.layout.shard_group, domain_.shard_group()))
        shardings_.push_back({zero, ranks});
    const auto divides_no_batch = [&](int micro_batch) {
      return std::none_of(problem.global_batches.begin(), problem.global_batches.end(),
                          [&](std::int64_t batch) { return micro_batch > 0 && batch % micro_batch == 0; });
    };
    const std::size_t tried = micro_batches_.size();
    std::erase_if(micro_batches_, divides_no_batch);
    if (!problem.layout.micro_batch.empty()) undivided_ = tried - micro_batches_.size();
    pipelines_ = pipelines();
  }

  LayoutList list() {
    for (auto framework : ascending(problem_.layout.framework)) {
      Layout layout;
      layout.framework = framework;
      kinds_ = ascending(domain_.cp_type(framework));
      recomputes_ = recomputations(framework);
      over_tensor(layout);
    }
    auto& shapes = list_.shapes;
    std::sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a.layout < b.layout; });
    std::size_t first = 0;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      shapes[shape].first = first;
      first += list_.shardings_of(shape).size();
    }
    for (std::size_t shape = shapes.size(); shape-- > 0;) {
      const bool goes_on = shape + 1 < shapes.size() &&
                           shapes[shape].layout.group_gpus() == shapes[shape + 1].layout.group_gpus();
      shapes[shape].next_group =
          goes_on ? shapes[shape + 1].next_group : static_cast<std::uint32_t>(shape + 1);
    }
    shapes.push_back({.layout = {}, .shardings = 0, .next_group = 0, .first = first});
    return std::move(list_);
  }

 private:
  struct Pipeline {
    int pp;
    int vpp;
    Schedule schedule;
  };

  Rule broken_of(const Layout& layout, std::initializer_list<Rule> decided) const {
    const Rule rule = check_layout(problem_.model, problem_.recipe, layout, hardware_);
    return std::find(decided.begin(), decided.end(), rule) == decided.end() ? Rule::kNone : rule;
  }

  void exclude(Rule rule, std::size_t combinations) {
    list_.excluded[static_cast<std::size_t>(rule)] += combinations;
  }

  void over_tensor(Layout layout) {
    const bool automatic = problem_.layout.tp.empty();
    for (int tp : chosen_or(problem_.layout.tp, domain_.tp())) {
      layout.tp = tp;
      const Rule rule =
          broken_of(layout, {Rule::kHeadsByTp, Rule::kKvHeadsByTp, Rule::kVocabulary, Rule::kFfnByTp});
      if (rule == Rule::kNone) {
        over_context(layout);
      } else if (!automatic) {
        exclude(rule, context_combinations() * pipelines_.size() * inner_combinations(layout));
      }
    }
  }

  std::vector<int> contexts() const { return chosen_or(problem_.layout.cp, domain_.cp()); }

  std::size_t context_combinations() const {
    std::size_t combinations = 0;
    for (int cp : contexts()) combinations += cp == 1 ? 1 : kinds_.size();
    return combinations;
  }

  void over_context(Layout layout) {
    using enum costmodel::ContextExchange;
    const bool automatic = problem_.layout.cp.empty();
    const auto& chosen = problem_.layout.cp_type;
    const bool automatic_kind = chosen && chosen->empty();
    for (int cp : contexts()) {
      layout.cp = cp;
      for (auto kind : cp == 1 ? std::vector{kRing} : kinds_) {
        layout.cp_type = kind;
        const bool apart = kind == kAllToAllRing;
        layout.cp_heads = apart ? widest_head_exchange(problem_.model, layout, hardware_) : 0;
        const Rule rule = broken_of(layout, {Rule::kSequenceByCp, Rule::kHeadsByCp, Rule::kContextType});
        const bool of_kind = rule == Rule::kHeadsByCp || rule == Rule::kContextType;
        if (rule == Rule::kNone) {
          over_pipeline(layout);
        } else if (!automatic && !(of_kind && automatic_kind)) {
          exclude(rule, pipelines_.size() * inner_combinations(layout));
        }
      }
    }
  }

  std::vector<Recomputation> recomputations(costmodel::Framework framework) const {
    std::vector<Recomputation> all;
    for (auto recompute : chosen_or(problem_.layout.recompute, domain_.recompute())) {
      const bool selects = recompute == costmodel::Recompute::kSelective;
      for (auto modules : selects ? ascending(domain_.recompute_modules(framework))
                                  : std::vector<costmodel::RecomputeModules>{{}})
        all.push_back({recompute, modules});
    }
    return all;
  }

  // Stages, chunks and schedules that mean something together: without stages there is one schedule;
  // interleaving is a schedule of its own and needs chunks.
  std::vector<Pipeline> pipelines() const {
    std::vector<Pipeline> all;
    for (int pp : chosen_or(problem_.layout.pp, domain_.pp())) {
      const bool automatic = problem_.layout.vpp.empty();
      const std::size_t before = all.size();
      for (int vpp : chosen_or(problem_.layout.vpp, domain_.vpp(pp))) {
        for (Schedule schedule : schedules_) {
          if (automatic || problem_.layout.schedule.empty()) {
            if ((vpp > 1) != (schedule == Schedule::kInterleaved)) continue;
          }
          Layout spelled;
          spelled.pp = pp;
          spelled.vpp = vpp;
          spelled.schedule = schedule;
          spelled = canonical(spelled, problem_.model);
          all.push_back({spelled.pp, spelled.vpp, spelled.schedule});
        }
        if (vpp == 1 && all.size() == before)
          all.push_back(
              {pp, 1, Schedule::k1f1b});  // only interleaving was asked for: one chunk is plain 1F1B
      }
    }
    const auto key = [](const Pipeline& p) { return std::array{p.pp, p.vpp, static_cast<int>(p.schedule)}; };
    std::sort(all.begin(), all.end(), [&](const Pipeline& a, const Pipeline& b) { return key(a) < key(b); });
    all.erase(std::unique(all.begin(), all.end(),
                          [&](const Pipeline& a, const Pipeline& b) { return key(a) == key(b); }),
              all.end());
    return all;
  }

  void over_pipeline(Layout layout) {
    const bool automatic = problem_.layout.pp.empty();
    for (const Pipeline& pipeline : pipelines_) {
      layout.pp = pipeline.pp;
      layout.vpp = pipeline.vpp;
      layout.schedule = pipeline.schedule;
      Rule rule = broken_of(layout, {Rule::kLayersByStages, Rule::kInterleaving, Rule::kSchedule});
      const bool meant = !automatic && (pipeline.vpp == 1 || !problem_.layout.vpp.empty());
      if (rule == Rule::kNone && !some_count_holds(layout)) rule = Rule::kGpusNotDivisible;
      if (rule == Rule::kNone) {
        over_experts(layout);
      } else if (meant || rule == Rule::kGpusNotDivisible) {
        exclude(rule, inner_combinations(layout));
      }
    }
  }

  bool some_count_holds(const Layout& layout) const {
    const std::int64_t group = std::int64_t{layout.tp} * layout.cp * layout.pp;
    return std::any_of(problem_.gpus.begin(), problem_.gpus.end(),
                       [&](std::int64_t gpus) { return gpus % group == 0; });
  }

  std::vector<int> experts_by() const { return chosen_or(problem_.layout.ep, domain_.ep()); }
  std::vector<int> experts_tensor(int tp) const { return chosen_or(problem_.layout.etp, domain_.etp(tp)); }
  std::vector<bool> sequence_parallel(int tp) const {
    if (tp == 1) return {false};
    return chosen_or(problem_.layout.sp, std::vector<bool>{false, true});
  }

  std::size_t inner_combinations(const Layout& layout) const {
    return experts_by().size() * experts_tensor(layout.tp).size() * sequence_parallel(layout.tp).size() *
           shardings_.size() * (micro_batches_.size() + undivided_) * recomputes_.size();
  }

  void over_experts(Layout layout) {
    for (int ep : experts_by()) {
      layout.ep = ep;
      layout.etp = 1;
      const std::size_t tensor = experts_tensor(layout.tp).size();
      const std::size_t within = inner_combinations(layout) / experts_by().size();
      if (broken_of(layout, {Rule::kExperts}) != Rule::kNone) {
        exclude(Rule::kExperts, within);
        continue;
      }
      for (int etp : experts_tensor(layout.tp)) {
        layout.etp = etp;
        if (broken_of(layout, {Rule::kExpertTensor}) != Rule::kNone) {
          exclude(Rule::kExpertTensor, within / tensor);
          continue;
        }
        for (bool sp : sequence_parallel(layout.tp)) {
          layout.sp = sp;
          over_state(layout);
        }
      }
    }
  }

  void over_state(Layout layout) {
    exclude(Rule::kBatch, shardings_.size() * undivided_ * recomputes_.size());
    for (int micro_batch : micro_batches_) {
      layout.micro_batch = micro_batch;
      for (const Recomputation& again : recomputes_) {
        layout.recompute = again.recompute;
        layout.modules = again.modules;
        add_shape(layout);
      }
    }
  }

  void add_shape(const Layout& shape) {
    legal_.clear();
    Layout layout = shape;
    for (const Sharding& sharding : shardings_) {
      layout.zero = sharding.zero;
      layout.shard_group = sharding.ranks;
      const Rule rule = check_layout(problem_.model, problem_.recipe, layout, hardware_);
      if (rule == Rule::kNone) {
        legal_.push_back(sharding);
      } else {
        exclude(rule, 1);
      }
    }
    if (legal_.empty()) return;
    layouts_ += legal_.size();
    if (layouts_ > limits_.layouts || list_.shapes.size() == limits_.shapes)
      throw std::length_error(
          "the choices of [layout] make more than ten million layouts (two million if those count once that "
          "differ in zero and shard_group alone): give fewer values to zero, shard_group, micro_batch, "
          "recompute, schedule, ep or etp");
    const auto [known, is_new] = numbers_.try_emplace(legal_, list_.shardings.size());
    if (is_new) list_.shardings.push_back(legal_);
    list_.shapes.push_back({.layout = shape_of(shape), .shardings = known->second});
  }

  const Problem& problem_;
  const costmodel::Hardware& hardware_;
  const LayoutLimits& limits_;
  LayoutDomain domain_;
  std::vector<int> micro_batches_;                 // that divide some batch
  std::size_t undivided_ = 0;                      // named ones that divide none
  std::vector<costmodel::ContextExchange> kinds_;  // of the framework at hand
  std::vector<Recomputation> recomputes_;
  std::vector<Schedule> schedules_;
  std::vector<Sharding> shardings_;
  std::vector<Pipeline> pipelines_;
  std::vector<Sharding> legal_;  // of the shape at hand
  std::map<std::vector<Sharding>, std::uint32_t> numbers_;
  std::size_t layouts_ = 0;
  LayoutList list_;
};

}  // namespace

costmodel::Layout canonical(costmodel::Layout layout, const costmodel::Model& model) {
  if (layout.tp == 1) layout.sp = false;
  if (layout.cp == 1) layout.cp_type = costmodel::ContextExchange::kRing;
  if (layout.cp == 1 || layout.cp_type != costmodel::ContextExchange::kAllToAllRing) layout.cp_heads = 0;
  if (layout.recompute != costmodel::Recompute::kSelective) layout.modules = {};
  if (layout.vpp == 1 && (layout.pp == 1 || layout.schedule == Schedule::kInterleaved))
    layout.schedule = Schedule::k1f1b;
  if (layout.zero == 0) layout.shard_group = 0;
  if (!model.is_moe() && layout.ep == 1) layout.etp = 1;
  return layout;
}

bool listed_before(const costmodel::Layout& a, const costmodel::Layout& b) {
  const auto shapes = shape_of(a) <=> shape_of(b);
  if (shapes != 0) return shapes < 0;
  return a.zero != b.zero ? a.zero < b.zero : a.shard_group < b.shard_group;
}

costmodel::Layout LayoutList::operator[](std::size_t position) const {
  const auto after = std::upper_bound(shapes.begin(), shapes.end(), position,
                                      [](std::size_t p, const Shape& shape) { return p < shape.first; });
  const auto shape = static_cast<std::size_t>(after - shapes.begin()) - 1;
  return layout(shape, position - shapes[shape].first);
}

std::optional<std::size_t> LayoutList::position(const costmodel::Layout& layout) const {
  const auto end = shapes.end() - 1;
  const auto shape = std::lower_bound(shapes.begin(), end, shape_of(layout),
                                      [](const Shape& a, const Layout& b) { return a.layout < b; });
  if (shape == end || shape->layout != shape_of(layout)) return std::nullopt;
  const auto& listed = shardings[shape->shardings];
  const Sharding wanted{layout.zero, layout.shard_group};
  const auto found = std::lower_bound(listed.begin(), listed.end(), wanted);
  if (found == listed.end() || *found != wanted) return std::nullopt;
  return shape->first + static_cast<std::size_t>(found - listed.begin());
}

LayoutList list_layouts(const Problem& problem, const costmodel::Hardware& hardware,
                        const LayoutLimits& limits) {
  return Lister(problem, hardware, limits).list();
}

}  // namespace trainfront::search
