#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "costmodel/gemm_steps.hpp"
#include "inputs/document.hpp"

namespace trainfront::inputs {

// What profile files call the traits of matrix products, by costmodel::GemmTrait.
inline constexpr auto kGemmTraitNames = std::to_array<std::string_view>({"m",
                                                                         "n",
                                                                         "k",
                                                                         "m n",
                                                                         "n k",
                                                                         "m k",
                                                                         "m n k",
                                                                         "m n k / bytes",
                                                                         "blocks 128x256",
                                                                         "waves 128x256 / m n",
                                                                         "blocks 256x128",
                                                                         "waves 256x128 / m n",
                                                                         "blocks 128x128",
                                                                         "waves 128x128 / m n",
                                                                         "blocks 64x64",
                                                                         "waves 64x64 / m n",
                                                                         "blocks 256x256",
                                                                         "waves 256x256 / m n",
                                                                         "blocks 64x256",
                                                                         "waves 64x256 / m n",
                                                                         "m to 8",
                                                                         "m to 16",
                                                                         "m to 64",
                                                                         "m to 128",
                                                                         "m to 256"});
static_assert(kGemmTraitNames.size() == costmodel::kGemmTraits);

// A list with a line for each tree, to stand behind `steps = `: its questions, and what each row of answers
// makes of the time, as in "m > 16; m n > 65536; ...: -3 0 12 ...".
std::string steps_text(const costmodel::GemmSteps& steps);
// The trees of such a list; none, and a call of fault, where something else stands there.
costmodel::GemmSteps parse_steps(
    const Value& trees,
    const std::function<void(const Value& value, std::string problem, std::string allowed)>& fault);

}  // namespace trainfront::inputs
