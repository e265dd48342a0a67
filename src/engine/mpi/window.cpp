#include "engine/mpi/window.h"

#include <sys/mman.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <exception>

namespace distal::core {

namespace {

// What is written to such memory beyond its file system's end would end the process.
bool has_room(int64_t bytes) {
  struct statvfs system {};
  if (statvfs("/dev/shm", &system) != 0) return false;
  return bytes <= static_cast<int64_t>(system.f_bavail) * static_cast<int64_t>(system.f_frsize);
}

// A rank that may not map what the others may would leave them waiting inside of MPI.
bool can_map(int64_t bytes) {
  void* tried = mmap(nullptr, static_cast<size_t>(std::max<int64_t>(bytes, 1)), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tried == MAP_FAILED) return false;
  munmap(tried, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  return true;
}

bool all_say(MPI_Comm communicator, bool mine) {
  int said = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &said, 1, MPI_INT, MPI_MIN, communicator);
  return said == 1;
}

}  // namespace

std::unique_ptr<Window> Window::make(const Cluster& cluster, int64_t bytes) {
  int64_t together = bytes;
  MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_INT64_T, MPI_SUM, cluster.node());
  int64_t with_spare = together + together / 16;
  if (!all_say(cluster.node(), has_room(with_spare) && can_map(with_spare))) return nullptr;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");  // each rank's on pages of its own
  MPI_Win window = MPI_WIN_NULL;
  void* mine = nullptr;
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(cluster.node(), &before);
  MPI_Comm_set_errhandler(cluster.node(), MPI_ERRORS_RETURN);
  bool made =
      MPI_Win_allocate_shared(std::max<int64_t>(bytes, 64), 1, info, cluster.node(), &mine, &window) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(cluster.node(), before);
  MPI_Errhandler_free(&before);
  MPI_Info_free(&info);
  if (!all_say(cluster.node(), made)) return nullptr;
  // For all of its life: what orders accesses is when ranks meet.
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  return std::unique_ptr<Window>(new Window(cluster, window));
}

Window::~Window() {
  // All ranks would have to come here, and one that failed alone is on its way to say so.
  if (std::uncaught_exceptions() > 0) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

std::byte* Window::of(int rank) const {
  MPI_Aint size = 0;
  int unit = 0;
  void* memory = nullptr;
  MPI_Win_shared_query(window_, cluster_->rank_in_node(rank), &size, &unit, &memory);
  return static_cast<std::byte*>(memory);
}

}  // namespace distal::core
