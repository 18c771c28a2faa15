#pragma once

#include "costmodel/layout.hpp"

namespace trainfront::costmodel {

// GPUs of a scale-up domain that a layout's ranks fill before they go on in the next. All of a server's. Of a
// rack as many as keep its tensor, context and expert groups whole, in nodes of four: 64 of 72 where these
// are powers of two, as schedulers cut racks into segments (Slurm, topology/block: --segment).
int segment_gpus(const Layout& layout, int domain_gpus);

}  // namespace trainfront::costmodel
