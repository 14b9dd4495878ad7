#ifndef MILLRACE_TOOLS_TRAINING_DEVICE_H_
#define MILLRACE_TOOLS_TRAINING_DEVICE_H_

// Where a rank computes.

#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "tools/training/train_options.h"

namespace millrace::tools::training {

// The device of rank `local_rank` of the `local_size` ranks on this host: the
// GPU of that number, or the processor. kAuto takes a GPU where libtorch sees
// enough of them. FailedPrecondition for kCuda where libtorch was built without
// CUDA (naming how to build with it), sees no GPU, or fewer than there are
// local ranks ("8 local ranks, 1 GPU").
absl::StatusOr<c10::Device> ChooseDevice(DeviceChoice choice, int local_rank,
                                         int local_size);

// Sets the threads of one operation on the processor, for this process: those
// of libtorch and of OpenBLAS, which keeps a pool of its own.
void SetIntraOpThreads(int threads);
int IntraOpThreads();

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_DEVICE_H_
