#include "leaf/box_kernel.h"

#include "leaf/blas_kernel.h"
#include "leaf/blocked.h"
#include "leaf/plain_loops.h"
#include "leaf/streamed.h"
#include "leaf/symmetric.h"

namespace distal::core {

std::string to_string(BoxKernelKind kind) {
  switch (kind) {
    case BoxKernelKind::Symmetric: return "half by BLAS";
    case BoxKernelKind::BlasForLarge: return "BLAS if large";
    case BoxKernelKind::BlasUnlessThin: return "BLAS unless thin";
    case BoxKernelKind::Blas: return "BLAS";
    case BoxKernelKind::RegisterBlocks: return "register blocks";
    case BoxKernelKind::OnePass: return "one pass";
    case BoxKernelKind::PlainLoops: return "plain loops";
  }
  throw InternalError("to_string: no such kernel");
}

std::unique_ptr<BoxKernel> make_box_kernel(BoxKernelKind kind, const std::vector<LeafTerm>& terms, ElementType type,
                                           bool accumulate) {
  if (kind == BoxKernelKind::OnePass) return make_streamed_kernel(terms, type, accumulate);
  if (terms.size() > 1 || !accumulate) return nullptr;
  switch (kind) {
    case BoxKernelKind::Symmetric: return make_symmetric_kernel(terms[0], type);
    case BoxKernelKind::RegisterBlocks: return make_blocked_kernel(terms[0], type);
    case BoxKernelKind::PlainLoops: return make_plain_loops(terms[0], type);
    default: return make_blas_kernel(terms[0], type, kind);
  }
}

}  // namespace distal::core
