#include "inputs/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "costmodel/kernel_time.hpp"
#include "inputs/document.hpp"
#include "inputs/profile_fields.hpp"
#include "inputs/profile_steps.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::DeviceProfile;
using costmodel::Evidence;

// Takes sections and keys out of the tree; what was never asked for is unknown.
class Reader {
 public:
  Reader(const Document& document, Diagnostics& faults) : document_(document), faults_(faults) {}

  // "a.b" is table b of table a. Null if the file lacks it.
  const Value* section(std::string_view path) {
    const Value* table = &document_.root;
    std::string so_far;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t dot = std::min(path.find('.', begin), path.size());
      so_far = path.substr(0, dot);
      known_.insert(so_far);
      table = table->find(path.substr(begin, dot - begin));
      if (table == nullptr) return nullptr;
      if (table->kind != Value::Kind::kTable) {
        fault(*table, so_far, "wrong type", "a section");
        return nullptr;
      }
      begin = dot + 1;
    }
    return table;
  }

  void number(const Value& table, std::string_view section, std::string_view key, double& value, double least,
              double most) {
    const std::string path = know(section, key);
    const Value* found = table.find(key);
    if (found == nullptr) return;
    if (!found->is_number()) {
      fault(*found, path, "wrong type", "a number");
    } else if (!(found->real >= least && found->real <= most)) {
      fault(*found, path, "out of range", fmt::format("{:.6g} to {:.6g}", least, most));
    } else {
      value = found->real;
    }
  }

  void evidence(const Value& table, std::string_view section, Evidence& value) {
    const std::string path = know(section, "evidence");
    const Value* found = table.find("evidence");
    if (found == nullptr) return;
    const auto* name = std::find(kEvidenceNames.begin(), kEvidenceNames.end(), found->text);
    if (found->kind == Value::Kind::kText && name != kEvidenceNames.end()) {
      value = static_cast<Evidence>(name - kEvidenceNames.begin());
    } else {
      fault(*found, path, "not a kind of evidence",
            fmt::format("one of {}", fmt::join(kEvidenceNames, ", ")));
    }
  }

  std::string know(std::string_view section, std::string_view key) {
    std::string path = section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
    known_.insert(path);
    return path;
  }

  void fault(const Value& value, std::string key, std::string problem, std::string allowed) {
    faults_.add({document_.file, value.at, std::move(key), std::move(problem), describe(value),
                 std::move(allowed), ""});
  }

  void check_unknown() { check_unknown(document_.root, ""); }

 private:
  void check_unknown(const Value& table, const std::string& prefix) {
    for (const Value::Member& member : table.members) {
      const std::string path = prefix + member.key;
      if (!known_.contains(path)) {
        const std::vector<std::string> names(known_.begin(), known_.end());
        faults_.add({document_.file, member.at, path, "unknown key", "", "", nearest(path, names)});
      } else if (member.value.kind == Value::Kind::kTable) {
        check_unknown(member.value, path + ".");
      }
    }
  }

  const Document& document_;
  Diagnostics& faults_;
  std::set<std::string> known_;
};

std::vector<double> read_axis(Reader& reader, const Value& section, const std::string& path,
                              std::string_view name) {
  const std::string key = reader.know(path, name);
  const Value* list = section.find(name);
  if (list == nullptr || list->kind != Value::Kind::kList || list->items.empty()) {
    reader.fault(list == nullptr ? section : *list, key, "not an axis", "a list of sizes");
    return {};
  }
  std::vector<double> axis;
  for (const Value& size : list->items) {
    if (!size.is_number() || !(size.real > 0) || (!axis.empty() && std::log2(size.real) <= axis.back())) {
      reader.fault(size, key, "not a size of an axis", "numbers above 0 that rise");
      return {};
    }
    axis.push_back(std::log2(size.real));
  }
  return axis;
}

