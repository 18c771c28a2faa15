#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/framework_profile.hpp"
#include "costmodel/hardware.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/offer.hpp"
#include "costmodel/recipe.hpp"
#include "costmodel/step_time.hpp"
#include "faults/protection.hpp"

namespace trainfront::search {

// What the user lets the search vary in a layout. An empty list is "auto": the search takes every value that
// can be legal for the model, the hardware and the GPU counts (see space.cpp).
struct LayoutChoices {
  std::vector<costmodel::Framework> framework = {costmodel::Framework::kMegatron};
  std::vector<int> tp, cp, pp, vpp, ep, etp, zero, shard_group, micro_batch;
  std::vector<bool> sp;
  std::vector<costmodel::Recompute> recompute;
  // Of context parallelism, and of Megatron's selective recomputation. Absent: the framework's own way alone;
  // empty: every way it has.
  std::optional<std::vector<costmodel::ContextExchange>> cp_type;
  std::optional<std::vector<costmodel::RecomputeModules>> recompute_modules;
  std::vector<costmodel::Schedule> schedule;
};

// Offers that rent the same hardware. GPU counts that the offers' nodes cannot hold are illegal plans.
struct HardwareClass {
  costmodel::Hardware hardware;
  std::vector<costmodel::Offer> offers;
  double node_mtbf_s = 0;  // of one node of this kind; 0: FailureModel's
};

// A place for checkpoints that each node reaches by itself.
struct QuickTier {
  double node_bytes_per_s = 0;  // to and from one node; 0: no limit
  double blocking_share = 1;    // of a write, that stops the training
};

// Failures and what surviving them costs.
struct FailureModel {
  faults::FailureLaw law;
  double node_mtbf_s = 0;  // of one node; infinity: failures are not modelled
  std::string node_mtbf_source;
  double detect_s = 0;       // from the failure to its discovery
  double replace_s = 0;      // until a replacement node is there; 0 with hot spares
  double start_fixed_s = 0;  // process groups, warm-up
  double start_per_node_s = 0;
  double storage_bytes_per_s = 0;       // of the shared file system, all nodes together
  double node_storage_bytes_per_s = 0;  // one node's share of the way there
  double blocking_fixed_s = 0;          // a checkpoint stops the training for this
  double blocking_share = 1;            // and for this share of its write (asynchronous: small)
  QuickTier local, peer;                // faults::CheckpointTier
  double node_loss_share = 1;           // of failures, those that take the node's memory and disk away
  double repair_s = 0;        // from a failure until the node is back, where training waits for none
  double controller_s = 0.1;  // to decide on a new order after a masked failure
  double shrink_s = 0.1;      // to shrink communicators
};

struct Goal {
  std::optional<double> deadline_s;
  std::optional<double> budget_usd;
  // With which deadline and budget must hold, and at which the front is taken; without, in the mean. From
  // faults::kLeastProbability to kMostProbability.
  std::optional<double> probability;
};

// Everything a search depends on; immutable once read.
struct Problem {
  costmodel::Model model;
  costmodel::Recipe recipe;
  std::vector<std::int64_t> global_batches;  // sequences, ascending
  LayoutChoices layout;
  std::vector<std::int64_t> gpus;  // ascending
  std::vector<HardwareClass> hardware;
  std::vector<faults::Protection> protections;  // every entry one choice: kind, r, ...
  FailureModel failures;
  std::vector<costmodel::Islands> islands = {{}};
  Goal goal;
};

}  // namespace trainfront::search
