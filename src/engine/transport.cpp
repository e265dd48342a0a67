#include "engine/transport.h"

namespace distal::core {

MessagePart in_storage_order(const View& view, const Rect& rect, const std::vector<int>& order) {
  MessagePart out{{view.data, view.offset, {}}, {}};
  for (int d : order) {
    auto from = static_cast<size_t>(d);
    out.view.strides.push_back(view.strides[from]);
    out.rect.lo.push_back(rect.lo[from]);
    out.rect.hi.push_back(rect.hi[from]);
  }
  return out;
}

}  // namespace distal::core
