#include <fmt/core.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "engine/reports/explanation.hpp"
#include "engine/reports/json_writer.hpp"

namespace trainfront::engine {
namespace {

constexpr int kFirstWait = static_cast<int>(costmodel::PathPart::kTensorParallel);

// Within its pass, part after part: shares of it, not the order of its kernels. Whole nanoseconds, rounded
// down, so that none sticks out of its pass in a viewer that counts those.
void write_parts(const costmodel::StepEvent& event, JsonWriter& json) {
  double passed_ns = 0;
  for (std::size_t i = 0; i < event.parts.seconds.size(); ++i) {
    const double ns = std::floor(event.parts.seconds[i] * 1e9);
    if (ns <= 0) continue;
    const auto part = static_cast<costmodel::PathPart>(i);
    const bool waits = static_cast<int>(i) >= kFirstWait;
    json.begin_object().field("name",
                              fmt::format("{}{}", waits ? "wait: " : "", costmodel::path_part_name(part)));
    json.field("ph", "X").field("pid", event.stage).field("tid", 0);
    json.field("ts", event.start_s * 1e6 + passed_ns / 1e3).field("dur", ns / 1e3).end_object();
    passed_ns += ns;
  }
}

void write_name(std::string_view kind, int stage, int thread, const std::string& name, JsonWriter& json) {
  json.begin_object().field("name", kind).field("ph", "M").field("pid", stage).field("tid", thread);
  json.begin_object("args").field("name", name).end_object().end_object();
}

void write_streams(const Explanation& explanation, JsonWriter& json) {
  std::set<std::pair<int, costmodel::Stream>> used;
  for (const costmodel::StepEvent& event : explanation.events)
    used.insert({event.stage, costmodel::Stream::kCompute});
  for (const costmodel::StreamEvent& event : explanation.streams) used.insert({event.stage, event.stream});
  for (const auto& [stage, stream] : used)
    write_name("thread_name", stage, static_cast<int>(stream), std::string(stream_name(stream)), json);
  for (const costmodel::StreamEvent& event : explanation.streams) {
    json.begin_object().field("name", event.name).field("ph", "X").field("pid", event.stage);
    json.field("tid", static_cast<int>(event.stream)).field("ts", event.start_s * 1e6);
    json.field("dur", event.seconds * 1e6).begin_object("args");
    json.field("chunk", event.chunk).field("micro_batch", event.micro_batch);
    json.field("busy_us", event.busy_s * 1e6).field("waited_us", event.waited_s * 1e6);
    json.end_object().end_object();
  }
}

}  // namespace

std::string trace_json(const Explanation& explanation) {
  const int stages = explanation.row.plan.layout.pp;
  JsonWriter json;
  json.begin_object().field("displayTimeUnit", "ms").begin_array("traceEvents");
  for (int stage = 0; stage <= stages; ++stage) {
    write_name("process_name", stage, 0,
               stage == stages ? std::string("all stages") : fmt::format("stage {}", stage), json);
  }
  write_streams(explanation, json);
  for (const costmodel::StepEvent& event : explanation.events) {
    json.begin_object().field("name", event.name).field("ph", "X").field("pid", event.stage).field("tid", 0);
    json.field("ts", event.start_s * 1e6).field("dur", event.seconds * 1e6).begin_object("args");
    json.field("chunk", event.chunk)
        .field("micro_batch", event.micro_batch)
        .field("critical", event.critical);
    json.end_object().end_object();
    write_parts(event, json);
  }
  return json.end_array().end_object().take();
}

}  // namespace trainfront::engine
