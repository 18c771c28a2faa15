#include "costmodel/fit_collective.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "costmodel/fit_link_candidates.hpp"
#include "costmodel/fit_link_pool.hpp"
#include "costmodel/fit_link_samples.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/library_protocol.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kGain = 0.97;  // what is more elaborate must earn its place

using List = std::vector<CollectiveSample>;

// What a fit may see.
struct Seen {
  List own, companion;
  List relatives, relatives_companion;
};

// Held out by size and by ranks and size, without the source: other versions of the library repeat the same
// point.
struct HeldOut {
  ErrorSummary by_size, by_own_size, by_shape;
  bool has_relatives = false;

  // Both what a relative measured and what nobody did may be asked of the table.
  double mean() const {
    return has_relatives ? (by_size.mean + by_own_size.mean + by_shape.mean) / 3
                         : (by_size.mean + by_shape.mean) / 2;
  }
  bool empty() const { return by_size.count == 0 && by_shape.count == 0; }
};

// Of which samples beside its own a fold's keys are left out.
enum class Beside { kNothing, kCompanion, kCompanionAndRelatives };

template <typename Key>
List without_fold(const List& samples, const Key& key, unsigned fold) {
  List rest;
  for (const CollectiveSample& sample : samples) {
    if (fold_of(key(sample)) != fold) rest.push_back(sample);
  }
  return rest;
}

// Errors of each sample when all of its key's fold was left out. fit(Seen) gives a fit.
template <typename Fit, typename Key>
ErrorSummary hold_out_by(const Seen& all, Beside beside, const Key& key, Fit&& fit) {
  std::vector<double> errors;
  for (unsigned fold = 0; fold < kFolds; ++fold) {
    Seen seen = all;
    seen.own = without_fold(all.own, key, fold);
    if (seen.own.empty() || seen.own.size() == all.own.size()) continue;
    const auto runs_dry = [](const List& list, const List& left) { return left.empty() && !list.empty(); };
    if (beside != Beside::kNothing) seen.companion = without_fold(all.companion, key, fold);
    if (beside == Beside::kCompanionAndRelatives) {
      seen.relatives = without_fold(all.relatives, key, fold);
      seen.relatives_companion = without_fold(all.relatives_companion, key, fold);
    }
    if (runs_dry(all.companion, seen.companion) || runs_dry(all.relatives, seen.relatives) ||
        runs_dry(all.relatives_companion, seen.relatives_companion)) {
      continue;
    }
    const FittedLink fitted = fit(seen);
    for (const CollectiveSample& sample : all.own) {
      if (fold_of(key(sample)) == fold) errors.push_back(predict(fitted, sample) / sample.seconds - 1);
    }
  }
  return summarize(errors);
}

template <typename Fit>
HeldOut hold_out(const Seen& all, const LinkCandidate& candidate, Fit&& fit) {
  const auto size = [](const CollectiveSample& sample) { return static_cast<std::uint64_t>(sample.bytes); };
  const auto shape = [](const CollectiveSample& sample) {
    return static_cast<std::uint64_t>(sample.bytes) * 64 +
           static_cast<std::uint64_t>(sample.placement.ranks) * 7;
  };
  HeldOut held_out{.by_size = hold_out_by(all, Beside::kCompanionAndRelatives, size, fit),
                   .by_own_size = {},
                   .by_shape = hold_out_by(all, Beside::kNothing, shape, fit),
                   .has_relatives = !all.relatives.empty()};
  held_out.by_own_size = candidate.basis == LinkBasis::kRelatives
                             ? hold_out_by(all, Beside::kCompanion, size, fit)
                             : held_out.by_size;
  return held_out;
}

// Those of the same sources, of the sizes that are scored.
List of_same_sources(const List& companion, const List& kept) {
  std::set<int> sources;
  for (const CollectiveSample& sample : kept) sources.insert(sample.source);
  List same;
  for (const CollectiveSample& sample : scored_of(companion)) {
    if (sources.contains(sample.source)) same.push_back(sample);
  }
  return same;
}

// The samples as the source that the fit stands for would have measured them.
List without_factors(const FittedLink& fitted, List samples) {
  for (CollectiveSample& sample : samples) {
    const auto scale = fitted.scale.find(sample.source);
    if (scale != fitted.scale.end()) sample.seconds /= scale->second;
  }
  return samples;
}

}  // namespace

std::optional<Collective> companion_of(Collective collective) {
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kAllReduce:
      return Collective::kReduceScatter;
    case Collective::kReduceScatter:
      return Collective::kAllGather;
    default:
      return std::nullopt;
  }
}

