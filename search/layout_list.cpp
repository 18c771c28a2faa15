#include "search/layout_list.hpp"

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "search/choices_alone.hpp"
#include "search/layout_domain.hpp"
#include "search/saturating.hpp"

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

// What the backward pass runs again.
struct Recomputation {
  costmodel::Recompute recompute;
  costmodel::RecomputeModules modules;
};

// Walks the choices from the outside in and asks for the rules of each level as soon as they can be decided,
// so that a wrong tp is not tried with every micro-batch. A refused value counts all combinations it stands
// for; a value of an "auto" list that its own level refuses was never meant and counts nothing. What a
// framework refuses whatever lies around it is found once for each framework: lists may hold a thousand
// values.
class Lister {
 public:
  Lister(const Problem& problem, const costmodel::Hardware& hardware, const LayoutLimits& limits)
      : problem_{problem},
        hardware_{hardware},
        limits_{limits},
        domain_{problem, hardware},
        tensors_{chosen_or(problem.layout.tp, domain_.tp())},
        contexts_{chosen_or(problem.layout.cp, domain_.cp())},
        experts_{chosen_or(problem.layout.ep, domain_.ep())},
        named_expert_tensors_{ascending(problem.layout.etp)},
        micro_batches_{chosen_or(problem.layout.micro_batch, domain_.micro_batch())} {
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
  }

