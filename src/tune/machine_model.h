#pragma once

#include <map>
#include <string>

namespace distal::core {

// What each processor of an engine can do.
struct MachineModel {
  double flops_per_second = 0;
  double link_bytes_per_second = 0;    // received or sent
  double memory_bytes_per_second = 0;  // read or written by a leaf
  double seconds_per_message = 0;

  bool operator==(const MachineModel&) const = default;
};

// The texts of the models that come with DISTAL, by engine.
const std::map<std::string, std::string>& embedded_models();
MachineModel model_of_engine(const std::string& engine);

// Parses a model: one line of `name = number` for each field, and comments that begin with #. Throws an Error that
// names the line.
MachineModel parse_model(const std::string& text, const std::string& source_name);
// Reads and parses a file; an unreadable file is an Error.
MachineModel read_model(const std::string& path);

// What a processor does.
struct Work {
  double flops = 0;
  double leaf_bytes = 0;  // of the tensors that its leaf reads or writes, each once
  double exchanged_bytes = 0;
  double messages = 0;
};

// The longer of the times for the arithmetic and for reading the tensors, plus the time of the exchange.
double seconds_of(const MachineModel& model, const Work& work);

}  // namespace distal::core
