#include "engine/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "engine/commands/validate.hpp"
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

void add_validate(CLI::App& app, Invocation& chosen) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      add_command(app, "validate", "Compare predictions with measured runs or operators", options);
  command->add_option("files", options->files, "CSV files; their headers tell what they measure")->required();
  command->add_option("--rows", options->rows, "Write every compared row to this CSV file");
  command->add_option("--page", options->page, "Write the result as a Markdown page, with a plot beside it");
  runs_serial(command, chosen, options, run_validate);
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
  } else if (error.get_name() == "ExtrasError") {
    for (const CLI::Option* option : asked.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    const std::vector<std::string> extras = asked.remaining();
    if (!extras.empty()) unknown = extras.front().substr(0, extras.front().find('='));
  }
  if (unknown.empty()) return fmt::format("{}\n{}", error.what(), see);
  if (unknown.front() != '-' && kind == "option") kind = "argument";
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
  add_validate(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help or --version, of the program or of a command
    const auto commands = app.get_subcommands();
    const CLI::App& asked = commands.empty() ? app : *commands.front();
    chosen = {};
    chosen.text =
        dynamic_cast<const CLI::CallForVersion*>(&wanted) ? std::string(wanted.what()) + "\n" : asked.help();
    chosen.status = kDone;
  } catch (const CLI::ParseError& error) {
    chosen = {};
    chosen.text = usage_error(app, error, argc, argv);
    chosen.status = kBadInput;
  }
  return chosen;
}

}  // namespace trainfront::engine
