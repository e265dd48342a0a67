#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distal/tensor.h"
#include "lang/module.h"
#include "store/shared_memory.h"
#include "store/tensor_pieces.h"

namespace distal {

// The statement that defines a tensor, with its schedule as commands. Handles are named by their keys.
struct Definition {
  core::Statement statement;
  std::optional<std::vector<core::Command>> schedule;  // none: schedule() was never called
  // All tensors that it names, except for the defined one. Not owned: two tensors that are defined by each other would
  // never be freed. A kernel owns its tensors.
  std::vector<std::weak_ptr<TensorState>> tensors;
  std::vector<Int> numbers;       // whose params stand in the statement or in its schedule
  std::vector<Machine> machines;  // that the schedule names
  std::vector<IndexVar> variables;
  bool is_compiled = false;  // whether a kernel was ever made of it

  void add(const Expr& expr);
};

// What the handles of one tensor share.
struct TensorState {
  ElementKind type = ElementKind::Double;
  std::string name;  // may be empty
  std::vector<Int> dimensions;
  Format format;
  std::optional<Definition> definition;
  Schedule schedule{this};

  // A buffer of the caller's for one processor's piece.
  struct Bound {
    int64_t processor;
    void* data;
    std::vector<int64_t> strides;
    std::optional<int64_t> elements;  // how many there are, if the caller said so
  };
  std::vector<Bound> bound;

  // The pieces under the current values of the params. Made anew when these changed.
  core::TensorPieces& pieces();
  std::shared_ptr<core::TensorPieces> shared_pieces();
  // The same before they have memory.
  std::vector<PieceInfo> layout() const;
  // The bytes that making them would allocate now.
  int64_t missing_bytes() const;
  void bind(const Bound& buffer);
  // From now on this process has only the pieces of these processors; other processes have the others. With `share`,
  // pieces that are made from now on lie in memory that the processes of a node can share.
  void keep_only(const std::vector<bool>& processors, bool share);
  // The shared memory that holds all pieces of this process, one after the other; null if there is none.
  std::shared_ptr<core::SharedMemory> shared_memory() const { return is_shared_ ? memory_ : nullptr; }
  bool is_whole() const { return kept_.empty(); }
  // Whether this process has every piece, as it may if the tensor lies on a single processor.
  bool has_all_elements();
  // "tensor A", for errors.
  std::string label() const { return name.empty() ? "a tensor without a name" : "tensor " + name; }
  std::string shown_name() const { return name.empty() ? "tensor" : name; }
  // Called at every run. Buffers of the caller that are used again, and so perhaps often, get huge pages.
  void used();
  // Takes over the format and the pieces of another tensor, which must not be used any more.
  void take_over(TensorState& other);
  // Whether the format is left out. Until it is found the elements lie on the first processor.
  bool has_free_format() const { return format.machine() && !format.distribution(); }
  // Refuses a call that needs the format of a tensor, if it is left out.
  void require_format(const char* call) const;
  // Gives a tensor with a free format the one that was found for it. The elements keep their values.
  void settle(const Format& found);
  int64_t times_redistributed = 0;  // a kernel that was compiled for an earlier format sees that it is stale

 private:
  bool has_current_pieces() const;
  std::shared_ptr<core::TensorPieces> lay_out() const;
  int64_t missing_bytes(const core::TensorPieces& pieces) const;
  void require_memory_for(int64_t bytes) const;
  bool uses_memory() const;
  void require_kept_of_machine() const;
  void place_in_shared_memory(core::TensorPieces& pieces);
  // Whether this process keeps the pieces of a processor. The pieces of a processor outside the machine are lost.
  bool keeps(int64_t processor) const {
    auto p = static_cast<size_t>(processor);
    return is_whole() || (p < kept_.size() && kept_[p]);
  }

  std::vector<bool> kept_;                             // by processor; empty: all
  int64_t kept_of_ = 0;                                // processors of its machine, then
  std::vector<std::shared_ptr<Param::State>> params_;  // all that the pieces depend on
  std::vector<int64_t> values_;                        // of these when the pieces were made
  std::shared_ptr<core::TensorPieces> pieces_;
  std::unique_ptr<core::Allocator> allocator_;
  std::atomic<int64_t> used_{0};     // the version of the pieces at the last run
  std::atomic<int64_t> settled_{0};  // that of buffers that were put onto huge pages
  bool share_ = false, is_shared_ = false;
  std::shared_ptr<core::SharedMemory> memory_;
};

// Refuses a tensor of which other processes have pieces.
void require_whole(const TensorState& tensor, const std::string& help);

struct Onto::Target {
  core::GridRef ref;
  std::vector<Int> numbers;
  std::optional<Machine> machine;
  std::shared_ptr<TensorState> tensor;
  std::vector<Role> roles;  // of the notation; empty: there is none
  std::vector<Distribution::Cyclic> cyclic;
};

// Identifies a handle in the values that handles hold. It is not a name of the text language; a module has names.
std::string key_of(const TensorState& tensor);
std::string key_of(const IndexVar& variable);
std::string key_of(const Param::State& param);
std::string key_of(const Machine& machine);  // machines with equal names and levels are one machine

core::Grid to_core(const Grid& grid);
core::Machine to_core(const Machine& machine);
core::Tensor to_core(const TensorState& tensor);
core::IndexVar to_core(const IndexVar& variable);
std::vector<core::IndexVar> to_core(const std::vector<IndexVar>& variables);
// One level of a distribution of a tensor that has `dimensions` dimensions.
core::LevelDistribution to_core(const std::vector<Role>& roles, size_t dimensions);
// What cyclic says of one of `dimensions` dimensions, added to its level.
void deal_out(const Distribution::Cyclic& cyclic, size_t dimensions, core::LevelDistribution& level,
              const core::SourceSpan& span);

// The help of an error about a tensor without a statement.
std::string how_to_define(const TensorState& tensor);

}  // namespace distal