void read_table(Reader& reader, const std::string& section, AxisNames names,
                costmodel::MonotoneTable& table) {
  const std::string path = section + ".table";
  const Value* found = reader.section(path);
  if (found == nullptr) return;
  const std::string key = reader.know(path, "log_thousandths");
  for (const std::string_view name : names) reader.know(path, name);  // also those behind a broken one
  costmodel::MonotoneTable read;
  read.axes = {std::vector<double>{0}, {0}, {0}};
  std::size_t nodes = 1;
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    read.axes[axis] = read_axis(reader, *found, path, names[axis]);
    if (read.axes[axis].empty()) return;
    nodes *= read.axes[axis].size();
  }
  const Value* rows = found->find("log_thousandths");
  if (rows == nullptr || rows->kind != Value::Kind::kList) {
    return reader.fault(rows == nullptr ? *found : *rows, key, "not a table", "a list of rows of numbers");
  }
  for (const Value& row : rows->items) {
    for (const Value& value : row.items) {
      if (!value.is_number() || std::abs(value.real) > 1e6) {
        return reader.fault(value, key, "not a logarithm of a time", "numbers from -1000000 to 1000000");
      }
      read.log_values.push_back(value.real * kLogUnit);
    }
  }
  if (read.log_values.size() != nodes) {
    return reader.fault(*rows, key, fmt::format("{} numbers", read.log_values.size()),
                        fmt::format("{}", nodes));
  }
  table = std::move(read);
}

void read_steps(Reader& reader, const std::string& section, const Value& found, costmodel::GemmFit& fit) {
  const std::string path = reader.know(section, "steps");
  const Value* trees = found.find("steps");
  if (trees == nullptr) return;
  if (fit.table.empty()) return reader.fault(*trees, path, "steps without a table", "steps over a table");
  fit.steps = parse_steps(*trees, [&](const Value& value, std::string problem, std::string allowed) {
    reader.fault(value, path, std::move(problem), std::move(allowed));
  });
}

void read_network(Reader& reader, costmodel::NetworkFit& fit) {
  const Value* table = reader.section("network");
  if (table == nullptr) return;
  reader.number(*table, "network", "latency_scale", fit.latency_scale, kTiny, 1e6);
  reader.number(*table, "network", "efficiency", fit.efficiency, kTiny, 1);
  double domains = fit.most_domains;
  reader.number(*table, "network", "most_domains", domains, 2, 1 << 20);
  fit.most_domains = static_cast<int>(domains);
  const std::string kind = reader.know("network", "kind");
  const Value* found = table->find("kind");
  if (found != nullptr && found->kind == Value::Kind::kText && !found->text.empty()) {
    fit.kind = found->text;
  } else {
    reader.fault(found == nullptr ? *table : *found, kind, "does not say what kind of network was measured",
                 "a kind of the catalogue, as in \"infiniband\"");
  }
  const std::string collectives = reader.know("network", "collectives");
  const Value* list = table->find("collectives");
  fit.of_collective = {};
  if (list == nullptr) return;
  const std::string allowed = fmt::format("a list of {}", fmt::join(kCollectiveNames, ", "));
  if (list->kind != Value::Kind::kList) return reader.fault(*list, collectives, "wrong type", allowed);
  for (const Value& item : list->items) {
    const auto* name = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), item.text);
    if (item.kind == Value::Kind::kText && name != kCollectiveNames.end()) {
      fit.of_collective[static_cast<std::size_t>(name - kCollectiveNames.begin())] = true;
    } else {
      reader.fault(item, collectives, "not a collective", allowed);
    }
  }
}

void read_switch_reduce(Reader& reader, costmodel::SwitchReduceFit& fit) {
  constexpr std::string_view kSection = "collective.switch_all_reduce";
  const Value* table = reader.section(kSection);
  if (table == nullptr) return;
  double min_ranks = fit.min_ranks;
  reader.number(*table, kSection, "min_ranks", min_ranks, 0, 1 << 20);
  fit.min_ranks = static_cast<int>(min_ranks);
  reader.number(*table, kSection, "base_s", fit.base_s, 0, 1);
  reader.number(*table, kSection, "link_share", fit.link_share, kTiny, 10);
  reader.number(*table, kSection, "root_s", fit.root_s, 0, 1);
}

