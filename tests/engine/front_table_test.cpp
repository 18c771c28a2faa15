#include "engine/reports/front_table.hpp"

#include <doctest/doctest.h>

using namespace trainfront::engine;

namespace {

PlanRow row_of(const char* instance, const char* zone) {
  PlanRow row;
  row.offer.provider = "aws";
  row.offer.region = "us-east-1";
  row.offer.instance = instance;
  row.offer.zone = zone;
  return row;
}

}  // namespace

TEST_CASE("the table leaves the instance out, but not where two offers would look alike") {
  const std::vector<PlanRow> one = {row_of("p5.48xlarge", ""), row_of("p5.48xlarge", "")};
  CHECK(front_text(one, {}, 30).find("aws us-east-1 on_demand") != std::string::npos);

  const std::vector<PlanRow> instances = {row_of("p5.48xlarge", ""), row_of("p5e.48xlarge", "")};
  const std::string text = front_text(instances, {}, 30);
  CHECK(text.find("aws us-east-1 p5.48xlarge on_demand") != std::string::npos);
  CHECK(text.find("aws us-east-1 p5e.48xlarge on_demand") != std::string::npos);

  const std::vector<PlanRow> zones = {row_of("p5.48xlarge", "a"), row_of("p5.48xlarge", "b")};
  CHECK(front_text(zones, {}, 30).find("aws us-east-1/b p5.48xlarge on_demand") != std::string::npos);
}

TEST_CASE("borderline memory and constants without runs are said below the table") {
  PlanRow plain = row_of("p5", ""), full = plain, unproven = plain;
  full.fit = trainfront::costmodel::Fit::kBorderline;
  unproven.framework_profile = "deepspeed-2026";
  unproven.framework_has_runs = false;
  const auto text = [](const std::vector<PlanRow>& rows) { return front_text(rows, {}, 30); };
  CHECK(text({plain}).find("borderline") == std::string::npos);
  CHECK(text({plain}).find("published") == std::string::npos);
  CHECK(text({plain, full}).find("1 of 2 plans") != std::string::npos);
  CHECK(text({plain, unproven}).find("constants of deepspeed-2026") != std::string::npos);
}

TEST_CASE("what a file calls its offers cannot steer the terminal") {
  const std::string text = front_text(std::vector<PlanRow>{row_of("p5", "\x1b[2J")}, {}, 30);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("plans that fail every few steps are said to be rough below the table") {
  PlanRow calm = row_of("p5", ""), struck = calm;
  calm.outcome.steps_per_failure = 400;
  struck.outcome.steps_per_failure = 3;
  CHECK(front_text(std::vector<PlanRow>{calm}, {}, 30).find("rough") == std::string::npos);
  CHECK(front_text(std::vector<PlanRow>{calm, struck}, {}, 30).find("1 of 2 plans are struck") !=
        std::string::npos);
}
