#pragma once

#include "costmodel/layer_time.hpp"

namespace trainfront::costmodel {

// How long the links work for each block and pass, by part: hidden under compute or not, while block_times
// has what compute waits for. Never shorter than that; other parts are 0.
BlockTimes link_times(const Model& model, const Recipe& recipe, const Layout& layout,
                      const Hardware& hardware, const FrameworkProfile& framework);

}  // namespace trainfront::costmodel
