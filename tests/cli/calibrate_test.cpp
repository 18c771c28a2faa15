#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// all_reduce of 32 ranks that reaches half of 400 GB/s a node and takes 100 us for nothing.
std::string log_of_four_nodes() {
  std::string text = "# all_reduce_perf\n";
  for (double bytes = 1 << 20; bytes < 9e9; bytes *= 2) {
    const double time_us = 100 + bytes / 200e3, algorithm = bytes / time_us / 1e3;
    char row[200];
    std::snprintf(row, sizeof row, "%.0f %.0f float sum -1 %.2f %.2f %.2f 0\n", bytes, bytes / 4, time_us,
                  algorithm, algorithm * 62 / 32);
    text += row;
  }
  return text;
}

// 30 products at 300 TFLOP/s, their times in this unit.
std::string gemms(double per_us) {
  std::string text = "source,gpu,precision,m,n,k,time_us\n";
  for (double m = 1024; m <= 5120; m += 1024) {
    for (double n = 1024; n <= 6144; n += 1024) {
      char row[200];
      std::snprintf(row, sizeof row, "mine,H100-SXM5-80GB,bfloat16,%.0f,%.0f,4096,%.6g\n", m, n,
                    2 * m * n * 4096 / 300e6 * per_us);
      text += row;
    }
  }
  return text;
}

// all_gather of 2, 4 and 8 ranks at every `factor`-th size, with a step at 4 MiB.
std::string gathers(const std::string& source, const std::string& gpu, double first, double factor,
                    double gb_per_s = 360) {
  std::string text;
  for (const int ranks : {2, 4, 8}) {
    for (double bytes = first; bytes <= 536870912; bytes *= factor) {
      const double time_us =
          (bytes < 4194304 ? 8.0 : 30.0) + ranks + bytes * (ranks - 1) / ranks / gb_per_s / 1e3;
      char row[200];
      std::snprintf(row, sizeof row, "%s,%s,NVLink,all_gather,half,%d,1,%.0f,%.4g,\n", source.c_str(),
                    gpu.c_str(), ranks, bytes, time_us);
      text += row;
    }
  }
  return text;
}

double mean_error(const std::vector<std::string>& words) {
  const Ended ended = run_program(words);
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  return json::parse(ended.out)["mean_ape"];
}

const std::string kRuns =
    "id,framework,model_name,n_layers,hidden,ffn_hidden,n_heads,vocab,gated_mlp,gpu,n_gpus,tp,pp,dp,"
    "micro_batch,global_batch_seqs,seq_len,precision,measured_quantity,measured_value\n"
    "1,megatron,mine,32,4096,11008,32,32000,1,H100-SXM5-80GB,8,1,1,8,1,128,4096,bf16,tflops_per_gpu,400\n";

}  // namespace

TEST_CASE("a fabric in LOG.meta gives a network as --fabric does, for that kind alone") {
  const Folder folder;
  spew(folder / "a.log", log_of_four_nodes());
  spew(folder / "a.log.meta", "n=32\nnodes=4\nfabric=RoCE 8x400Gb/s per node\n");
  const Ended by_meta = run_program(
      {"calibrate", folder / "a.log", "--device", "h100-sxm", "-o", (folder / "meta.toml").string()});
  REQUIRE_MESSAGE(by_meta.status == 0, by_meta.err);
  std::filesystem::remove(folder / "a.log.meta");
  const Ended by_option =
      run_program({"calibrate", folder / "a.log", "--device", "h100-sxm", "--ranks", "32", "--nodes", "4",
                   "--fabric", "RoCE 8x400Gb/s per node", "-o", (folder / "option.toml").string()});
  REQUIRE_MESSAGE(by_option.status == 0, by_option.err);
  const std::string written = slurp(folder / "meta.toml");
  CHECK(written == slurp(folder / "option.toml"));
  CHECK(contains(written, "[network]"));
  CHECK(contains(written, "kind = \"roce-v2\""));
  CHECK(contains(written, "collectives = [\"all_reduce\"]"));
}

