#include <doctest/doctest.h>
#include <fmt/core.h>

#include <clocale>
#include <string>

#include "sweep_text.hpp"

using namespace trainfront;
using namespace trainfront::inputs;

namespace {

// The one fault that the change makes; all of its line.
std::string fault_of(std::string_view line, std::string_view by) {
  const Attempt read = attempt(changed(line, by));
  CAPTURE(by);
  CAPTURE(read.faults);
  CHECK(read.list.size() == 1);
  return read.faults;
}

}  // namespace

TEST_CASE("the file that the cases change is fine") {
  CHECK(attempt(kGoodSweep).faults == "");
}

TEST_CASE("an unknown key is told with its line and the nearest name") {
  CHECK(
      has(fault_of("deadline = \"30d\"", "dedline = \"30d\""), "sweep.toml:17:1: goal.dedline: unknown key"));
  CHECK(has(fault_of("deadline = \"30d\"", "dedline = \"30d\""), "did you mean \"deadline\"?"));
  CHECK(has(fault_of("[goal]", "[gaol]"), "did you mean \"goal\"?"));
  CHECK(has(fault_of("tp = [1", "tpp = [1"), "layout.tpp"));
  CHECK(has(fault_of("step = 64}", "stop = 64}"), "cluster.gpus.stop: unknown key"));
  CHECK(has(fault_of("tp = [1, 2, 4, 8]", "dp = 4"), "dp follows from the GPUs"));
}

TEST_CASE("all faults of all sections are reported at once, in order") {
  std::string text = changed("name = \"llama-3.1-8b\"", "name = \"llama-3.1-8B\"");
  for (const auto& [line, by] : {std::pair{"tokens = 1e12", "tokens = -1"},
                                 {"sequence_length = 8192", "seq = 8192"},
                                 {"tp = [1, 2, 4, 8]", "tp = [1, 0, \"4\"]"},
                                 {"\"h100-sxm\"", "\"H100\""},
                                 {"\"aws\"", "\"asw\""},
                                 {"[\"checkpoint\"]", "[\"chekpoint\"]"},
                                 {"\"30d\"", "\"30x\""}})
    text.replace(text.find(line), std::string_view(line).size(), by);
  const Attempt read = attempt(text);
  CAPTURE(read.faults);
  CHECK(read.list.size() == 10);
  CHECK(has(read.faults,
            "sweep.toml:2:8: model.name: no model of the catalogue has this name; found \"llama-3.1-8B\""));
  CHECK(has(read.faults, "did you mean \"llama-3.1-8b\"?"));
  CHECK(has(read.faults, "sweep.toml:4:10: recipe.tokens: is out of range; found -1"));
  CHECK(has(read.faults, "recipe.sequence_length: is missing"));
  CHECK(has(read.faults, "sweep.toml:5:1: recipe.seq: unknown key"));
  CHECK(has(read.faults, "sweep.toml:8:10: layout.tp[2]: is out of range; found 0"));
  CHECK(has(read.faults,
            "sweep.toml:8:13: layout.tp[3]: must be a whole number, not text; write it without quotes"));
  CHECK(has(read.faults, "unknown device \"H100\""));
  CHECK(has(read.faults, "did you mean \"h100-sxm\"?"));
  CHECK(has(read.faults, "did you mean \"aws\"?"));
  CHECK(has(read.faults, "failures.protection[1]: unknown name"));
  CHECK(has(read.faults, "goal.deadline: cannot be read as a quantity; found \"30x\""));
  for (std::size_t i = 1; i < read.list.size(); ++i) CHECK(read.list[i - 1].at <= read.list[i].at);
}

