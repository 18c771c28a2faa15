#pragma once

#include <string>
#include <vector>

namespace trainfront::engine {

struct CalibrateOptions {
  std::vector<std::string> files;
  std::vector<std::string> catalogs;  // laid over the shipped one: devices of the user's own, their profiles
  std::string device;                 // id or another spelling
  std::string output;                 // profile to write; empty: DEVICE.toml
  // Parts of sources' names: the harnesses that the profile stands for, where they measured something.
  std::vector<std::string> references;
  std::string relative;    // a measured device: what the files do not measure is scaled from its profile
  std::string collective;  // what files that do not say so measured
  std::string fabric;
  int ranks = 0;
  int nodes = 0;
  bool from_data_sheet = false;  // keep nothing of the shipped profile where the files measure nothing
  bool json = false;
};

// Fits a device profile from measurements, writes it, and reports what cross-validation says of it.
int run_calibrate(const CalibrateOptions& options);

}  // namespace trainfront::engine
