/* A stand-in for libcuda.so.1 on machines without an NVIDIA driver.
 *
 * The Legion that tools/legion.sh fetches can use GPUs, and so will not load without a libcuda.so.1. This one says that
 * there are none. It has what Legion refers to by name; Realm looks the rest up only after cuInit has succeeded. */

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
