#include "engine/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/commands/calibrate.hpp"
#include "engine/commands/catalog.hpp"
#include "engine/commands/explain.hpp"
#include "engine/commands/plan.hpp"
#include "engine/commands/redundancy.hpp"
#include "engine/commands/sweep.hpp"
#include "engine/commands/validate.hpp"
#include "engine/commands/watch.hpp"
#include "engine/errors.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/suggest.hpp"

// A command is engine/commands/NAME.hpp, with a plain `struct NameOptions` and `int run_name(const
// NameOptions&)` (on rank 0 alone) or `int run_name(const NameOptions&, World&)` (on all ranks), and one
// add_name below. run_name returns an ExitStatus; whatever it throws, main turns into a message and a status.

namespace trainfront::engine {
namespace {

// The command's own flags; --help comes by itself. `Options` needs a member `bool json`.
template <typename Options>
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& purpose,
                      const std::shared_ptr<Options>& options) {
  CLI::App* command = app.add_subcommand(name, purpose);
  command->add_flag("--json", options->json,
                    "Print one JSON object on standard output, and nothing else there");
  command->set_version_flag("--version", "trainfront " TRAINFRONT_VERSION);
  return command;
}

// Makes `run` what happens when the command is chosen.
template <typename Options>
void runs_serial(CLI::App* command, Invocation& chosen, std::shared_ptr<Options> options,
                 int (*run)(const Options&)) {
  command->callback([&chosen, options, run] { chosen.serial = [options, run] { return run(*options); }; });
}

template <typename Options>
void runs_parallel(CLI::App* command, Invocation& chosen, std::shared_ptr<Options> options,
                   int (*run)(const Options&, World&)) {
  command->callback([&chosen, options, run] {
    chosen.parallel = [options, run](World& world) { return run(*options, world); };
  });
}

// The file that a search reads, and how it runs.
template <typename Options>
void add_search_options(CLI::App* command, Options& options) {
  command->add_option("file", options.file, "The sweep file (TOML)")->required();
  command->add_option("--threads", options.threads, "Threads of each rank; default: its share of the machine")
      ->check(CLI::Range(1, kMostThreads));
  command->add_option("--deadline", options.deadline,
                      "Look for the cheapest plan that ends in time: 30d, 12h");
  command->add_option("--budget", options.budget, "Look for the fastest plan that costs no more: 5M, 850k");
  command->add_option("--probability", options.probability,
                      "Take times and costs that hold with it, as in 0.9, in place of the means");
  command->add_flag("--brute-force", options.brute_force,
                    "Evaluate every plan, without bounds; the same front");
  command->add_option("--progress", options.progress, "auto, bar, plain or none; on standard error")
      ->capture_default_str();
}

void add_sweep(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command = add_command(app, "sweep", "Search the whole space and write its front", options);
  add_search_options(command, *options);
  command
      ->add_option("-o,--output", options->folder,
                   "Folder for front.csv, front.json, run.json and report.html")
      ->capture_default_str();
  CLI::Option* fresh =
      command->add_flag("--fresh", options->fresh, "Start over, whatever a former run has saved");
  command->add_option("--checkpoint-every", options->checkpoint_every, "Save what is done so often")
      ->capture_default_str();
  CLI::Option* limit = command->add_option(
      "--time-limit", options->time_limit,
      "End after this time with the front so far, in the folder's partial/; the same command goes on");
  command
      ->add_flag("--front-so-far", options->front_so_far,
                 "Search no further: write the front of what a former run has saved")
      ->excludes(fresh)
      ->excludes(limit);
  runs_parallel(command, chosen, options, run_sweep);
}

void add_watch(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<WatchOptions>();
  CLI::App* command = add_command(
      app, "watch", "How a sweep is doing: follow it to its end, or ask it for the front so far", options);
  command->add_option("folder", options->folder, "The sweep's output folder")->capture_default_str();
  command->add_flag("--once", options->once, "Look once; --json does too");
  command->add_flag("--finish", options->finish,
                    "Ask the sweep to end with the front so far, and wait for that");
  command->add_option("--every", options->every, "Look so often")->capture_default_str();
  runs_serial(command, chosen, options, run_watch);
}

void add_plan(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = add_command(
      app, "plan", "The one plan to take: cheapest in time, fastest for the money, or the front's knee",
      options);
  add_search_options(command, *options);
  command
      ->add_option("--near-best", options->near_best,
                   "List so many other plans, of other devices or shapes, that are little worse")
      ->check(CLI::Range(1, 1000));
  command->add_option("--within", options->within, "How much worse they may be, a share")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  runs_parallel(command, chosen, options, run_plan);
}

void add_redundancy(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<RedundancyOptions>();
  CLI::App* command =
      add_command(app, "redundancy", "Tabulate over r what redundancy does for a system that fails", options);
  command->add_option("file", options->file, "A sweep file (TOML), one of whose plans is the system");
  command->add_option("--plan", options->plan,
                      "Id of that plan; default: the one that answers the file's goal");
  command->add_option("--groups", options->groups, "N: groups of the system, each lost as a whole");
  command->add_option("--mtbf", options->mtbf, "Mean time between failures of the whole system; inf: none");
  command->add_option("--weibull-shape", options->weibull_shape, "1: exponential")->capture_default_str();
  command->add_option("--rate", options->rate, "The failure rate is falling with the survivors, or constant")
      ->capture_default_str();
  command->add_flag("--failures-in-restart", options->failures_in_restart, "Restarts can fail too");
  command->add_option("--placement", options->placement, "Hosts of a shard: golomb, random or consecutive")
      ->capture_default_str();
  command->add_option("--sub-shards", options->sub_shards,
                      "SPARe: parts of a shard that move on their own. Default: the plan's, or 1");
  command->add_option("--k-max", options->k_max,
                      "SPARe: restart voluntarily after so many lost groups; 0: never. Default: the "
                      "plan's, or 0. Elastic: the same; default: the best");
  command->add_flag("--elastic", options->elastic,
                    "Add a row of elastic shrinking: survivors take over the batches of lost groups");
  command->add_option("--repair", options->repair,
                      "With --elastic: lost groups come back after this, without a restart");
  command->add_option("--restart", options->restart, "A global restart, detection included")
      ->capture_default_str();
  command->add_option("--checkpoint", options->checkpoint, "A checkpoint stops training for this")
      ->capture_default_str();
  command->add_option("--checkpoint-every", options->checkpoint_every, "Steps; default: the best interval");
  command->add_option("--detect", options->detect, "Until a masked failure is known")->capture_default_str();
  command->add_option("--reorder", options->reorder, "Controller and shrinking after it")
      ->capture_default_str();
  command->add_option("--stack-time", options->stack_time, "Compute of one stack")->capture_default_str();
  command->add_option("--sync-time", options->sync_time, "The rest of a step")->capture_default_str();
  command
      ->add_option("--stack-deviation", options->stack_deviation, "Relative spread of stack times, simulated")
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Of the training")->capture_default_str();
  command->add_option("--r", options->r, "MIN:MAX or one number; default 2:20");
  command->add_option("--simulate", options->simulate, "Trials of every row, beside the closed form");
  command->add_option(
      "--failures", options->failures,
      "Simulated runs take their failures from this CSV file (time, units), not from the law");
  command->add_option("--seed", options->seed, "Of the simulations")->capture_default_str();
  command->add_option("--plot", options->plot, "Write time and availability over r to this SVG file");
  command
      ->add_option("--threads", options->threads, "Threads of each rank; default: its share of the machine")
      ->check(CLI::Range(1, kMostThreads));
  runs_parallel(command, chosen, options, run_redundancy);
}

void add_calibrate(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = add_command(app, "calibrate", "Fit a device profile from measurements", options);
  command->add_option("files", options->files, "Operator tables (CSV), nccl-tests output, profiler traces")
      ->required();
  command->add_option("--device", options->device, "The device they were measured on")->required();
  command->add_option("-o,--output", options->output, "Profile to write (default: DEVICE.toml)");
  command
      ->add_option(
          "--catalog", options->catalogs,
          "Put this file (devices of your own, their profiles) over the shipped catalogue; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--reference", options->references,
                      "Part of a source's name: a harness that the profile stands for");
  command->add_option("--relative", options->relative,
                      "A measured device: what the files do not measure is scaled from its profile");
  command->add_option("--collective", options->collective, "What files measured that do not say it");
  command->add_option("--fabric", options->fabric, "Their fabric, as in \"IB NDR 8x400Gb/s per node\"");
  command->add_option("--ranks", options->ranks, "Their number of ranks")->check(CLI::Range(1, 1'000'000));
  command->add_option("--nodes", options->nodes, "Their number of nodes")->check(CLI::Range(1, 1'000'000));
  command->add_flag("--from-data-sheet", options->from_data_sheet,
                    "Scale what is not measured from the data sheet instead of keeping the shipped profile");
  runs_serial(command, chosen, options, run_calibrate);
}

void add_explain(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = add_command(
      app, "explain", "One plan in depth: its step, memory, critical path, run and dollars", options);
  command->add_option("file", options->file, "The sweep file (TOML)")->required();
  CLI::Option* plan = command->add_option("--plan", options->plan, "Its id, as in front.csv");
  command
      ->add_option(
          "--layout", options->layout,
          "What it must be, as in tp=8,pp=4,dp=16,device=h100-sxm; the best of what is left open is taken")
      ->excludes(plan);
  command->add_option("--deadline", options->deadline, "Without --plan: look for the cheapest in time");
  command->add_option("--budget", options->budget, "Without --plan: look for the fastest for the money");
  command->add_option("--probability", options->probability,
                      "Take times and costs that hold with it, as in 0.9, in place of the means");
  command->add_option(
      "--trace", options->trace,
      "Write the step for Perfetto or chrome://tracing to this file, with what each pass consists of");
  command
      ->add_option("--threads", options->threads, "Threads of each rank; default: its share of the machine")
      ->check(CLI::Range(1, kMostThreads));
  runs_parallel(command, chosen, options, run_explain);
}

void add_validate(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      add_command(app, "validate", "Compare predictions with measured runs or operators", options);
  command->add_option("files", options->files, "CSV files; their headers tell what they measure")->required();
  command
      ->add_option("--catalog", options->catalogs,
                   "Put this file (a profile, say) over the shipped catalogue; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--rows", options->rows, "Write every compared row to this CSV file");
  command->add_option("--page", options->page, "Write the result as a Markdown page, with a plot beside it");
  runs_serial(command, chosen, options, run_validate);
}

void add_catalog(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<CatalogOptions>();
  CLI::App* command =
      add_command(app, "catalog", "List devices, nodes, offers, models; import price lists", options);
  command->add_option(
      "what", options->what,
      "devices, networks, nodes, offers, models, failures, egress, or import; default: an overview");
  command->add_option("name", options->name,
                      "One entry, with its sources; for import, a price list of SkyPilot's");
  // One value a flag, so that it does not swallow what follows.
  const auto repeatable = [&](const char* flag, std::vector<std::string>& values, const std::string& text) {
    command->add_option(flag, values, text + "; may be repeated")->allow_extra_args(false);
  };
  repeatable("--catalog", options->files, "Put this catalogue file over the shipped one");
  repeatable("--device", options->devices, "Only this device");
  repeatable("--provider", options->providers, "Only this provider");
  repeatable("--region", options->regions, "Only this region");
  repeatable("--price-model", options->price_models, "Only on_demand, reserved, spot or owned");
  command->add_option("--cloud", options->cloud, "import: whose prices they are");
  command->add_option("--as-of", options->as_of, "import: date of the list, YYYY-MM-DD");
  command->add_option("-o,--output", options->output, "import: write the offers to this file");
  runs_serial(command, chosen, options, run_catalog);
}

// A script whose variable is not set would else get the answer to another question.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty(
      [](std::string& value) { return std::string(value.empty() ? "must not be empty" : ""); }, "");
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0) option->check(not_empty);
    }
  }
}