TEST_CASE("numbers that are none, too large, zero or negative name their key") {
  for (const char* value : {"0", "-1", "nan", "inf", "-inf", "\"1e12\"", "true", "[1]", "1e19", "{}"}) {
    CAPTURE(value);
    CHECK(has(fault_of("tokens = 1e12", fmt::format("tokens = {}", value)), "recipe.tokens"));
  }
  for (const char* value : {"1e400", "9223372036854775808", "-1e999", "00012", "1__0"}) {
    CAPTURE(value);
    const std::string fault = fault_of("tokens = 1e12", fmt::format("tokens = {}", value));
    CHECK(has(fault, "sweep.toml:4:"));
    CHECK(has(fault, "tokens"));
  }
  for (const char* key : {"sequence_length = 8192", "global_batch = 512"})
    for (const char* value : {"0", "-5", "2.5", "nan", "9223372036854775807", "1e30", "\"512\"", "false"}) {
      const std::string name(std::string_view(key).substr(0, std::string_view(key).find(' ')));
      CHECK(has(fault_of(key, fmt::format("{} = {}", name, value)), fmt::format("recipe.{}", name)));
    }
  for (const char* value :
       {"0", "-1", "\"-3d\"", "\"0s\"", "nan", "inf", "\"nan\"", "\"1e300d\"", "\"\"", "2026-11-29"})
    CHECK(has(fault_of("deadline = \"30d\"", fmt::format("deadline = {}", value)), "goal.deadline"));
  for (const char* value : {"0", "-0.1", "0.1", "0.49", "0.991", "1", "90", "nan", "inf", "\"0.9\"",
                            "\"90%\"", "true", "[0.9]"}) {
    CAPTURE(value);
    const std::string fault = fault_of("deadline = \"30d\"", fmt::format("probability = {}", value));
    CHECK(has(fault, "goal.probability"));
    CHECK(has(fault, "a number from 0.5 to 0.99"));
  }
}

TEST_CASE("sizes and rates need their unit") {
  CHECK(has(fault_of("[goal]", "storage_bandwidth = 200\n[goal]"), "needs its unit"));
  CHECK(has(fault_of("[goal]", "storage_bandwidth = \"200\"\n[goal]"), "\"200GB/s\""));
  CHECK(has(fault_of("[goal]", "storage_bandwidth = \"0GB/s\"\n[goal]"), "out of range"));
}

TEST_CASE("ranges that are empty, endless or too fine are refused before they are made") {
  for (const char* range :
       {"{min = 1, max = 10000000}", "{min = 64, max = 9000000, step = 1}", "{min = 256, max = 64}",
        "{min = 64}", "{max = 64}", "{min = 64, max = 128, step = 0}", "{min = 64, max = 128, step = -64}",
        "{min = 0, max = 128}", "{min = 1.5, max = 128}", "{min = 1, max = 1e12, step = 1}", "[]", "\"auto\"",
        "{}"}) {
    CAPTURE(range);
    const Attempt read = attempt(changed("{min = 64, max = 256, step = 64}", range));
    CHECK(has(read.faults, "cluster.gpus"));
  }
  CHECK(has(attempt(changed("{min = 64, max = 256, step = 64}", "{min = 1, max = 10000000}")).faults,
            "at most 100000"));
}

TEST_CASE("protections without end are refused before they are made") {
  CHECK(has(fault_of("protection = [\"checkpoint\"]",
                     "protection = \"spare\"\nr = {min = 2, max = 1000}\nsub_shards = {min = 1, max = "
                     "1000}\nk_max = {min = 1, max = 1000}"),
            "makes 999000000 choices"));
}

TEST_CASE("the file as a whole: empty, broken, no TOML") {
  CHECK(has(attempt("").faults, "sweep.toml: the file is empty"));
  CHECK(has(attempt("# nothing\n\n").faults, "the file is empty"));
  CHECK(has(attempt("[model\nname = 1\n").faults, "sweep.toml:1:7: syntax error"));
  CHECK(has(attempt("{\"model\": {}}").faults, "sweep.toml:1:"));
  CHECK(has(attempt(std::string_view("\0\0\0", 3)).faults, "sweep.toml:1:"));
  CHECK(has(attempt("\xff\xfe\xfd").faults, "utf-8"));
  CHECK(has(attempt("model = 3\n").faults, "model: must be a table: [model]"));
  CHECK(has(attempt("x = 1\n").faults, "x: unknown key"));
  CHECK(has(attempt("[market]\noffer = 3\n").faults, "must be an array of tables: [[market.offer]]"));
}