  LayoutList list() {
    const std::vector<Pipeline> every_pipeline = pipelines(problem_, domain_, limits_.look_up);
    pipelines_ = every_pipeline.size();
    const ChoicesAlone alone(problem_, hardware_, limits_.look_up);
    for (auto framework : ascending(problem_.layout.framework)) {
      Layout layout;
      layout.framework = framework;
      kinds_ = ascending(domain_.cp_type(framework));
      recomputes_ = recomputations(framework);
      stages_ = alone.stages(every_pipeline, layout);
      judged_experts_ = alone.experts(experts_, layout);
      judged_expert_tensors_ = alone.expert_tensors(named_expert_tensors_, layout);
      over_tensor(layout);
    }
    auto& shapes = list_.shapes;
    const auto before = [](const auto& a, const auto& b) { return a.layout < b.layout; };
    if (!std::is_sorted(shapes.begin(), shapes.end(), before))
      std::sort(shapes.begin(), shapes.end(), before);
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
  Rule check(const Layout& layout) const {
    return check_layout(problem_.model, problem_.recipe, layout, hardware_);
  }

  Rule broken_of(const Layout& layout, std::initializer_list<Rule> decided) const {
    const Rule rule = check(layout);
    return std::find(decided.begin(), decided.end(), rule) == decided.end() ? Rule::kNone : rule;
  }

  // Broken whatever else is chosen further in.
  bool is_settled(Rule rule) const {
    if (rule == Rule::kPrecision || rule == Rule::kNetwork) return true;
    // Asked for after the network's, which experts may break.
    return rule == Rule::kVocabulary && hardware_.network.rdma;
  }

  void exclude(Rule rule, std::uint64_t combinations) {
    std::uint64_t& sum = list_.excluded[static_cast<std::size_t>(rule)];
    sum = plus_saturating(sum, combinations);
  }

  // All that lies within the experts, or of `outer` such choices, breaks this rule; micro-batches that divide
  // no batch are asked first.
  void exclude_within(Rule rule, std::size_t outer, const Layout& layout) {
    const std::size_t within =
        times_saturating({outer, sequence_parallel(layout.tp).size(), shardings_.size(), recomputes_.size()});
    exclude(rule, times_saturating(within, micro_batches_.size()));
    exclude(Rule::kBatch, times_saturating(within, undivided_));
  }

  // May throw, to give the listing up.
  void look_up() const {
    if (limits_.look_up) limits_.look_up();
  }

  void over_tensor(Layout layout) {
    const bool automatic = problem_.layout.tp.empty();
    for (int tp : tensors_) {
      layout.tp = tp;
      const Rule rule =
          broken_of(layout, {Rule::kHeadsByTp, Rule::kKvHeadsByTp, Rule::kVocabulary, Rule::kFfnByTp});
      expert_tensors_ = named_expert_tensors_.empty() ? Judged{domain_.etp(tp), 0} : judged_expert_tensors_;
      if (rule == Rule::kNone) {
        over_context(layout);
      } else if (!automatic) {
        exclude(rule, times_saturating({context_combinations(), pipelines_, inner_combinations(layout)}));
      }
    }
  }

  std::size_t context_combinations() const {
    std::size_t combinations = 0;
    for (int cp : contexts_) combinations += cp == 1 ? 1 : kinds_.size();
    return combinations;
  }

  void over_context(Layout layout) {
    using enum costmodel::ContextExchange;
    const bool automatic = problem_.layout.cp.empty();
    const auto& chosen = problem_.layout.cp_type;
    const bool automatic_kind = chosen && chosen->empty();
    for (int cp : contexts_) {
      layout.cp = cp;
      for (auto kind : cp == 1 ? std::vector{kRing} : kinds_) {
        layout.cp_type = kind;
        const bool apart = kind == kAllToAllRing;
        layout.cp_heads = apart ? widest_head_exchange(problem_.model, layout, hardware_) : 0;
        const Rule rule = broken_of(layout, {Rule::kSequenceByCp, Rule::kHeadsByCp, Rule::kContextType});
        const bool of_kind = rule == Rule::kHeadsByCp || rule == Rule::kContextType;
        if (rule == Rule::kNone) {
          over_stages(layout);
        } else if (!automatic && !(of_kind && automatic_kind)) {
          exclude(rule, times_saturating(pipelines_, inner_combinations(layout)));
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

  void over_stages(Layout layout) {
    look_up();
    const std::uint64_t inner = inner_combinations(layout);
    exclude(Rule::kLayersByStages, times_saturating(stages_.too_long, inner));
    const std::int64_t most_gpus = problem_.gpus.empty() ? 0 : problem_.gpus.back();
    for (const Stages& stages : stages_.by_pp) {
      Pipeline{.pp = stages.pp}.set_in(layout);
      const Rule around = check(layout);
      const bool settled = around == Rule::kPrecision || around == Rule::kNetwork;
      // Of more stages the same is true.
      if (gpus_of(layout) > most_gpus && (settled || hardware_.network.rdma))
        return count_unheld(stages.from_here, settled, inner);
      if (!some_count_holds(layout)) {
        count_unheld(stages.judged, settled, inner);
      } else if (settled) {
        exclude_within(around, times_saturating(stages.judged.all, expert_combinations()), layout);
      } else {
        count_refused(stages.judged, inner);
        for (const Pipeline& pipeline : stages.legal) {
          pipeline.set_in(layout);
          over_experts(layout);
        }
      }
    }
  }

  // Pipelines whose group no GPU count holds, which is asked after what they are refused for by themselves,
  // but before what is settled around them.
  void count_unheld(const JudgedPipelines& pipelines, bool settled, std::uint64_t inner) {
    if (!settled) count_refused(pipelines, inner);
    exclude(Rule::kGpusNotDivisible, times_saturating(settled ? pipelines.all : pipelines.legal, inner));
  }

  void count_refused(const JudgedPipelines& pipelines, std::uint64_t inner) {
    for (std::size_t rule = 0; rule < pipelines.refused.size(); ++rule)
      if (pipelines.refused[rule] > 0)
        exclude(static_cast<Rule>(rule), times_saturating(pipelines.refused[rule], inner));
  }

  static std::int64_t gpus_of(const Layout& layout) {
    return std::int64_t{layout.tp} * layout.cp * layout.pp;
  }

  bool some_count_holds(const Layout& layout) {
    const std::int64_t group = gpus_of(layout);
    if (problem_.gpus.empty() || group > problem_.gpus.back()) return false;
    const auto [known, is_new] = held_.try_emplace(group, false);
    if (is_new)
      known->second = std::any_of(problem_.gpus.begin(), problem_.gpus.end(),
                                  [&](std::int64_t gpus) { return gpus % group == 0; });
    return known->second;
  }

  std::size_t expert_combinations() const { return times_saturating(experts_.size(), expert_tensors_.all()); }
  std::vector<bool> sequence_parallel(int tp) const {
    if (tp == 1) return {false};
    return chosen_or(problem_.layout.sp, std::vector<bool>{false, true});
  }
  // Within one choice of ep and etp.
  std::size_t state_combinations(const Layout& layout) const {
    return times_saturating({sequence_parallel(layout.tp).size(), shardings_.size(),
                             micro_batches_.size() + undivided_, recomputes_.size()});
  }
  std::size_t inner_combinations(const Layout& layout) const {
    return times_saturating(expert_combinations(), state_combinations(layout));
  }

  void over_experts(Layout layout) {
    const std::size_t within = state_combinations(layout);
    const std::size_t tensor = expert_tensors_.all();
    if (const Rule rule = check(layout); is_settled(rule))
      return exclude_within(rule, expert_combinations(), layout);
    exclude(Rule::kExperts, times_saturating({judged_experts_.refused, tensor, within}));
    for (int ep : judged_experts_.values) {
      layout.ep = ep;
      layout.etp = 1;
      const Rule rule = check(layout);
      if (is_settled(rule)) {
        exclude_within(rule, tensor, layout);
        continue;
      }
      if (rule == Rule::kExperts) {
        exclude(Rule::kExperts, times_saturating(tensor, within));
        continue;
      }
      look_up();
      exclude(Rule::kExpertTensor, times_saturating(expert_tensors_.refused, within));
      for (int etp : expert_tensors_.values) {
        layout.etp = etp;
        const Rule rule_of_tensor = check(layout);
        if (is_settled(rule_of_tensor)) {
          exclude_within(rule_of_tensor, 1, layout);
          continue;
        }
        if (rule_of_tensor == Rule::kExpertTensor) {
          exclude(Rule::kExpertTensor, within);
          continue;
        }
        for (bool sp : sequence_parallel(layout.tp)) {
          layout.sp = sp;
          over_state(layout);
        }
        layout.sp = false;
      }
    }
  }

  // No rule of check_layout looks at the micro-batch, as long as there is one.
  void over_state(Layout layout) {
    exclude(Rule::kBatch, times_saturating({shardings_.size(), undivided_, recomputes_.size()}));
    if (micro_batches_.empty()) return;
    look_up();
    legal_.clear();
    for (const Recomputation& again : recomputes_) {
      layout.recompute = again.recompute;
      layout.modules = again.modules;
      legal_.push_back(legal_shardings(layout));
    }
    for (int micro_batch : micro_batches_) {
      layout.micro_batch = micro_batch;
      for (std::size_t i = 0; i < recomputes_.size(); ++i) {
        layout.recompute = recomputes_[i].recompute;
        layout.modules = recomputes_[i].modules;
        if (legal_[i] != kNoShardings) add_shape(layout, legal_[i]);
      }
    }
  }

  // Their number among the lists of shardings, or kNoShardings. What is refused is counted for all
  // micro-batches.
  std::uint32_t legal_shardings(Layout layout) {
    std::vector<Sharding> legal;
    for (const Sharding& sharding : shardings_) {
      layout.zero = sharding.zero;
      layout.shard_group = sharding.ranks;
      const Rule rule = check(layout);
      if (rule == Rule::kNone) {
        legal.push_back(sharding);
      } else {
        exclude(rule, micro_batches_.size());
      }
    }
    if (legal.empty()) return kNoShardings;
    const auto [known, is_new] = numbers_.try_emplace(legal, list_.shardings.size());
    if (is_new) list_.shardings.push_back(legal);
    return known->second;
  }

  void add_shape(const Layout& shape, std::uint32_t shardings) {
    layouts_ += list_.shardings[shardings].size();
    if (layouts_ > limits_.layouts || list_.shapes.size() == limits_.shapes)
      throw std::length_error(
          "the choices of [layout] make more than ten million layouts (two million if those count once that "
          "differ in zero and shard_group alone): give fewer values to zero, shard_group, micro_batch, "
          "recompute, schedule, ep or etp");
    list_.shapes.push_back({.layout = shape_of(shape), .shardings = shardings});
  }

  static constexpr std::uint32_t kNoShardings = ~std::uint32_t{0};

  const Problem& problem_;
  const costmodel::Hardware& hardware_;
  const LayoutLimits& limits_;
  LayoutDomain domain_;
  std::vector<int> tensors_, contexts_, experts_;
  std::vector<int> named_expert_tensors_;
  std::vector<int> micro_batches_;  // that divide some batch
  std::size_t undivided_ = 0;       // named ones that divide none
  std::vector<Sharding> shardings_;
  std::size_t pipelines_ = 0;  // to be tried
  // Of the framework at hand, the last of its tp.
  std::vector<costmodel::ContextExchange> kinds_;
  std::vector<Recomputation> recomputes_;
  StageChoices stages_;
  Judged judged_experts_, judged_expert_tensors_, expert_tensors_;
  std::unordered_map<std::int64_t, bool> held_;  // groups of GPUs, by size: whether some GPU count holds them
  std::vector<std::uint32_t> legal_;             // of the shape at hand, by recompute
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
