/* A stand-in for libcuda.so.1 on machines without an NVIDIA driver.
 *
 * The Legion that tools/legion.sh fetches can use GPUs, so it does not load without a libcuda.so.1. This one reports
 * that there are no GPUs. It defines the functions that Legion links to; Realm looks up all others only after cuInit
 * has succeeded. */

enum { NO_DEVICE = 100 }; /* CUDA_ERROR_NO_DEVICE */

int cuInit(unsigned flags) {
  (void)flags;
  return NO_DEVICE;
}

int cuGetErrorName(int error, const char **name) {
  (void)error;
  *name = "CUDA_ERROR_NO_DEVICE";
  return 0;
}

int cuGetErrorString(int error, const char **text) {
  (void)error;
  *text = "this machine has no NVIDIA driver";
  return 0;
}

int cuMemFree_v2(unsigned long long address) {
  (void)address;
  return NO_DEVICE;
}

int cuMemFreeHost(void *address) {
  (void)address;
  return NO_DEVICE;
}