TEST_CASE("a broken line does not hide the faults of others, nor make false ones") {
  const Attempt read = attempt(
      changed("sequence_length = 8192\nglobal_batch = 512", "sequence_length = 8,192\nglobal_batch = -512"));
  CAPTURE(read.faults);
  CHECK(read.list.size() == 2);
  CHECK(has(read.faults, "sweep.toml:5:"));
  CHECK(has(read.faults, "recipe.global_batch: is out of range"));
  CHECK(!has(read.faults, "is missing"));
}

TEST_CASE("a key that stands twice is refused, wherever it stands") {
  CHECK(has(fault_of("tokens = 1e12", "tokens = 1e12\ntokens = 2e12"), "sweep.toml:5:"));
  CHECK(attempt(changed("[goal]", "[recipe]")).list.size() == 1);
}

TEST_CASE("CRLF is as good as LF") {
  std::string text;
  for (const char c : std::string(kGoodSweep)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(attempt(text).faults == "");
}

TEST_CASE("messages are the same in the C locale") {
  const std::string text = changed("\"aws\"", "\"中文, \\\"é\\\" 🙂\"");
  const std::string before = attempt(text).faults;
  std::setlocale(LC_ALL, "C");
  CHECK(attempt(text).faults == before);
  CHECK(has(before, "中文"));
}

TEST_CASE("the model is given in one way, and wholly") {
  CHECK(has(fault_of("name = \"llama-3.1-8b\"", ""), "model: says nothing of the model"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"", "name = \"llama-3.1-8b\"\nconfig = \"llama-3.1-405b.json\""),
            "stands beside config"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"", "config = \"llama-3.1-405b.json\"\nlayers = 3"),
            "model.layers: stands beside config"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"", "config = \"lama-3.1-405b.json\""),
            "did you mean \"llama-3.1-405b.json\"?"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"", "config = \"llama-3.1-405b.json\"\nconfg = 3"),
            "model.confg: unknown key"));
  const Attempt lacking = attempt(changed("name = \"llama-3.1-8b\"", "layers = 2\nhidden = 64"));
  CHECK(has(lacking.faults, "model.heads: is missing"));
  CHECK(has(lacking.faults, "model.ffn: is missing"));
  CHECK(has(lacking.faults, "model.vocab: is missing"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"", "layers = 2\nhidden = 64\nheads = 7\nffn = 9\nvocab = 9"),
            "no multiple of heads 7"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"",
                     "layers = 2\nhidden = 64\nheads = 8\nkv_heads = 3\nffn = 9\nvocab = 9"),
            "heads 8 is no multiple of kv_heads 3"));
  CHECK(has(fault_of("name = \"llama-3.1-8b\"",
                     "layers = 2\nhidden = 64\nheads = 8\nffn = 9\nvocab = 9\nexpert_ffn = 4"),
            "belongs to a model with experts"));
}

TEST_CASE("an empty market says what matched nothing and what there is") {
  const std::string none = fault_of("providers = [\"aws\", \"coreweave\"]",
                                    "providers = [\"coreweave\"]\nprice_models = [\"spot\"]");
  CHECK(has(none, "no offer is left"));
  CHECK(has(none, "of providers coreweave"));
  CHECK(has(none, "under price models spot"));
  CHECK(has(none, "aws h100-sxm on_demand"));
  CHECK(has(fault_of("providers = [\"aws\", \"coreweave\"]", "catalog = []"),
            "no offer is left: the catalogue has 0"));
  CHECK(has(fault_of("devices = [\"h100-sxm\"]", "devices = []"), "is an empty list"));
  CHECK(has(fault_of("devices = [\"h100-sxm\"]", "devices = [\"TPU-v5p\"]"),
            "\"TPU-v5p\" cannot be planned with: none of the frameworks known here runs on it"));
  CHECK(has(fault_of("providers = [", "regions = [\"us-est-1\"]\nproviders = ["),
            "did you mean \"us-east-1\"?"));
}

