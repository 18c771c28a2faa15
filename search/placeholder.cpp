#include "search/problem.hpp"
#include "costmodel/collective_time.hpp"
#include "costmodel/kernel_time.hpp"
#include "costmodel/legality.hpp"
#include "costmodel/memory.hpp"
#include "costmodel/parameters.hpp"
#include "search/plan.hpp"
#include "search/outcome.hpp"
namespace trainfront {}
