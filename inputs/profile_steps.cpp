#include "inputs/profile_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace trainfront::inputs {
namespace {

using costmodel::GemmQuestion;
using costmodel::GemmTree;

constexpr std::string_view kAbove = " > ", kBetween = "; ", kThen = ": ";
constexpr int kMostLeaf = 1000;

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// In as few digits as read back the same; seven do for what was fitted here.
std::string exact_text(double number) {
  std::string text = fmt::format("{:.7g}", number);
  double read = 0;
  if (!read_number(text, read) || read != number) text = fmt::format("{}", number);
  return text;
}

// As in "m n > 65536".
std::string question_text(const GemmQuestion& question) {
  return fmt::format("{}{}{}", kGemmTraitNames[static_cast<std::size_t>(question.trait)], kAbove,
                     exact_text(question.above));
}

// Cuts off and returns what stands before `mark`, all where it is not.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return part;
}

bool read_question(std::string_view text, GemmQuestion& question) {
  const std::string_view trait = take_until(text, kAbove);
  const auto* name = std::find(kGemmTraitNames.begin(), kGemmTraitNames.end(), trait);
  if (name == kGemmTraitNames.end()) return false;
  question.trait = static_cast<costmodel::GemmTrait>(name - kGemmTraitNames.begin());
  return read_number(text, question.above) && std::isfinite(question.above);
}

// What is wrong with the text of a tree; empty, and the tree, where nothing is.
std::string read_tree(std::string_view text, GemmTree& tree) {
  std::string_view questions = take_until(text, kThen);
  for (GemmQuestion& question : tree.questions) {
    const std::string_view asked = take_until(questions, kBetween);
    if (!read_question(asked, question)) return fmt::format("not a question: \"{}\"", asked);
  }
  if (!questions.empty()) return "too many questions";
  for (std::int16_t& leaf : tree.log_thousandths) {
    const std::string_view number = take_until(text, " ");
    if (!read_number(number, leaf) || std::abs(leaf) > kMostLeaf)
      return fmt::format("not a logarithm of a factor, in thousandths: \"{}\"", number);
  }
  return text.empty() ? "" : "too many numbers";
}

}  // namespace

std::string steps_text(const costmodel::GemmSteps& steps) {
  std::string text = "[\n";
  for (const GemmTree& tree : steps) {
    std::vector<std::string> questions;
    for (const GemmQuestion& question : tree.questions) questions.push_back(question_text(question));
    text += fmt::format("  \"{}{}{}\",\n", fmt::join(questions, kBetween), kThen,
                        fmt::join(tree.log_thousandths, " "));
  }
  return text + "]\n";
}

costmodel::GemmSteps parse_steps(
    const Value& trees,
    const std::function<void(const Value& value, std::string problem, std::string allowed)>& fault) {
  if (trees.kind != Value::Kind::kList) {
    fault(trees, "wrong type", "a list of texts");
    return {};
  }
  costmodel::GemmSteps steps;
  for (const Value& item : trees.items) {
    GemmTree tree;
    const std::string problem =
        item.kind == Value::Kind::kText ? read_tree(item.text, tree) : "not the text of a tree";
    if (!problem.empty()) {
      fault(
          item, problem,
          fmt::format("{} times \"TRAIT > NUMBER\", with \"; \" between them and \": \" behind them, then {} "
                      "whole numbers from {} to {}; traits: {}",
                      tree.questions.size(), tree.log_thousandths.size(), -kMostLeaf, kMostLeaf,
                      fmt::join(kGemmTraitNames, ", ")));
      return {};
    }
    steps.push_back(tree);
  }
  return steps;
}

}  // namespace trainfront::inputs
