#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// What a smooth function of three sizes cannot tell of matrix products: the library takes another kernel from
// one size to the next, and a wave that is hardly begun costs as much as a full one. A sum of symmetric
// decision trees (each level asks one question of all), as in Prokhorenkova et al., CatBoost, NeurIPS 2018.

// What questions are about.
enum class GemmTrait : std::uint8_t {
  kM,
  kN,
  kK,
  kOutputs,                // m n
  kWeights,                // n k
  kInputs,                 // m k
  kProducts,               // m n k
  kIntensity,              // m n k / bytes
  kTiles,                  // for each of kStepTiles: its blocks, then outputs of whole waves of it over m n
  kShortOf = kTiles + 12,  // for each of kStepMultiples: rows that m lacks to a whole multiple of it
  kEnd = kShortOf + 5
};
inline constexpr std::size_t kGemmTraits = static_cast<std::size_t>(GemmTrait::kEnd);

inline double gemm_bytes(Precision precision, double m, double n, double k) {
  return (precision == Precision::kFp8 ? 1 : 2) * k * (m + n) + 2 * m * n;
}

struct StepTile {
  int rows, columns;
};
inline constexpr std::array<StepTile, 6> kStepTiles{
    {{128, 256}, {256, 128}, {128, 128}, {64, 64}, {256, 256}, {64, 256}}};
inline constexpr std::array<int, 5> kStepMultiples{8, 16, 64, 128, 256};

static_assert(static_cast<std::size_t>(GemmTrait::kShortOf) - static_cast<std::size_t>(GemmTrait::kTiles) ==
              2 * kStepTiles.size());
static_assert(static_cast<std::size_t>(GemmTrait::kEnd) - static_cast<std::size_t>(GemmTrait::kShortOf) ==
              kStepMultiples.size());

using GemmTraits = std::array<double, kGemmTraits>;
// Sizes > 0, in whole numbers.
GemmTraits gemm_traits(Precision precision, int compute_units, double m, double n, double k);

struct GemmQuestion {
  GemmTrait trait = GemmTrait::kM;
  double above = 0;  // is the trait above this?

  bool operator==(const GemmQuestion&) const = default;
};

inline constexpr std::size_t kStepDepth = 6;

struct GemmTree {
  std::array<GemmQuestion, kStepDepth> questions{};
  // By the answers as binary digits, the first question's the highest.
  std::array<std::int16_t, std::size_t{1} << kStepDepth> log_thousandths{};

  std::size_t leaf(const GemmTraits& traits) const {
    std::size_t answers = 0;
    for (const GemmQuestion& question : questions)
      answers = 2 * answers +
                static_cast<std::size_t>(traits[static_cast<std::size_t>(question.trait)] > question.above);
    return answers;
  }
  bool operator==(const GemmTree&) const = default;
};

using GemmSteps = std::vector<GemmTree>;

// What a product takes over what the table says, as a factor of 1/2 to 2; 1 without trees.
double step_factor(const GemmSteps& steps, const GemmTraits& traits);
inline constexpr double kMostStep = 2;

}  // namespace trainfront::costmodel
