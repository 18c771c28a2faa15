#pragma once

#include <cstdint>

#include "costmodel/legality.hpp"

namespace trainfront::costmodel {

// What DeepSpeed of 2026-08 refuses: runtime/engine.py, runtime/pipe/engine.py, runtime/config.py,
// module_inject (AutoTP). Its context parallelism is Ulysses: heads are exchanged, not keys. Degrees are
// >= 1.
Rule check_deepspeed_layout(const Model& model, const Recipe& recipe, const Layout& layout);

}  // namespace trainfront::costmodel
