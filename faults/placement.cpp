#include "faults/placement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "faults/random.hpp"

namespace trainfront::faults {
namespace {

std::int64_t modulo(std::int64_t value, std::int64_t n) {
  return value < 0 ? value + n : value;
}

// The offsets chosen so far and how often each difference of two of them occurs, modulo N.
class Ruler {
 public:
  explicit Ruler(std::int64_t n)
      : n_(n), marked_(static_cast<std::size_t>(n), false), seen_(static_cast<std::size_t>(n), 0) {
    add(0);
  }

  const std::vector<std::int64_t>& marks() const { return marks_; }

  void add(std::int64_t mark) {
    for (const std::int64_t other : marks_) {
      ++seen_[static_cast<std::size_t>(modulo(mark - other, n_))];
      ++seen_[static_cast<std::size_t>(modulo(other - mark, n_))];
    }
    marks_.push_back(mark);
    marked_[static_cast<std::size_t>(mark)] = true;
  }

  // Differences that `candidate` would repeat; at least `enough` where there are so many.
  std::int64_t repeats(std::int64_t candidate, std::int64_t enough) const {
    if (marked_[static_cast<std::size_t>(candidate)]) return enough;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < marks_.size() && sum < enough; ++i) {
      sum += 2 * seen_[static_cast<std::size_t>(modulo(candidate - marks_[i], n_))];
      // candidate - a = b - candidate: the same difference twice at once.
      const std::int64_t mirrored = (2 * candidate - marks_[i] + n_) % n_;
      sum += marked_[static_cast<std::size_t>(mirrored)] ? 1 : 0;
    }
    return sum;
  }

 private:
  std::int64_t n_;
  std::vector<std::int64_t> marks_;
  std::vector<bool> marked_;
  std::vector<int> seen_;
};

// Greedy: the smallest offset that repeats no difference (the sequence of Mian and Chowla, modulo N); where
// there is none any more, the one that repeats the fewest. An offset passed over once never becomes free
// again.
std::vector<std::int64_t> golomb_offsets(std::int64_t n, int r) {
  Ruler ruler(n);
  std::int64_t from = 1;
  while (std::ssize(ruler.marks()) < r) {
    std::int64_t best = -1;
    std::int64_t fewest = 4 * n * n;
    for (std::int64_t candidate = from; candidate < n && fewest > 0; ++candidate) {
      const std::int64_t repeats = ruler.repeats(candidate, fewest);
      if (repeats < fewest) {
        fewest = repeats;
        best = candidate;
      }
    }
    if (fewest > 0 && from > 1) {  // the free ones are used up: look at all again
      from = 1;
      continue;
    }
    ruler.add(best);
    if (fewest == 0) from = best + 1;
  }
  std::vector<std::int64_t> chosen = ruler.marks();
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::int64_t> random_offsets(std::int64_t n, int r, std::uint64_t seed) {
  // Floyd's sample of r - 1 of 1 .. n-1 (Bentley, "Programming Pearls", 1987).
  Random random(seed, static_cast<std::uint64_t>(n) << 20 | static_cast<std::uint64_t>(r));
  std::vector<std::int64_t> chosen{0};
  for (std::int64_t top = n - r + 1; top < n; ++top) {
    const std::int64_t drawn = 1 + random.below(static_cast<std::uint32_t>(top));
    const bool taken = std::find(chosen.begin(), chosen.end(), drawn) != chosen.end();
    chosen.push_back(taken ? top : drawn);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

std::vector<std::int64_t> offsets(std::int64_t n, int r, Placement placement, std::uint64_t seed) {
  if (r < 1 || r > n) return {};
  if (placement == Placement::kGolomb && r < n) return golomb_offsets(n, r);
  if (placement == Placement::kRandom && r < n) return random_offsets(n, r, seed);
  std::vector<std::int64_t> run;
  for (std::int64_t offset = 0; offset < r; ++offset) run.push_back(offset);
  return run;
}

std::vector<Overlap> overlaps(std::int64_t n, int r, const std::vector<std::int64_t>& offsets) {
  if (r < 1 || r > n || std::ssize(offsets) != r) return {};
  std::unordered_map<std::int64_t, int> differences;
  for (const std::int64_t a : offsets) {
    for (const std::int64_t b : offsets) {
      if (a != b) ++differences[modulo(a - b, n)];
    }
  }
  std::map<int, double> types;
  types[0] = static_cast<double>(n - 1 - std::ssize(differences));
  for (const auto& [difference, hosts] : differences) types[hosts] += 1;
  std::vector<Overlap> result;
  for (const auto& [hosts, count] : types) {
    if (count > 0) result.push_back({hosts, count});
  }
  return result;
}

std::vector<Overlap> random_overlaps(std::int64_t n, int r) {
  if (r < 1 || r > n) return {};
  if (n == 1) return {};
  if (r == n) return {{r, static_cast<double>(n - 1)}};
  const double all = log_choose(static_cast<double>(n), r);
  std::vector<Overlap> result;
  double total = 0;
  for (int hosts = 0; hosts < r; ++hosts) {
    const int blocks = r - hosts;
    if (blocks > n - r) continue;
    const double log_share = std::log(static_cast<double>(n) / blocks) + log_choose(r - 1, blocks - 1) +
                             log_choose(static_cast<double>(n - r - 1), blocks - 1) - all;
    const double types = static_cast<double>(n - 1) * std::exp(log_share);
    if (types < 1e-12 * static_cast<double>(n)) continue;
    result.push_back({hosts, types});
    total += types;
  }
  for (Overlap& overlap : result) overlap.types *= static_cast<double>(n - 1) / total;
  return result;
}

}  // namespace trainfront::faults