TEST_CASE("prices: none, zero, not a number, twice") {
  const auto offer = [](std::string_view lines) {
    return fault_of(
        "[failures]",
        fmt::format("[[market.offer]]\nprovider = \"x\"\ninstance = \"dgx-h100\"\n{}\n[failures]", lines));
  };
  CHECK(has(offer(""), "market.offer[1].usd_per_node_hour: is missing"));
  CHECK(has(offer("usd_per_node_hour = 0"), "only owned nodes"));
  CHECK(has(offer("usd_per_node_hour = -1"), "is out of range"));
  CHECK(has(offer("usd_per_node_hour = nan"), "is out of range"));
  CHECK(has(offer("usd_per_node_hour = \"cheap\""), "cannot be read"));
  CHECK(has(offer("usd_per_node_hour = 3\n[[market.offer]]\nprovider = \"x\"\ninstance = "
                  "\"dgx-h100\"\nusd_per_node_hour = 4"),
            "market.offer[2]: is a second offer of x all dgx-h100"));
  CHECK(has(offer("usd_per_node_hour = 3\ndevice = \"a100-80gb-sxm\""), "dgx-h100 nodes hold h100-sxm"));
  CHECK(has(offer("usd_per_node_hour = 3\ngpus_per_node = 4"), "dgx-h100 nodes hold 8"));
  CHECK(has(offer("usd_per_node_hour = 3\nmax_nodes = 0"), "max_nodes: is out of range"));
  CHECK(has(fault_of("[failures]",
                     "[[market.offer]]\nprovider = \"x\"\ninstance = \"dgx-h10\"\ndevice = "
                     "\"h100-sxm\"\ngpus_per_node = 8\nusd_per_node_hour = 3\n[failures]"),
            "did you mean \"dgx-h100\"?"));
  CHECK(has(fault_of("[failures]",
                     "[[market.offer]]\nprovider = \"x\"\ninstance = \"lab\"\ndevice = "
                     "\"h100-sxm\"\ngpus_per_node = 8\nnetwork_gbps = 400\nnetwork = \"RoCE v2\"\n"
                     "host_memory = \"1TB\"\nnvme = \"3TB\"\nusd_per_node_hour = 3\n[failures]"),
            "market.offer[1].network: unknown name"));
}

TEST_CASE("discounts are of known clouds, above 0 and at most 1") {
  CHECK(has(fault_of("providers = [", "discount = {awss = 0.7}\nproviders = ["),
            "market.discount.awss: unknown key"));
  CHECK(has(fault_of("providers = [", "discount = {aws = 0}\nproviders = ["),
            "market.discount.aws: is out of range"));
  CHECK(has(fault_of("providers = [", "discount = {aws = 30}\nproviders = ["),
            "market.discount.aws: is out of range"));
}

TEST_CASE("fp8 is refused where no device has it") {
  const std::string text = changed("[\"h100-sxm\"]", "[\"a100-80gb-sxm\"]");
  std::string fp8 = text;
  fp8.replace(fp8.find("global_batch"), 0, "precision = \"fp8\"\n");
  CHECK(attempt(text).faults == "");
  CHECK(has(attempt(fp8).faults, "no device of this sweep has fp8 units"));
}

TEST_CASE("fewer tokens than one batch") {
  CHECK(has(fault_of("tokens = 1e12", "tokens = 1000"), "recipe.tokens: is less than one batch"));
}

TEST_CASE("a sequence longer than the table of positions") {
  const auto shape = [](int positions) {
    return changed(
        "name = \"llama-3.1-8b\"",
        fmt::format("layers = 2\nhidden = 64\nheads = 8\nffn = 9\nvocab = 9\nlearned_positions = {}",
                    positions));
  };
  CHECK(attempt(shape(8192)).faults == "");
  CHECK(has(attempt(shape(2048)).faults, "is longer than the model's table of 2048 positions"));
}

TEST_CASE("a Weibull law needs its shape, and only it") {
  CHECK(has(fault_of("[goal]", "law = \"weibull\"\n[goal]"), "failures.weibull_shape: is missing"));
  CHECK(has(fault_of("[goal]", "weibull_shape = 0.7\n[goal]"), "needs law = \"weibull\""));
}

TEST_CASE("islands need their link") {
  const Attempt read = attempt(changed("[goal]", "[islands]\ncount = [1, 2]\n[goal]"));
  CHECK(has(read.faults, "islands.inner_steps: is missing"));
  CHECK(has(read.faults, "islands.wan_gbps: is missing"));
  CHECK(has(read.faults, "islands.rtt: is missing"));
  CHECK(attempt(changed("[goal]", "[islands]\ncount = 1\n[goal]")).faults == "");
}