void read_heading(Reader& reader, const Value& root, DeviceProfile& profile) {
  for (const char* key : {"schema", "device", "name", "sources"}) reader.know("", key);
  const Value* schema = root.find("schema");
  if (schema == nullptr || schema->kind != Value::Kind::kInteger || schema->integer != kProfileSchema) {
    reader.fault(schema == nullptr ? root : *schema, "schema", "not a profile that this version reads",
                 fmt::format("schema = {}", kProfileSchema));
  }
  if (const Value* name = root.find("name")) {
    if (name->kind == Value::Kind::kText) {
      profile.name = name->text;
    } else {
      reader.fault(*name, "name", "wrong type", "a text");
    }
  }
  if (const Value* sources = root.find("sources")) {
    profile.sources.clear();
    if (sources->kind != Value::Kind::kList)
      return reader.fault(*sources, "sources", "wrong type", "a list of texts");
    for (const Value& source : sources->items) {
      if (source.kind != Value::Kind::kText) reader.fault(source, "sources", "wrong type", "a text");
      profile.sources.push_back(source.text);
    }
  }
}

// Kernels that stream through memory run at much the same share of its bandwidth. Where the device's own sums
// of vectors were measured, the kinds that were not rest on more than the data sheet.
void mark_unmeasured_streams(DeviceProfile& profile) {
  const auto& add = profile.memory_bound[static_cast<std::size_t>(costmodel::MemoryBound::kAdd)];
  if (add.evidence == Evidence::kDataSheet) return;
  for (costmodel::MemoryBoundFit& fit : profile.memory_bound)
    if (fit.evidence == Evidence::kDataSheet) fit.evidence = Evidence::kExtrapolated;
}

}  // namespace

DeviceProfile parse_profile(std::string_view text, std::string file, const DeviceProfile& base,
                            Diagnostics& faults) {
  const Document document = parse_toml(text, std::move(file), faults);
  DeviceProfile profile = base;
  if (document.damaged) return profile;
  Reader reader(document, faults);
  read_heading(reader, document.root, profile);
  visit_profile(profile, [&](const std::string& section, auto& fit, AxisNames axes, auto&& fields) {
    const Value* table = reader.section(section);
    if (table == nullptr) return;
    reader.evidence(*table, section, fit.evidence);
    // Constants fitted together before k could be split.
    if constexpr (requires { fit.k_split; }) {
      if (table->find("k_half") != nullptr) fit.k_split = 0;
    }
    fields(fit, [&](std::string_view key, double& value, double least, double most) {
      reader.number(*table, section, key, value, least, most);
    });
    // A section without a table is a form alone: a table of the base would not belong to it.
    if constexpr (requires { fit.table; }) {
      fit.table = {};
      if (!axes.empty()) read_table(reader, section, axes, fit.table);
    }
    if constexpr (requires { fit.steps; }) {
      fit.steps = {};
      if (!axes.empty()) read_steps(reader, section, *table, fit);
    }
  });
  read_switch_reduce(reader, profile.switch_reduce);
  read_network(reader, profile.network);
  mark_unmeasured_streams(profile);
  reader.check_unknown();
  return profile;
}

DeviceProfile read_profile(const std::filesystem::path& path, const DeviceProfile& base,
                           Diagnostics& faults) {
  const std::optional<std::string> text = read_text(path, faults);
  return text ? parse_profile(*text, path.string(), base, faults) : base;
}

std::string profile_device(std::string_view text) {
  Diagnostics ignored;
  const Document document = parse_toml(text, "", ignored);
  const Value* schema = document.root.find("schema");
  const Value* device = document.root.find("device");
  const bool is_profile = schema != nullptr && device != nullptr && device->kind == Value::Kind::kText;
  return is_profile ? device->text : "";
}

}  // namespace trainfront::inputs
