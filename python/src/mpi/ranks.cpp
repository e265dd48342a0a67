// The library for the MPI that it is compiled with.

#include "ranks.h"

#include <distal/mpi.h>

#include <type_traits>

namespace {

using distal::python::RanksKernel;
using distal::python::RanksLibrary;

template <class Communicator = MPI_Comm>
Communicator from_handle(int64_t handle) {
  if constexpr (std::is_pointer_v<Communicator>) {
    return reinterpret_cast<Communicator>(handle);
  } else {
    return static_cast<Communicator>(handle);
  }
}

class OnRanks : public RanksKernel {
 public:
  OnRanks(const distal::Kernel& kernel, int64_t communicator) : kernel_(kernel, from_handle(communicator)) {}
  std::vector<int64_t> processors() const override { return kernel_.processors(); }
  distal::RunReport run(const distal::RunOptions& options) override { return kernel_.run(options); }

 private:
  distal::MpiKernel kernel_;
};

constexpr RanksLibrary kLibrary{[](const distal::Kernel& kernel, int64_t communicator) -> std::unique_ptr<RanksKernel> {
                                  return std::make_unique<OnRanks>(kernel, communicator);
                                },
                                [](const distal::TensorHandle& tensor, const std::string& file, int64_t communicator) {
                                  distal::load(tensor, file, from_handle(communicator));
                                },
                                [](const distal::TensorHandle& tensor, const std::string& file, int64_t communicator) {
                                  distal::save(tensor, file, from_handle(communicator));
                                }};

}  // namespace

extern "C" const RanksLibrary* distal_ranks_library() { return &kLibrary; }