TEST_CASE(
    "a device with the same link in the files shapes collectives' tables, and its own earlier profile") {
  const Folder folder;
  const std::string header = "source,gpu,fabric,op,dtype,n_gpus,n_nodes,bytes,time_us,busbw_GBps\n";
  bool is_said = false;
  const auto calibrate = [&](const std::string& csv, std::vector<std::string> more) {
    spew(folder / "links.csv", header + csv);
    std::vector<std::string> words{"calibrate", folder / "links.csv", "--device", "h200-sxm", "--json",
                                   "-o",        folder / "mine.toml"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_program(words);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(contains(ended.out, "rests on a source of the same name (mine)") == is_said);
    return json::parse(ended.out)["held_out"][0];
  };
  const std::string own = gathers("mine", "H200-SXM", 65536, 4);
  const json alone = calibrate(own, {"--from-data-sheet"});
  CHECK(!alone.contains("by_own_size"));
  const json beside = calibrate(own + gathers("theirs", "H100-SXM5-80GB", 65536, 2), {"--from-data-sheet"});
  CHECK(beside["form"] == "table, as relatives'");
  CHECK(beside["by_own_size"]["mean_ape"] < 1);
  CHECK(alone["by_size"]["mean_ape"] > 3);
  CHECK(contains(slurp(folder / "mine.toml"), "% by sizes that relatives lack too"));
  CHECK(
      contains(slurp(folder / "mine.toml"), "all_gather: 21 samples of mine; theirs; table, as relatives'"));
  std::filesystem::copy_file(folder / "mine.toml", folder / "first.toml");
  // The A100's link is another.
  CHECK(calibrate(own + gathers("theirs", "A100-SXM4-80GB", 65536, 2), {"--from-data-sheet"}) == alone);

  // A sparse log of the same link, after another's profile; that profile's own log again, which guides
  // nothing.
  CHECK(calibrate(gathers("another", "H200-SXM", 131072, 8), {folder / "first.toml"})["form"] ==
        "table, as profile's");
  is_said = true;
  CHECK(calibrate(own, {folder / "first.toml", "--from-data-sheet"}) == alone);
}

TEST_CASE("a profile's table is no earlier one of what a relative lent it") {
  const Folder folder;
  const std::string header = "source,gpu,fabric,op,dtype,n_gpus,n_nodes,bytes,time_us,busbw_GBps\n";
  const auto form_of = [&](const std::string& csv, const std::vector<std::string>& more) {
    spew(folder / "links.csv", header + csv);
    std::vector<std::string> words{"calibrate", folder / "links.csv", "--json", "-o", folder / "out.toml"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_program(words);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    return json::parse(ended.out)["held_out"][0]["form"].get<std::string>();
  };
  CHECK(form_of(gathers("mine", "H200-SXM", 65536, 4) + gathers("theirs", "H100-SXM5-80GB", 65536, 2),
                {"--device", "h200-sxm", "--from-data-sheet"}) == "table, as relatives'");
  std::filesystem::copy_file(folder / "out.toml", folder / "first.toml");
  const std::string first = folder / "first.toml";
  CHECK(form_of(gathers("another", "H200-SXM", 131072, 8), {first, "--device", "h200-sxm"}) ==
        "table, as profile's");
  CHECK(form_of(gathers("theirs", "H200-SXM", 131072, 8), {first, "--device", "h200-sxm"}) !=
        "table, as profile's");

  // As fast a link, of another make.
  CHECK(form_of(gathers("mine", "H800-SXM", 65536, 4, 160) + gathers("theirs", "MI250X", 65536, 2, 160),
                {"--device", "h800-sxm"}) != "table, as relatives'");
}

TEST_CASE("validate shows what got better with a profile that calibrate wrote") {
  const Folder folder;
  spew(folder / "gemm.csv", gemms(1));
  const std::string profile = (folder / "mine.toml").string();
  const Ended ended = run_program({"calibrate", folder / "gemm.csv", "--device", "h100-sxm", "-o", profile});
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  const double before = mean_error({"validate", folder / "gemm.csv", "--json"});
  const double after = mean_error({"validate", folder / "gemm.csv", "--json", "--catalog", profile});
  CHECK(before > 30);
  CHECK(after < before / 4);
  spew(folder / "runs.csv", kRuns);
  const Ended shipped = run_program({"validate", folder / "runs.csv", "--json"});
  const Ended mine = run_program({"validate", folder / "runs.csv", "--json", "--catalog", profile});
  REQUIRE_MESSAGE(shipped.status == 0, shipped.err);
  CHECK(mine.status == 0);
  CHECK(shipped.out != mine.out);
}

TEST_CASE("a device of the user's own catalogue can be calibrated, and its profile used") {
  const Folder folder;
  const std::string devices = (folder / "devices.toml").string(), profile = (folder / "x.toml").string();
  spew(
      devices,
      "[[device]]\nid = \"x1\"\nname = \"Our X1\"\nalso = [\"ACME X1\"]\nbf16_tflops = 500\nmemory = \"96 "
      "GiB\"\nmemory_tb_per_s = 3\nlink_gb_per_s = 300\ndomain_gpus = 8\ncompute_units = 128\nsource = \"its "
      "data sheet\"\nas_of = \"2026-11\"\nevidence = \"seen\"\n");
  std::string text = gemms(1);
  for (std::size_t at = text.find("H100-SXM5-80GB"); at != std::string::npos;
       at = text.find("H100-SXM5-80GB"))
    text.replace(at, 14, "ACME X1");
  spew(folder / "gemm.csv", text);
  const Ended unknown = run_program({"calibrate", folder / "gemm.csv", "--device", "x1", "-o", profile});
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "--catalog FILE adds devices of your own"));
  const Ended ended =
      run_program({"calibrate", folder / "gemm.csv", "--device", "x1", "--catalog", devices, "-o", profile});
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  CHECK(contains(slurp(profile), "device = \"x1\""));
  const double before = mean_error({"validate", folder / "gemm.csv", "--json", "--catalog", devices});
  const double after =
      mean_error({"validate", folder / "gemm.csv", "--json", "--catalog", devices, "--catalog", profile});
  CHECK(before > 10);
  CHECK(after < before / 4);
}