// What went wrong, with the nearest name where a command or an option is not known.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, int argc,
                        const char* const* argv) {
  const auto chosen = app.get_subcommands();
  const CLI::App& asked = chosen.empty() ? app : *chosen.front();
  const std::string see =
      fmt::format("See {} --help.", chosen.empty() ? "trainfront" : "trainfront " + asked.get_name());

  std::vector<std::string> known;
  std::string unknown;
  std::string kind = "option";
  if (chosen.empty()) {
    kind = "command";
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    if (argc < 2) return fmt::format("which command? One of {}.\n{}", inputs::join(known), see);
    unknown = argv[1];
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const CLI::Option* option : asked.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    // The value of an unknown option is left over too, so the words are looked at one by one.
    for (int at = argc - 1; at > 1; --at) {
      const std::string word(argv[at], std::strcspn(argv[at], "="));
      if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end())
        unknown = word;
    }
  }
  if (unknown.empty()) return fmt::format("{}\n{}", error.what(), see);
  const std::string meant = inputs::nearest(unknown, known);
  const std::string hint = meant.empty() ? fmt::format("one of {}", inputs::join(known))
                                         : fmt::format("did you mean {}?", inputs::in_quotes(meant));
  return fmt::format("unknown {} {}; {}\n{}", kind, inputs::in_quotes(unknown), hint, see);
}

}  // namespace

