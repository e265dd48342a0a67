// Schedules that are refused: the messages here, and the whole texts with caret and loop nest under
// tests/golden/refusals/.

#include <gtest/gtest.h>

#include "schedule/schedule.h"
#include "support/golden.h"
#include "support/programs.h"

namespace distal::core {
namespace {

struct Refusal {
  std::string name;
  std::string program;
  std::string message;
};
void PrintTo(const Refusal& r, std::ostream* out) { *out << r.program; }

const char* const kDeclarations = R"(param n = 10, zero = 0
machine M = Grid(2, 3)
machine L = Grid(4)
machine H = Grid(2, 2) of Grid(3)
tensor A(n, n)
tensor B(n, n)
tensor C(n, n)
tensor b(n)
tensor T(n, n, n)
tensor T2(n, n, n)
)";

std::string gemm(const std::string& schedule) {
  return std::string(kDeclarations) + "A(i, j) = B(i, k) * C(k, j)\nschedule\n" + schedule + "\n";
}
std::string statement(const std::string& text, const std::string& schedule) {
  return std::string(kDeclarations) + text + "\nschedule\n" + schedule + "\n";
}
// With a tensor that the statement does not use.
std::string with_d(const std::string& schedule) {
  return std::string(kDeclarations) + "tensor D(n, n)\nA(i, j) = B(i, k) * C(k, j)\nschedule\n" + schedule + "\n";
}
// Tensors with distributions.
std::string placed(const std::string& machine, const std::string& distribution, const std::string& schedule) {
  return "param n = 10\nmachine M = " + machine + "\nmachine N = Grid(5)\ntensor A(n, n) : " + distribution +
         " on M\ntensor B(n, n)\ntensor D(n, n) : " + distribution + " on M\nA(i, j) = B(i, k) * B(k, j)\nschedule\n" +
         schedule + "\n";
}

// Tensors on two grids of the same processors.
std::string other_grid(const std::string& schedule) {
  return "machine M = Grid(2, 3)\nmachine N = Grid(6)\ntensor A(9, 9) : xy -> xy on M\ntensor B(9, 9) : xy -> x on N\n"
         "A(i, j) = 2 * B(i, j)\nschedule\n" +
         schedule + "\n";
}

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all{
      // A loop that does not exist, or no longer exists.
      {"split_unknown", gemm("split(x, xo, xi, 2)"), "split: there is no loop x"},
      {"divide_unknown", gemm("divide(x, xo, xi, 2)"), "divide: there is no loop x"},
      {"collapse_unknown", gemm("collapse(i, x, f)"), "collapse: there is no loop x"},
      {"reorder_unknown", gemm("reorder({i, x})"), "reorder: there is no loop x"},
      {"rotate_unknown", gemm("rotate(x, i, r)"), "rotate: there is no loop x"},
      {"rotate_by_unknown", gemm("rotate(k, x, r)"), "rotate: there is no loop x"},
      {"distribute_unknown", gemm("distribute(x, M)"), "distribute: there is no loop x"},
      {"distribute_compound_unknown", gemm("distribute(x, xo, xi, L)"), "distribute: there is no loop x"},
      {"communicate_unknown_loop", gemm("communicate(A, x)"), "communicate: there is no loop x"},
      {"substitute_unknown", gemm("substitute({i, j, x}, gemm)"), "substitute: there is no loop x"},
      {"parallelize_unknown", gemm("parallelize(x)"), "parallelize: there is no loop x"},
      {"gone_by_split", gemm("split(i, io, ii, 2)\nreorder({j, i})"),
       "reorder: there is no loop i any more: i was split into io and ii"},
      {"gone_by_divide", gemm("divide(k, ko, ki, 2)\ncommunicate(B, k)"),
       "communicate: there is no loop k any more: k was divided into ko and ki"},
      {"gone_by_collapse", gemm("collapse(i, j, f)\nsplit(j, jo, ji, 2)"),
       "split: there is no loop j any more: j was collapsed into f"},
      {"gone_by_rotate", gemm("rotate(k, i, kr)\ndivide(k, ko, ki, 2)"),
       "divide: there is no loop k any more: k was rotated into kr"},
      {"gone_by_distribute", gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)\nparallelize(j)"),
       "parallelize: there is no loop j any more: j was divided into jo and ji"},
      // A name that is taken.
      {"split_reuses", gemm("split(i, j, ii, 2)"),
       "split: j is a variable of this statement already; choose a new name"},
      {"split_reuses_its_target", gemm("split(i, i, ii, 2)"),
       "split: i is a variable of this statement already; choose a new name"},
      {"divide_reuses_a_gone_one", gemm("divide(i, io, ii, 2)\ndivide(j, i, ji, 2)"),
       "divide: i is a variable of this statement already; choose a new name"},
      {"collapse_reuses", gemm("collapse(i, j, k)"),
       "collapse: k is a variable of this statement already; choose a new name"},
      {"rotate_reuses", gemm("rotate(k, i, j)"),
       "rotate: j is a variable of this statement already; choose a new name"},
      {"distribute_reuses", gemm("distribute({i, j}, {io, k}, {ii, ji}, M)"),
       "distribute: k is a variable of this statement already; choose a new name"},
      {"split_twice_one_name", gemm("split(i, io, io, 2)"), "split: io is named twice"},
      {"collapse_with_itself", gemm("collapse(i, i, f)"), "collapse: i is named twice"},
      {"reorder_twice_one_loop", gemm("reorder({i, j, i})"), "reorder: i is named twice"},
      {"rotate_twice_by_one", gemm("rotate(k, {i, j, i}, r)"), "rotate: i is named twice"},
      {"distribute_twice_one_loop", gemm("distribute({i, i}, M)"), "distribute: i is named twice"},
      {"distribute_twice_one_target", gemm("distribute({i, i}, {io, jo}, {ii, ji}, M)"),
       "distribute: i is named twice"},
      {"distribute_twice_one_new_name", gemm("distribute({i, j}, {io, jo}, {ii, io}, M)"),
       "distribute: io is named twice"},
      {"substitute_twice_one_loop", gemm("substitute({i, j, i}, gemm)"), "substitute: i is named twice"},
      // A loop that an earlier command named.
      {"replaces_distributed", gemm("distribute(i, L)\nsplit(i, io, ii, 2)"),
       "split: loop i is distributed and cannot be replaced; put this command before that one"},
      {"replaces_communicated", gemm("communicate({B, C}, k)\nrotate(k, i, kr)"),
       "rotate: loop k is where B is communicated and cannot be replaced; put this command before that one"},
      {"replaces_substituted", gemm("substitute({i, j, k}, gemm)\ndivide(k, ko, ki, 2)"),
       "divide: loop k is part of the substituted gemm and cannot be replaced; put this command before that one"},
      {"replaces_parallelized", gemm("parallelize(j)\ncollapse(i, j, f)"),
       "collapse: loop j is parallelized and cannot be replaced; put this command before that one"},
      {"distributes_communicated", gemm("communicate(A, i)\ndistribute(i, io, ii, L)"),
       "distribute: loop i is where A is communicated and cannot be replaced; put this command before that one"},
      {"parallelizes_distributed", gemm("distribute(i, L)\nparallelize(i)"),
       "parallelize: loop i is distributed and cannot be replaced; put this command before that one"},
      {"parallelizes_twice", gemm("parallelize(i)\nparallelize(i)"),
       "parallelize: loop i is parallelized already; split it to have both"},
      // Collapse and rotate.
      {"collapse_not_adjacent", gemm("collapse(i, k, f)"),
       "collapse: loop k does not stand directly inside loop i; reorder them first"},
      {"collapse_wrong_way", gemm("collapse(j, i, f)"),
       "collapse: loop i does not stand directly inside loop j; reorder them first"},
      {"rotate_by_an_inner_loop", gemm("rotate(j, k, r)"),
       "rotate: k is not in scope at loop j; rotate by loops that enclose it"},
      {"rotate_by_itself", gemm("rotate(j, j, r)"),
       "rotate: j is not in scope at loop j; rotate by loops that enclose it"},
      // Communicate.
      {"communicate_swapped", gemm("communicate(k, B)"), "communicate: B is a tensor, and k a loop"},
      {"communicate_foreign_tensor", gemm("communicate(b, i)"),
       "communicate: tensor b is not in this statement; its tensors are A, B, C"},
      {"communicate_no_tensor", gemm("communicate({A, nothing}, i)"),
       "communicate: tensor nothing is not in this statement; its tensors are A, B, C"},
      {"communicate_in_a_kernel", gemm("substitute({i, j, k}, gemm)\ncommunicate(B, j)"),
       "communicate: loop j is inside the loops that gemm replaces; communicate B at a loop above them"},
      {"substitute_over_communicate", gemm("communicate(C, k)\nsubstitute({i, j, k}, gemm)"),
       "communicate: loop k is inside the loops that gemm replaces; communicate C at a loop above them"},
      // Substitute.
      {"substitute_distributed", gemm("distribute(i, L)\nsubstitute({i, j, k}, gemm)"),
       "substitute: loop i is distributed; a kernel runs on one processor"},
      {"substitute_not_innermost", gemm("split(k, ko, ki, 2)\nsubstitute({i, j, ki}, gemm)"),
       "substitute: the loops of a kernel must be the innermost 3 loops, and i is not among them"},
      {"substitute_too_many", statement("b(i) = B(i, k) * C(k, i)", "substitute({i, j, k}, gemm)"),
       "substitute: the command names 3 loops, but the statement has only 2"},
      {"substitute_twice", gemm("substitute({i, j, k}, gemm)\nsubstitute({i, j, k}, gemm)"),
       "substitute: this statement has the kernel gemm already"},
      {"substitute_unknown_kernel", gemm("substitute({i, j, k}, trsm)"),
       "substitute: there is no kernel trsm; the kernels are gemm, gemv, ger, dot, axpy, syrk and batched_gemm"},
      {"substitute_parallelized", gemm("parallelize(i)\nsubstitute({i, j, k}, gemm)"),
       "substitute: loop i is parallelized, and the kernel would replace it"},
      {"not_gemm_sum", statement("A(i, j) = B(i, j) + C(i, j)", "substitute({i, j}, gemm)"),
       "substitute: the loops are not a gemm: B(i, j) + C(i, j) is not a product of two tensors"},
      {"not_gemm_literal", statement("A(i, j) = 2 * B(i, k) * C(k, j)", "substitute({i, j, k}, gemm)"),
       "substitute: the loops are not a gemm: 2 * B(i, k) * C(k, j) is not a product of two tensors"},
      {"not_gemm_two_loops", gemm("substitute({j, k}, gemm)"),
       "substitute: the loops are not a gemm: it takes 3 loops, and 2 are named"},
      {"not_gemm_collapsed",
       statement("A(i, j) = T(i, j, k) * B(k, l)", "collapse(i, j, f)\nsubstitute({f, k, l}, gemm)"),
       "substitute: the loops are not a gemm: loop f is a collapse of several indices"},
      {"not_gemm_same_index", gemm("divide(k, ko, ki, 2)\nsubstitute({j, ko, ki}, gemm)"),
       "substitute: the loops are not a gemm: two of the loops run over k"},
      {"not_gemm_index_in_all", statement("A(i, j) = B(i, j) * T(i, j, k)", "substitute({i, j, k}, gemm)"),
       "substitute: the loops are not a gemm: i must occur once in exactly two of A(i, j), B(i, j) and T(i, j, k)"},
      {"not_gemm_diagonal", statement("A(i, j) = T(i, i, k) * B(k, j)", "substitute({i, j, k}, gemm)"),
       "substitute: the loops are not a gemm: i must occur once in exactly two of A(i, j), T(i, i, k) and B(k, j)"},
      {"not_gemm_two_rows", statement("A(i, j) = T(i, j, k) * b(k)", "substitute({i, j, k}, gemm)"),
       "substitute: the loops are not a gemm: one of its loops must run over rows, one over columns and one over the "
       "sum"},
      {"not_gemv_three_loops", gemm("substitute({i, j, k}, gemv)"),
       "substitute: the loops are not a gemv: it takes 2 loops, and 3 are named"},
      {"not_gemv_no_sum", gemm("reorder({k, i, j})\nsubstitute({i, j}, gemv)"),
       "substitute: the loops are not a gemv: one of its loops must index the output, and one must run over the sum"},
      {"not_ger_a_sum", gemm("substitute({j, k}, ger)"),
       "substitute: the loops are not a ger: one of its loops must run over rows and one over columns"},
      {"not_ger_stores", statement("A(i, j) = b(i) * b(j)", "substitute({i, j}, ger)"),
       "substitute: the loops are not a ger: A(i, j) = b(i) * b(j) assigns, but a ger adds; write +="},
      {"not_dot_an_output", gemm("reorder({k, i, j})\nsubstitute({j}, dot)"),
       "substitute: the loops are not a dot: its loop must run over a sum"},
      {"not_dot_one_operand", statement("b(i) = A(i, j) * C(i, i)", "substitute({j}, dot)"),
       "substitute: the loops are not a dot: j must occur once in exactly two of b(i), A(i, j) and C(i, i)"},
      {"not_axpy_a_sum", gemm("substitute({k}, axpy)"),
       "substitute: the loops are not an axpy: its loop must index the output and one operand"},
      {"not_axpy_both_operands", statement("A(i, j) += B(i, j) * C(i, j)", "substitute({j}, axpy)"),
       "substitute: the loops are not an axpy: j must occur once in exactly two of A(i, j), B(i, j) and C(i, j)"},
      {"not_axpy_two_loops", gemm("substitute({j, k}, axpy)"),
       "substitute: the loops are not an axpy: it takes 1 loop, and 2 are named"},
      {"not_axpy_stores", statement("A(i, j) = b(i) * B(i, j)", "substitute({j}, axpy)"),
       "substitute: the loops are not an axpy: A(i, j) = b(i) * B(i, j) assigns, but an axpy adds; write +="},
      {"not_syrk_two_tensors", statement("A(i, j) = B(i, k) * C(j, k)", "substitute({i, j, k}, syrk)"),
       "substitute: the loops are not a syrk: B(i, k) and C(j, k) are not one matrix and its transpose"},
      {"not_syrk_not_transposed", statement("A(i, j) = B(i, k) * B(k, j)", "substitute({i, j, k}, syrk)"),
       "substitute: the loops are not a syrk: B(i, k) and B(k, j) are not one matrix and its transpose"},
      {"not_batched_gemm_no_batch",
       statement("T(i, j, l) = T2(i, j, k) * B(k, l)", "substitute({i, j, l, k}, batched_gemm)"),
       "substitute: the loops are not a batched_gemm: one of its loops must index all three tensors, one must run over "
       "rows, one over columns and one over the sum"},
      {"not_batched_gemm_in_one_tensor",
       statement("A(i, j) = T(i, j, k) * B(l, j)", "substitute({i, j, k, l}, batched_gemm)"),
       "substitute: the loops are not a batched_gemm: k must occur once in two or all of A(i, j), T(i, j, k) and B(l, "
       "j)"},
      {"precompute_after_axpy",
       gemm("reorder({k, i, j})\nsubstitute({j}, axpy)\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: the loops are an axpy already; put precompute before substitute"},
      // Parallelize.
      {"parallelize_a_sum", gemm("parallelize(k)"),
       "parallelize: loop k sums over k, and its iterations would add to the same element of A at once; use "
       "parallelize(k, reduction) or parallelize(k, atomics), or parallelize a loop that indexes A"},
      {"parallelize_a_part_of_a_sum", gemm("divide(k, ko, ki, 2)\nparallelize(ki)"),
       "parallelize: loop ki sums over k, and its iterations would add to the same element of A at once; use "
       "parallelize(ki, reduction) or parallelize(ki, atomics), or parallelize a loop that indexes A"},
      {"parallelize_a_collapsed_sum", gemm("collapse(j, k, f)\nparallelize(f)"),
       "parallelize: loop f sums over k, and its iterations would add to the same element of A at once; use "
       "parallelize(f, reduction) or parallelize(f, atomics), or parallelize a loop that indexes A"},
      // Distribute, bare.
      {"distribute_twice", gemm("distribute(i, L)\ndistribute(i, L)"), "distribute: loop i is distributed already"},
      {"distribute_without_machine", "tensor a(4)\ntensor b(4)\na(i) = b(i)\nschedule\ndistribute(i)\n",
       "distribute: there is no machine to distribute onto; declare one, for example machine M = Grid(2, 2)"},
      {"distribute_bare_onto_tensor", placed("Grid(2, 3)", "xy -> xy", "distribute({i, j}, A)"),
       "distribute: only the form with targets and local loops can follow a tensor"},
      {"distribute_too_many", gemm("distribute({i, j, k}, M)"),
       "distribute: 3 loops would be distributed onto the 2 dimensions of Grid(2, 3)"},
      {"distribute_one_too_many", gemm("distribute({i, j}, M)\ndistribute(k)"),
       "distribute: 3 loops would be distributed onto the 2 dimensions of Grid(2, 3)"},
      {"distribute_too_many_on_a_level", gemm("distribute({i, j}, H[1])"),
       "distribute: 2 loops would be distributed onto the 1 dimension of Grid(3)"},
      {"distribute_needs_a_level", gemm("distribute({i, j}, H)"),
       "distribute: H has 2 levels; name one of H[0] to H[1]"},
      {"distribute_level_out_of_range", gemm("distribute(i, H[2])"),
       "distribute: H has no level 2; its levels are 0 to 1"},
      // Distribute, compound.
      {"distribute_arity", gemm("distribute(i, io, ii, M)"),
       "distribute: Grid(2, 3) has 2 dimensions, but the command gives 1 loop"},
      {"distribute_arity_of_a_level", gemm("distribute({i, j}, {io, jo}, {ii, ji}, H[1])"),
       "distribute: Grid(3) has 1 dimension, but the command gives 2 loops"},
      {"distribute_lists_of_different_lengths", gemm("distribute({i, j}, {io, jo}, {ii}, M)"),
       "distribute: 2 targets, 2 distributed loops and 1 local loop; the three lists must have the same length"},
      {"distribute_nothing_known", gemm("distribute(i, io, ii, X)"),
       "distribute: X is neither a machine nor a tensor; the machines are `M`, `L` and `H`"},
      {"distribute_other_machine", other_grid("distribute({i, j}, {io, jo}, {ii, ji}, M)\ndistribute(ii, a, b, N)"),
       "distribute: N is Grid(6), but this statement runs on Grid(2, 3)"},
      {"distribute_tensor_on_another_grid",
       other_grid("distribute({i, j}, {io, jo}, {ii, ji}, M)\ndistribute(ii, a, b, B)"),
       "distribute: B is on Grid(6), but this statement runs on Grid(2, 3)"},
      {"distribute_grid_of_other_arity", placed("Grid(2, 3)", "xy -> xy", "distribute(i, io, ii, Grid(6))"),
       "distribute: Grid(6) has 1 dimension, but level 0 of the machine, Grid(2, 3), has 2"},
      {"distribute_every_level_taken",
       placed("Grid(2, 3)", "xy -> xy",
              "distribute({i, j}, {io, jo}, {ii, ji}, Grid(2, 3))\ndistribute(k, ko, ki, Grid(2))"),
       "distribute: every level of the machine Grid(2, 3) is taken already"},
      {"distribute_dimension_taken",
       placed("Grid(2, 3)", "xy -> xy",
              "distribute({i, j}, {io, jo}, {ii, ji}, M)\ndistribute({ii, k}, {iio, ko}, {iii, ki}, M)"),
       "distribute: loop io is distributed onto dimension 0 of level 0 of the machine already"},
      {"distribute_no_distribution", placed("Grid(2, 3)", "xy -> xy", "distribute(i, io, ii, B)"),
       "distribute: tensor B has no distribution to follow"},
      {"distribute_onto_a_shifted_tensor",
       "machine M = Grid(2)\ntensor a(4)\ntensor b(6) : x -> x on M\na(i) = b(i + 2)\nschedule\n"
       "distribute(i, io, ii, b)\n",
       "distribute: i is shifted in b(i + 2), so the iterations of i do not lie where their elements of b live; "
       "distribute onto a machine, or onto a tensor without a shift"},
      {"distribute_no_distribution_no_machine",
       "tensor a(4)\ntensor b(4)\na(i) = b(i)\nschedule\ndistribute(i, io, ii, b)\n",
       "distribute: tensor b has no distribution to follow"},
      {"distribute_nothing_known_no_machine",
       "tensor a(4)\ntensor b(4)\na(i) = b(i)\nschedule\ndistribute(i, io, ii, X)\n",
       "distribute: X is neither a machine nor a tensor"},
      {"distribute_foreign_tensor", placed("Grid(2, 3)", "xy -> xy", "distribute({i, j}, {io, jo}, {ii, ji}, D)"),
       "distribute: tensor D is not in this statement"},
      {"distribute_target_missing", placed("Grid(2, 3)", "xy -> xy", "distribute(i, io, ii, A)"),
       "distribute: A is cut along its index j, and no target is made from j"},
      {"distribute_target_of_the_sum", placed("Grid(2, 3)", "xy -> xy", "distribute({i, k}, {io, ko}, {ii, ki}, A)"),
       "distribute: A is cut along its index j, and no target is made from j"},
      {"distribute_target_not_cut", placed("Grid(2, 3)", "xy -> x0", "distribute({i, j}, {io, jo}, {ii, ji}, A)"),
       "distribute: A is not cut along j; its distribution is xy -> x0"},
      {"distribute_tensor_level", placed("Grid(2) of Grid(3)", "xy -> x, xy -> y", "distribute(i, io, ii, A)"),
       "distribute: A has 2 levels; name one of A[0] to A[1]"},
      {"distribute_tensor_level_out_of_range",
       placed("Grid(2) of Grid(3)", "xy -> x, xy -> y", "distribute(i, io, ii, A[2])"),
       "distribute: A has no level 2; its levels are 0 to 1"},
      {"distribute_cyclic_name_taken",
       placed("Grid(2, 3)", "xy -> xy cyclic(x)", "split(k, ir, ki, 2)\ndistribute({i, j}, {io, jo}, {ir, ii, ji}, A)"),
       "distribute: ir is a variable of this statement already; choose a new name"},
      {"distribute_cyclic_too_many_rounds",
       placed("Grid(2, 3)", "xy -> xy cyclic(x)", "distribute({i, j}, {io, jo}, {ir, ii, jr, ji}, A)"),
       "distribute: 2 targets, 2 distributed loops and 4 local loops; the three lists must have the same length, or "
       "the "
       "last one 1 more: the rounds of each target that is dealt out"},
      // What lowering finds.
      {"lower_no_dimension_left",
       gemm("distribute({i, j}, {io, jo}, {ii, ji}, H[0])\ndistribute(k, H[1])\ndivide(ii, iio, iii, "
            "2)\ndistribute(iio)"),
       "distribute: 4 loops would be distributed onto the 3 dimensions of Grid(2, 2) of Grid(3)"},
      {"lower_dimension_taken_by_a_later_command", gemm("distribute(i, L)\ndistribute(k, ko, ki, L)"),
       "distribute: no dimension of Grid(4) is left for loop i"},
      {"lower_parallelize_above_communicate",
       gemm("distribute(j, L)\nreorder({j, i})\ncommunicate(B, k)\nparallelize(i)"),
       "parallelize: tensors are communicated inside loop i, so its iterations are steps of the processor; parallelize "
       "a loop below every communicate"},
      {"lower_parallelize_above_launch", gemm("distribute(j, L)\nparallelize(i)"),
       "parallelize: tensors are communicated inside loop i, so its iterations are steps of the processor; parallelize "
       "a loop below every communicate"},
      {"lower_strided_kernel",
       gemm("divide(i, io, ii, 2)\nreorder({ii, io})\nreorder({ii, j, k, io})\nsubstitute({j, k, io}, gemm)"),
       "substitute: the loops of the kernel do not run over a contiguous range of i"},
      {"lower_rotated_in_a_kernel",
       statement("T(l, i, j) = T2(l, i, k) * C(k, j)",
                 "reorder({i, j, k, l})\nrotate(l, i, lr)\nreorder({lr, i, j, k})\nsubstitute({i, j, k}, gemm)"),
       "substitute: index l is rotated by a loop of the kernel, so it changes inside the kernel"},
      {"lower_parallelize_rotated", gemm("reorder({k, i, j})\nrotate(i, k, ir)\nreorder({ir, j, k})\nparallelize(ir)"),
       "parallelize: loop ir is rotated by a loop inside of it, so its iterations reach the same elements of A at "
       "once; "
       "reorder that loop outside of ir, or parallelize another loop"},
      // Marks on loops of the leaf.
      {"unroll_unknown", gemm("unroll(x, 2)"), "unroll: there is no loop x"},
      {"vectorize_unknown", gemm("vectorize(x)"), "vectorize: there is no loop x"},
      {"unroll_what_is_parallel", gemm("parallelize(i)\nunroll(i, 2)"),
       "unroll: loop i is parallelized already; split it to have both"},
      {"vectorize_what_is_unrolled", gemm("unroll(k, 2)\nvectorize(k)"),
       "vectorize: loop k is unrolled already; split it to have both"},
      {"parallelize_what_is_vectorized", gemm("vectorize(k)\nparallelize(k, atomics)"),
       "parallelize: loop k is vectorized already; split it to have both"},
      {"split_what_is_unrolled", gemm("unroll(k, 2)\nsplit(k, ko, ki, 2)"),
       "split: loop k is unrolled and cannot be replaced; put this command before that one"},
      {"split_what_is_vectorized", gemm("vectorize(k)\nsplit(k, ko, ki, 2)"),
       "split: loop k is vectorized and cannot be replaced; put this command before that one"},
      {"substitute_what_is_unrolled", gemm("unroll(k, 2)\nsubstitute({i, j, k}, gemm)"),
       "substitute: loop k is unrolled, and the kernel would replace it"},
      {"substitute_what_is_vectorized", gemm("vectorize(k)\nsubstitute({i, j, k}, gemm)"),
       "substitute: loop k is vectorized, and the kernel would replace it"},
      {"vectorize_outside", gemm("vectorize(j)"),
       "vectorize: loop j is not the innermost one; reorder it there, or vectorize k"},
      {"vectorize_a_mixed_loop", gemm("collapse(j, k, f)\nvectorize(f)"),
       "vectorize: loop f both indexes A and sums over k; vectorize a loop that does only one of these"},
      {"vectorize_a_sum_that_moves_the_output",
       gemm("reorder({k, j, i})\nrotate(i, k, ir)\nreorder({j, ir, k})\nvectorize(k)"),
       "vectorize: loop k goes from element to element of A, so there is no single sum over k; vectorize another loop"},
      {"unroll_above_communicate", gemm("distribute(j, L)\nreorder({j, i})\ncommunicate(B, k)\nunroll(i, 2)"),
       "unroll: tensors are communicated inside loop i, so its iterations are steps of the processor; unroll a loop "
       "below every communicate"},
      {"vectorize_above_communicate", gemm("distribute(j, L)\nreorder({j, i})\ncommunicate(B, k)\nvectorize(k)"),
       "vectorize: loop k is where B is communicated and cannot be replaced; put this command before that one"},
      {"reduction_without_a_sum", gemm("parallelize(i, reduction)"),
       "parallelize: no two iterations of loop i add to the same element of A, so it needs no reduction; write "
       "parallelize(i)"},
      {"atomics_without_a_sum", gemm("parallelize(i, atomics)"),
       "parallelize: no two iterations of loop i add to the same element of A, so it needs no atomic addition; write "
       "parallelize(i)"},
      {"reduction_over_many_elements", gemm("reorder({k, i, j})\nparallelize(k, reduction)"),
       "parallelize: loop i goes from element to element of A, so there is no single sum over k; reorder it outwards, "
       "or say parallelize(k, atomics)"},
      {"unroll_by_zero", gemm("unroll(k, zero)"), "unroll: the factor is 0, and must be at least 1"},
      // Workspaces.
      {"precompute_what_is_not_there", gemm("precompute(B(i, k) * B(k, j), {j}, {jw}, W)"),
       "precompute: B(i, k) * B(k, j) is not a part of the right side B(i, k) * C(k, j)"},
      {"precompute_unknown_loop", gemm("precompute(B(i, k), {x}, {xw}, W)"), "precompute: there is no loop x"},
      {"precompute_lists", gemm("precompute(B(i, k) * C(k, j), {j}, {jw, iw}, W)"),
       "precompute: 1 loop and 2 copies; the two lists must have the same length"},
      {"precompute_names_twice", gemm("precompute(B(i, k) * C(k, j), {j, j}, {jw, jx}, W)"),
       "precompute: j is named twice"},
      {"precompute_reuses", gemm("precompute(B(i, k) * C(k, j), {j}, {k}, W)"),
       "precompute: k is a variable of this statement already; choose a new name"},
      {"precompute_twice", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, W)\nprecompute(B(i, k), {}, {}, W)"),
       "precompute: W is a workspace of this statement already"},
      {"precompute_over_the_sum", gemm("reorder({j, k})\nprecompute(B(i, k) * C(k, j), {k}, {kw}, W)"),
       "precompute: the producer sums over k, so k cannot be a loop of the workspace"},
      {"precompute_what_it_does_not_use", gemm("reorder({k, j})\nprecompute(B(i, k), {j}, {jw}, W)"),
       "precompute: B(i, k) does not depend on loop j"},
      {"precompute_along_another_index", gemm("collapse(i, j, f)\nprecompute(C(k, j), {f, k}, {fw, kw}, W)"),
       "precompute: loop f also runs over i, which C(k, j) does not use, so C(k, j) would be added once for each i; "
       "reorder f outwards"},
      {"precompute_addend_of_another_sum",
       statement("A(i, j) = B(i, k) - C(i, j) + C(k, j)", "precompute(B(i, k) - C(i, j), {}, {}, W)"),
       "precompute: the sum over k includes C(i, j), which does not use k; precompute only the addends that use k"},
      {"precompute_moves_inside", gemm("reorder({j, i})\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: B(i, k) * C(k, j) uses i, which changes with loop i inside the workspace; add i to the loops of W, "
       "or reorder it outwards"},
      {"precompute_a_mixed_loop",
       statement("T(i, j, l) = B(i, k) * C(k, j) * T2(i, j, l)",
                 "reorder({i, j, k, l})\ncollapse(k, l, f)\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: loop f is made from k, which the producer sums, and from other indices"},
      {"precompute_around_a_distributed_loop", gemm("distribute(j, L)\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: the distributed loop j would be inside the workspace, which belongs to one processor; reorder the "
       "loop outwards, or declare W as a tensor with a distribution"},
      {"precompute_around_a_communicate", gemm("communicate(B, j)\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: B is communicated at loop j, which would be inside the workspace; communicate it at a loop further "
       "out"},
      {"precompute_after_substitute", gemm("substitute({i, j, k}, gemm)\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: the loops are a gemm already; put precompute before substitute"},
      {"precompute_part_of_a_summed_sum",
       statement("A(i, j) = B(i, j) * (C(j, k) + B(j, i))", "precompute(C(j, k) + B(j, i), {}, {}, W)"),
       "precompute: the sum over k includes B(j, i), which does not use k; precompute only the addends that use k"},
      {"communicate_a_workspace", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, W)\ncommunicate(W, i)"),
       "communicate: W is a private workspace of each processor, and is not communicated"},
      {"communicate_inside_a_workspace", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, W)\ncommunicate(B, jw)"),
       "communicate: loop jw is inside a precompute; this command takes loops outside of it"},
      {"distribute_inside_a_workspace", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, W)\ndistribute(j, L)"),
       "distribute: loop j is inside a precompute; this command takes loops outside of it"},
      {"reorder_out_of_a_workspace", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, W)\nreorder({jw, i})"),
       "reorder: loop jw is inside a precompute; this command takes loops outside of it"},
      {"parallelize_around_a_workspace", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, W)\nparallelize(i)"),
       "parallelize: a workspace is filled inside loop i; name a loop of its producer or of its consumer"},
      {"substitute_around_a_workspace", gemm("precompute(C(k, j), {}, {}, W)\nsubstitute({i, j, k}, gemm)"),
       "substitute: a workspace is filled inside loop i; name a loop of its producer or of its consumer"},
      {"precompute_rotated_by_the_sum",
       statement("T(i, j, l) = B(i, k) * C(k, j) * T2(i, j, l)",
                 "reorder({i, j, k, l})\nrotate(l, k, lr)\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
       "precompute: index l is rotated by loop k, which would move into the producer"},
      // Workspaces with a home.
      {"home_dimensions", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, b2)\nprecompute(B(i, k), {i}, {iw}, T)"),
       "precompute: T has 3 dimensions, but the command gives 1 loop and 1 copy"},
      {"home_of_a_loop", gemm("divide(j, jo, ji, 2)\nprecompute(B(i, k) * C(k, j), {ji}, {jw}, b)"),
       "precompute: ji is not an index of the statement, so it cannot index the tensor b"},
      {"home_in_the_statement", gemm("precompute(B(i, k) * C(k, j), {i, j}, {iw, jw}, B)"),
       "precompute: the statement uses B itself; precompute into another tensor"},
      {"home_without_an_index", gemm("precompute(B(i, k) * C(k, j), {j}, {jw}, b)"),
       "precompute: b is a tensor, so it needs every index that the part does not sum; i is missing"},
      {"home_with_too_much",
       statement("A(i, j) = B(i, k) * T(i, i, j)", "precompute(B(i, k), {i, j, l}, {iw, jw, lw}, T2)"),
       "precompute: l is not an index of the statement, so it cannot index the tensor T2"},
      {"home_that_the_part_does_not_use", with_d("precompute(C(k, j) * 1, {i, j}, {iw, jw}, D)"),
       "precompute: C(k, j) * 1 is not a part of the right side B(i, k) * C(k, j)"},
      {"home_along_another_index",
       std::string(kDeclarations) +
           "tensor D(n, n)\nA(i, j) = B(i, k) * C(l, j)\nschedule\nprecompute(B(i, k), {i, j}, {iw, jw}, D)\n",
       "precompute: B(i, k) does not depend on j"},
      {"home_addend_of_another_sum",
       statement("A(i, j) = B(i, k) - C(i, j) + C(k, j)", "precompute(B(i, k) - C(i, j), {i, j, k}, {iw, jw, kw}, T)"),
       "precompute: the sum over k includes C(i, j), which does not use k; precompute only the addends that use k"},
      {"home_too_late", with_d("split(k, ko, ki, 2)\nprecompute(B(i, k) * C(k, j), {i, j}, {iw, jw}, D)"),
       "precompute: the new statement sums over k, which an earlier command has scheduled; put precompute before "
       "split(k, ko, ki, 2)"},
      // Distribute by notation.
      {"notation_broadcasts", gemm("distribute({i}, {io}, {ii}, x -> x* on M)"),
       "distribute: `*` would run each iteration on all processors of a dimension, which is legal only for a copy into "
       "replicas there; fix the dimension to a face"},
      {"notation_copies_where_there_is_no_replica",
       placed("Grid(2, 3)", "xy -> xy", "distribute({i}, {io}, {ii}, x -> x* on M)"),
       "distribute: `*` would run each iteration on all processors of a dimension, which is legal only for a copy into "
       "replicas there; fix the dimension to a face"},
      {"notation_leaves_out", gemm("distribute({i, j}, {io, jo}, {ii, ji}, xy -> x on L)"),
       "distribute: loop j is y in xy -> x, but y is missing on the right side"},
      {"notation_of_two_levels", gemm("distribute({i}, {io}, {ii}, x -> x on H)"),
       "H has 2 levels, and a notation speaks of one"},
      {"notation_block_of_zero", gemm("distribute({i}, {io}, {ii}, x -> x cyclic(x = zero) on L)"),
       "distribute: the cyclic block of x is 0, and must be at least 1"},
      // Numbers.
      {"split_by_zero", gemm("split(i, io, ii, zero)"), "split: the size is 0, and must be at least 1"},
      {"split_by_less", gemm("split(i, io, ii, zero - 3)"), "split: the size is -3, and must be at least 1"},
      {"divide_by_zero", gemm("divide(i, io, ii, 2*zero)"), "divide: the number of parts is 0, and must be at least 1"},
      {"distribute_grid_of_zero", gemm("distribute(i, io, ii, Grid(zero))"),
       "extent 0 of the grid is zero = 0; it must be at least 1"},
  };
  return all;
}

class ScheduleRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ScheduleRefusal, SaysWhy) {
  const Refusal& r = GetParam();
  try {
    test::plan_text(r.program);
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), r.message);
    EXPECT_EQ(e.kind(), Error::Kind::Input);
    EXPECT_GT(e.span().line, 0) << "the error has no line";
    test::expect_golden("refusals/" + r.name + ".txt", std::string(e.what()) + "\n");
    return;
  }
  FAIL() << "was not refused";
}

INSTANTIATE_TEST_SUITE_P(Schedules, ScheduleRefusal, testing::ValuesIn(refusals()),
                         [](const auto& tested) { return tested.param.name; });

// One whole text.
TEST(ScheduleRefusalText, HasTheLineTheCaretAndTheLoops) {
  try {
    test::plan_text(gemm("split(i, io, ii, 2)\ncommunicate(A, i)"));
    FAIL() << "was not refused";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()),
              R"(t.distal:14:16: error: communicate: there is no loop i any more: i was split into io and ii
  communicate(A, i)
                 ^
  help: the loops here are
    ∀io
      ∀ii
        ∀j
          ∀k
            A(i, j) += B(i, k) * C(k, j))");
  }
}

}  // namespace
}  // namespace distal::core