TEST_CASE("validate says what to do with a profile, and with two kinds of files") {
  const Folder folder;
  spew(folder / "p.toml", "schema = 1\ndevice = \"h100-sxm\"\n");
  spew(folder / "gemm.csv", gemms(1));
  spew(folder / "runs.csv", kRuns);
  const Ended profile = run_program({"validate", folder / "gemm.csv", folder / "p.toml"});
  CHECK(profile.status == 2);
  CHECK_MESSAGE(contains(profile.err, "is a device profile, not measurements; --catalog"), profile.err);
  const Ended mixed = run_program({"validate", folder / "gemm.csv", folder / "runs.csv"});
  CHECK(mixed.status == 2);
  CHECK_MESSAGE(contains(mixed.err, "one call for each kind"), mixed.err);
  spew(folder / "p.toml",
       "schema = 1\ndevice = \"h100-sxm\"\n[network]\nlatency_scale = 2.0\nkind = \"infinband\"\n");
  const Ended typo = run_program({"validate", folder / "gemm.csv", "--catalog", folder / "p.toml"});
  CHECK(typo.status == 2);
  CHECK_MESSAGE(contains(typo.err, "did you mean \"infiniband\"?"), typo.err);
}

TEST_CASE("messages in kilobytes for bytes end with status 2, whatever small ones hide") {
  const Folder folder;
  for (const double unit : {1.0, 1024.0}) {
    std::string table = "source,gpu,fabric,op,dtype,n_gpus,n_nodes,bytes,time_us\n";
    for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2) {
      // 10 us of launching, and 300 GB/s over the links of eight GPUs.
      table += "ours,H100-SXM5-80GB,NVSwitch,all_gather,half,8,1," + std::to_string(bytes / unit) + "," +
               std::to_string(10 + bytes * 7 / 8 / 300e3) + "\n";
    }
    spew(folder / "collectives.csv", table);
    const Ended ended = run_program(
        {"calibrate", folder / "collectives.csv", "--device", "h100-sxm", "-o", folder / "out.toml"});
    CHECK_MESSAGE(ended.status == (unit == 1 ? 0 : 2), ended.err);
    if (unit > 1) CHECK_MESSAGE(contains(ended.err, "sizes must be in bytes"), ended.err);
  }
  // Scalars, whose times jitter by more than the link needs for all of them.
  std::string table = "source,gpu,fabric,op,dtype,n_gpus,n_nodes,bytes,time_us\n";
  for (double bytes = 4; bytes <= 1024; bytes *= 2) {
    table += "ours,H100-SXM5-80GB,NVSwitch,all_reduce,float,8,1," + std::to_string(bytes) + "," +
             std::to_string(15 + 0.001 * bytes) + "\n";
  }
  spew(folder / "collectives.csv", table);
  const std::string out = (folder / "out.toml").string();
  const Ended ended =
      run_program({"calibrate", folder / "collectives.csv", "--device", "h100-sxm", "-o", out});
  CHECK_MESSAGE(ended.status == 0, ended.err);
  // They say nothing against the table that the profile has.
  CHECK_MESSAGE(contains(ended.out, "table, as profile's"), ended.out);
  CHECK(contains(slurp(out), "all_reduce: 9 samples of ours; "));
  CHECK(contains(slurp(out), "aiconfigurator"));
}

