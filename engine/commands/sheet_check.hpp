#pragma once

#include <string>
#include <vector>

#include "costmodel/fit_samples.hpp"
#include "costmodel/hardware.hpp"

namespace trainfront::engine {

// What nobody can have measured: InputError where even the best of a source's samples of an operation takes
// kFarTooSlow times what the data sheet says beside kSlackSeconds (public tables' best take 0.1 to 1.5 times
// it, whatever shapes they hold; units of time lie a thousand apart), or where a collective's time within a
// domain grows with bytes kFarTooSteep times as fast as the data sheet's link says beside kSlackSeconds
// (kilobytes for bytes).
void refuse_far_too_slow(const costmodel::Device& device, const costmodel::Samples& samples);
inline constexpr double kFarTooSlow = 20;
inline constexpr double kFarTooSteep = 200;
inline constexpr double kSlackSeconds = 50e-6;  // of launching, and of what small work leaves idle

// Fitted rates far below the data sheet, in words: true of kernels that are bad or of clocks that are held
// down, and to be looked at before money rests on it. Shipped profiles hold 0.5 to 1.1 of the dense peak and
// of the link; memory-bound kernels, by what they count as bytes, 0.15 to 1.1 of memory's rate.
std::vector<std::string> far_below_sheet(const costmodel::Device& fitted, const costmodel::Samples& samples);
inline constexpr double kLeastOfRate = 0.3, kLeastOfMemory = 0.1;

}  // namespace trainfront::engine
