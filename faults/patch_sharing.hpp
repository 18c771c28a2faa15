#pragma once

#include <limits>

namespace trainfront::faults {

// How many patches there are to a masked failure: fewer than one where failures share a step, more where they
// hit patches. With failures w apart in the mean, steps of y w and patches of z w, a step is hit with the
// chance P(y), the integral of the gaps' survival S over it, and a patch stays unhit with
//   E = (P(y + z) - P(z))/P(y),
// so that each step that is hit takes 1/E patches, and there are
//   1/(y E/P(y) + z)
// patches a failure (renewal.hpp; for exponential failures E = e^-z, P = 1 - e^-y). The kernel takes
//   y/P(y) = 1 + step y + step_twice y^2,   1/E = 1 + z (patch + patch_twice z + both y).
struct PatchFit {
  double step = 0;
  double step_twice = 0;
  double patch = 0;
  double patch_twice = 0;
  double both = 0;
};

// Least squares for gaps of a Weibull law (1: exponential), y up to 1.5 and z up to 0.8: the time that
// patches take is within 0.1 % of all time for shape 1, 0.4 % from 0.75 to 1.25, 1.3 % from 0.6 to 2, 2 % at
// 0.5.
PatchFit patch_fit(double weibull_shape);

// Sums over the states of a cycle, by what their patches take.
struct SharedPatches {
  double lost = 0;    // sum of M l/T, in steps, were there one patch to a failure
  double weight = 0;  // the same, with the last patch before a voluntary restart
  double step = 0;    // each times y/f
  double step_twice = 0;
  double patch = 0;  // each times z/f

  // A class of M failures, T(c) = `seconds`, g failures per MTBF, patches of `patch_s`.
  void add(double failures, double crowding, double seconds, double inverse, double patch_s) {
    const double steps = failures * patch_s * inverse;
    lost += steps;
    weigh(steps, crowding, seconds, patch_s);
  }
  // The last one, with that chance.
  void add_last(double chance, double crowding, double seconds, double patch_s) {
    weigh(chance * patch_s / seconds, crowding, seconds, patch_s);
  }

 private:
  void weigh(double steps, double crowding, double seconds, double patch_s) {
    const double y = crowding * seconds;
    weight += steps;
    step += steps * y;
    step_twice += steps * (y * y);
    patch += steps * (crowding * patch_s);
  }
};

// Of the failure rate f:  y/P = 1 + f (shared + f shared_twice), z = f patch, 1/E = 1 + f (again + f
// again_twice), and beyond f = most no more are shared.
struct PatchQuotient {
  double shared = 0;
  double shared_twice = 0;
  double patch = 0;
  double again = 0;
  double again_twice = 0;
  double most = std::numeric_limits<double>::infinity();
};

// `repeats`: 1, or 0 if patches are stops that nothing hits.
inline PatchQuotient patch_quotient(const SharedPatches& sum, const PatchFit& fit, double repeats) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double scale = sum.weight > 0 ? 1 / sum.weight : 0;
  const double y = sum.step * scale;
  const double squares = sum.step_twice * scale;
  PatchQuotient quotient;
  quotient.shared = fit.step * y;
  // The mean over the states is one of quotients.
  quotient.shared_twice = fit.step_twice * squares - fit.step * fit.step * (squares - y * y);
  quotient.patch = sum.patch * scale;
  quotient.again = repeats * fit.patch * quotient.patch;
  quotient.again_twice = repeats * quotient.patch * (fit.patch_twice * quotient.patch + fit.both * y);
  // Below 1/sqrt(shared_twice), by the means of 0.3 y and shared_twice/0.3 y; so patches a second never fall
  // with f. Nor may 1/E or y/P.
  const double twice = quotient.shared_twice > 0 ? quotient.shared_twice : 0;
  const double part = 0.3 * y;
  const double most = y > 0 ? 2 * part / (twice + part * part) : kNever;
  const double most_steps =
      quotient.shared_twice < 0 ? -0.5 * quotient.shared / quotient.shared_twice : kNever;
  const double most_patches =
      quotient.again_twice < 0 ? -0.5 * quotient.again / quotient.again_twice : kNever;
  const double less = most_steps < most_patches ? most_steps : most_patches;
  quotient.most = most < less ? most : less;
  return quotient;
}

}  // namespace trainfront::faults