void fit_link(Device& device, Collective collective, const LinkMeasurements& measured, FitScore& score,
              std::vector<std::string>& left_out) {
  Hardware hardware;
  hardware.device = device;
  const std::vector<bool>& preferred = measured.preferred;
  const LinkSamples samples =
      plausible_link_samples(hardware, collective, measured.samples, measured.sources, preferred, left_out);
  const List& kept = samples.kept;
  if (kept.empty()) return;

  Seen all{.own = scored_of(kept),
           .companion = of_same_sources(measured.companions, kept),
           .relatives = {},
           .relatives_companion = {}};
  for (const LinkMeasurements::Relative& relative : measured.relatives) {
    std::vector<std::string> not_said;
    const List near =
        plausible_link_samples(hardware, collective, relative.samples, measured.sources, preferred, not_said)
            .kept;
    const List beside = of_same_sources(relative.companions, near);
    all.relatives.insert(all.relatives.end(), near.begin(), near.end());
    all.relatives_companion.insert(all.relatives_companion.end(), beside.begin(), beside.end());
  }

  // A fit of one kind of shape on samples, with a companion's where the shape asks for them.
  const auto fit_shape = [&](Shape shape, const List& list, const List& beside) {
    Guide guide{.shape = shape};
    const bool by_library = shape == Shape::kByLibraryBeside;
    if (shape != Shape::kCompanion && !by_library)
      return fit_pooled(hardware, collective, guide, preferred, list);
    guide.companion = *companion_of(collective);
    const FittedLink companion =
        fit_pooled(hardware, guide.companion, {.shape = by_library ? Shape::kByLibrary : Shape::kStepBySize},
                   preferred, beside);
    guide.companion_fit = &companion.hardware;
    const List of_one_source = without_factors(companion, beside);
    guide.companion_samples = &of_one_source;
    return fit_pooled(hardware, collective, guide, preferred, list);
  };
  const auto fit_with = [&](const LinkCandidate& candidate) {
    return [&, candidate, whole = std::optional<FittedLink>(),
            part = std::optional<FittedLink>()](const Seen& seen) mutable {
      if (candidate.basis == LinkBasis::kOwn) return fit_shape(candidate.shape, seen.own, seen.companion);
      if (candidate.basis == LinkBasis::kEarlierTable) {
        return fit_pooled(hardware, collective, {.like = &hardware, .keeps_extent = true}, preferred,
                          seen.own);
      }
      // Most folds leave nothing of theirs out.
      const bool is_whole = seen.relatives.size() == all.relatives.size() &&
                            seen.relatives_companion.size() == all.relatives_companion.size();
      std::optional<FittedLink>& relative = is_whole ? whole : part;
      if (!is_whole || !relative)
        relative = fit_shape(candidate.shape, seen.relatives, seen.relatives_companion);
      return fit_pooled(hardware, collective, {.like = &relative->hardware}, preferred, seen.own);
    };
  };

  score.form = kept.size() >= kLeastTableSamples ? "table" : "form";
  score.samples = kept.size();
  LinkCandidate chosen;
  HeldOut held_out = hold_out(all, chosen, fit_with(chosen));
  // Samples of which nothing can be held out, as messages below 64 KiB alone, prove nothing against a table.
  if (held_out.empty() && measured.has_earlier_table) {
    chosen.basis = LinkBasis::kEarlierTable;
    score.form = chosen.name();
  }
  const LinkCandidateCounts counts{.own = kept.size(),
                                   .companion = all.companion.size(),
                                   .relatives = all.relatives.size(),
                                   .relatives_companion = all.relatives_companion.size()};
  const bool by_library = library_chooses(library_fabric(device), collective);
  for (const LinkCandidate& candidate : link_candidates(by_library, counts, measured.has_earlier_table)) {
    const HeldOut trial = hold_out(all, candidate, fit_with(candidate));
    // A mean that is no number is never better.
    if (!(trial.mean() < kGain * held_out.mean())) continue;
    chosen = candidate;
    held_out = trial;
    score.form = candidate.name();
  }
  score.keeps_earlier_table = chosen.basis == LinkBasis::kEarlierTable;
  score.by_size = held_out.by_size;
  if (chosen.basis == LinkBasis::kRelatives) score.by_own_size = held_out.by_own_size;
  score.by_shape = held_out.by_shape;

  all.own = kept;
  const FittedLink fitted = fit_with(chosen)(all);
  score.other_sources =
      score_other_sources(samples.others, measured.sources,
                          [&](const CollectiveSample& sample) { return predict(fitted, sample); });
  device.profile = fitted.hardware.device.profile;
}

}  // namespace trainfront::costmodel