TEST_CASE("what a relative lends is held against its own data sheet") {
  const Folder folder;
  const auto calibrate = [&](double per_us) {
    std::string text = gemms(1), theirs = gemms(per_us);
    theirs.erase(0, theirs.find('\n') + 1);
    for (std::size_t at = theirs.find("H100-SXM5-80GB"); at != std::string::npos;
         at = theirs.find("H100-SXM5-80GB"))
      theirs.replace(at, 14, "H200-SXM");
    spew(folder / "gemm.csv", text + theirs);
    return run_program({"calibrate", folder / "gemm.csv", "--device", "h100-sxm", "-o", folder / "out.toml"});
  };
  CHECK(calibrate(1).status == 0);
  const Ended ended = calibrate(1000);
  CHECK(ended.status == 2);
  CHECK(contains(ended.err, "gemm bf16 of mine: even the best of 30 samples"));
  CHECK(contains(ended.err, "the device h200-sxm"));
}

TEST_CASE("a collective that nobody knows ends with status 2 before any file is read") {
  const Ended ended =
      run_program({"calibrate", "none.log", "--device", "h100-sxm", "--collective", "all_redcue"});
  CHECK(ended.status == 2);
  CHECK_MESSAGE(contains(ended.err, "did you mean all_reduce?"), ended.err);
}

TEST_CASE("times in another unit, and a place that cannot be written to, end with status 2") {
  const Folder folder;
  const std::string out = (folder / "out.toml").string();
  for (const auto& [per_us, said] : {std::pair(1e-3, "cannot be trusted"), std::pair(1e3, "even the best")}) {
    spew(folder / "gemm.csv", gemms(per_us));
    const Ended ended = run_program({"calibrate", folder / "gemm.csv", "--device", "h100-sxm", "-o", out});
    CHECK(ended.status == 2);
    CHECK_MESSAGE(contains(ended.err, said), ended.err);
    CHECK(!std::filesystem::exists(out));
  }
  spew(folder / "gemm.csv", gemms(1));
  for (const std::string& place : {(folder / "none" / "p.toml").string(), folder.path().string(),
                                   (folder / "gemm.csv" / "p.toml").string()}) {
    const Ended ended = run_program({"calibrate", folder / "gemm.csv", "--device", "h100-sxm", "-o", place});
    CHECK(ended.status == 2);
    CHECK_MESSAGE(contains(ended.err, "-o: cannot write " + place), ended.err);
    CHECK(run_program({"validate", folder / "gemm.csv", "--rows", place}).status == 2);
  }
}
