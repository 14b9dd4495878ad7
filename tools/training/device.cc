#include "tools/training/device.h"

#include <dlfcn.h>

#include "ATen/Parallel.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "torch/cuda.h"

namespace millrace::tools::training {

absl::StatusOr<c10::Device> ChooseDevice(DeviceChoice choice, int local_rank,
                                         int local_size) {
  if (choice == DeviceChoice::kCpu) return c10::Device(c10::kCPU);
  const int gpus = static_cast<int>(torch::cuda::device_count());
  if (gpus >= local_size) {
    return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(local_rank));
  }
  if (choice == DeviceChoice::kAuto) return c10::Device(c10::kCPU);
  if (gpus > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--device=cuda: ", local_size, " local ranks, ", gpus, " GPU"));
  }
  return absl::FailedPreconditionError(
      "--device=cuda: libtorch sees no GPU. Debian's libtorch is built without "
      "CUDA: on a machine with a GPU, build with a torch wheel's, "
      "TORCH_HOME=.../site-packages/torch bazel build --config=cuda "
      "//tools:train");
}

void SetIntraOpThreads(int threads) {
  at::set_num_threads(threads);
  // libtorch calls BLAS from threads of its own, one sample each, so OpenBLAS
  // must not make more of them. Other BLAS libraries lack the function.
  using SetThreads = void (*)(int);
  const auto set_threads = reinterpret_cast<SetThreads>(
      dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(1);
}

int IntraOpThreads() { return at::get_num_threads(); }

}  // namespace millrace::tools::training
