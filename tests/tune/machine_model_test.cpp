#include "tune/machine_model.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace distal::core {
namespace {

const std::string kModel =
    "flops_per_second = 1e9  # of one core\n\nlink_bytes_per_second = 1e8\n"
    "memory_bytes_per_second = 2e9\nseconds_per_message = 1e-3\n";

std::string error_of(const std::string& text) {
  try {
    parse_model(text, "m.model");
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(MachineModel, IsParsed) {
  MachineModel model = parse_model(kModel, "m.model");
  EXPECT_EQ(model, (MachineModel{1e9, 1e8, 2e9, 1e-3}));
}

TEST(MachineModel, EveryEngineHasOne) {
  for (const char* engine : {"threads", "mpi", "legion"}) EXPECT_GT(model_of_engine(engine).flops_per_second, 0);
  try {
    model_of_engine("abacus");
    FAIL() << "it has a model";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "there is no model of the engine `abacus`");
  }
}

TEST(MachineModel, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("flops_per_second\n"), "m.model:1: expected `name = number`, got `flops_per_second`");
  EXPECT_EQ(error_of("\nspeed = 3\n"), "m.model:2: there is no constant `speed`");
  EXPECT_EQ(error_of("flops_per_second = fast\n"), "m.model:1: 'fast' is not a positive number");
  EXPECT_EQ(error_of("flops_per_second = -1\n"), "m.model:1: '-1' is not a positive number");
  EXPECT_EQ(error_of(kModel + "flops_per_second = 1\n"), "m.model:6: a second value for `flops_per_second`");
  EXPECT_EQ(error_of("flops_per_second = 1\n"), "m.model: the model lacks `link_bytes_per_second`");
}

TEST(MachineModel, AnUnreadableFileIsRefused) {
  for (const std::string path : {"/no/such/file.model", "/"}) {
    try {
      read_model(path);
      FAIL() << "it was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "cannot read the model " + path);
    }
  }
}

// A leaf takes the longer of its arithmetic and of reading its tensors; the exchange is not overlapped.
TEST(MachineModel, TimesAddUp) {
  MachineModel model = parse_model(kModel, "m.model");
  EXPECT_DOUBLE_EQ(seconds_of(model, {1e9, 1e9, 1e8, 10}), 1 + 1 + 0.01);
  EXPECT_DOUBLE_EQ(seconds_of(model, {1e9, 4e9, 0, 0}), 2);
}

}  // namespace
}  // namespace distal::core