Invocation parse_command_line(int argc, const char* const* argv) {
  Invocation chosen;
  CLI::App app(
      "Trainfront finds the best way to pre-train a language model: the exact Pareto front of dollars "
      "against "
      "time-to-train.",
      "trainfront");
  app.set_version_flag("--version", "trainfront " TRAINFRONT_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);
  add_sweep(app, chosen);
  add_plan(app, chosen);
  add_watch(app, chosen);
  add_explain(app, chosen);
  add_redundancy(app, chosen);
  add_catalog(app, chosen);
  add_calibrate(app, chosen);
  add_validate(app, chosen);
  refuse_empty_values(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help or --version, of the program or of a command
    const auto commands = app.get_subcommands();
    const CLI::App& asked = commands.empty() ? app : *commands.front();
    chosen = {};
    if (commands.empty() && *argv[1] != '-') {  // help for a command that there is not
      chosen.text = usage_error(app, wanted, argc, argv);
      chosen.status = kBadInput;
      return chosen;
    }
    chosen.text = dynamic_cast<const CLI::CallForVersion*>(&wanted)
                      ? std::string(wanted.what()) + "\n"
                      : asked.help(commands.empty() ? "" : app.get_name());
    chosen.status = kDone;
  } catch (const CLI::ParseError& error) {
    chosen = {};
    chosen.text = usage_error(app, error, argc, argv);
    chosen.status = kBadInput;
  }
  return chosen;
}

}  // namespace trainfront::engine
