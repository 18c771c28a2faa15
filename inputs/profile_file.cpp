#include "inputs/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "inputs/document.hpp"
#include "inputs/profile_fields.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::DeviceProfile;
using costmodel::Evidence;

constexpr int kSchema = 1;
constexpr std::array<std::string_view, 4> kEvidenceNames{"calibrated", "interpolated", "extrapolated",
                                                         "data sheet"};

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
  for (const char* key : {"schema", "name", "sources"}) reader.know("", key);
  const Value* schema = root.find("schema");
  if (schema == nullptr || schema->kind != Value::Kind::kInteger || schema->integer != kSchema) {
    reader.fault(schema == nullptr ? root : *schema, "schema", "not a profile that this version reads",
                 fmt::format("schema = {}", kSchema));
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

}  // namespace

DeviceProfile parse_profile(std::string_view text, std::string file, const DeviceProfile& base,
                            Diagnostics& faults) {
  const Document document = parse_toml(text, std::move(file), faults);
  DeviceProfile profile = base;
  if (document.damaged) return profile;
  Reader reader(document, faults);
  read_heading(reader, document.root, profile);
  visit_profile(profile, [&](const std::string& section, auto& fit, auto&& fields) {
    const Value* table = reader.section(section);
    if (table == nullptr) return;
    reader.evidence(*table, section, fit.evidence);
    fields(fit, [&](std::string_view key, double& value, double least, double most) {
      reader.number(*table, section, key, value, least, most);
    });
  });
  read_switch_reduce(reader, profile.switch_reduce);
  reader.check_unknown();
  return profile;
}

DeviceProfile read_profile(const std::filesystem::path& path, const DeviceProfile& base,
                           Diagnostics& faults) {
  const std::optional<std::string> text = read_text(path, faults);
  return text ? parse_profile(*text, path.string(), base, faults) : base;
}

std::string write_profile(const DeviceProfile& profile) {
  const auto quoted = [](std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c == '\n' ? ' ' : c;
    }
    return fmt::format("\"{}\"", escaped);
  };
  // TOML floats need a digit after the point or an exponent.
  const auto number = [](double value) {
    std::string text = fmt::format("{:.6g}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  };
  std::string text = fmt::format("schema = {}\nname = {}\nsources = [\n", kSchema, quoted(profile.name));
  for (const std::string& source : profile.sources) text += fmt::format("  {},\n", quoted(source));
  text += "]\n";
  visit_profile(profile, [&](const std::string& section, const auto& fit, auto&& fields) {
    text += fmt::format("\n[{}]\nevidence = \"{}\"\n", section,
                        kEvidenceNames[static_cast<std::size_t>(fit.evidence)]);
    fields(fit, [&](std::string_view key, double value, double, double) {
      text += fmt::format("{} = {}\n", key, number(value));
    });
  });
  if (const costmodel::SwitchReduceFit& fit = profile.switch_reduce; fit.min_ranks > 0) {
    text += fmt::format(
        "\n[collective.switch_all_reduce]\nmin_ranks = {}\nbase_s = {}\nlink_share = {}\nroot_s = {}\n",
        fit.min_ranks, number(fit.base_s), number(fit.link_share), number(fit.root_s));
  }
  return text;
}

}  // namespace trainfront::inputs
