// Draws a small data set to train on:
//
//   bazel run -c opt //tools:shapes -- --out=shapes
//   bazel run -c opt //tools:train -- --data=shapes

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "base/status_macros.h"
#include "opencv2/core.hpp"
#include "tools/command_line.h"
#include "tools/shape_picture.h"
#include "tools/shapes_dataset.h"

ABSL_FLAG(std::string, out, "",
          "Folder to make, with train/ and val/ in it. Required.");
ABSL_FLAG(int, train_per_class, 200, "Training pictures of each class.");
ABSL_FLAG(int, val_per_class, 50, "Validation pictures of each class.");
ABSL_FLAG(uint64_t, seed, 1, "Equal seeds give equal files.");
ABSL_FLAG(int, quality, 90, "JPEG quality, 1 to 100.");
ABSL_FLAG(bool, force, false,
          "Write into a folder that is not empty, over files of the same "
          "names; other files stay.");

namespace millrace::tools {
namespace {

absl::Status Run() {
  ShapesOptions options;
  options.out = ResolvePath(absl::GetFlag(FLAGS_out));
  options.train_per_class = absl::GetFlag(FLAGS_train_per_class);
  options.val_per_class = absl::GetFlag(FLAGS_val_per_class);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.quality = absl::GetFlag(FLAGS_quality);
  options.force = absl::GetFlag(FLAGS_force);
  // Pictures are drawn in parallel, each by one thread.
  cv::setNumThreads(1);
  MILLRACE_RETURN_IF_ERROR(WriteShapesDataset(options));
  std::printf("%s: %zu classes, %d training and %d validation pictures each\n",
              options.out.c_str(), ShapeClasses().size(),
              options.train_per_class, options.val_per_class);
  return absl::OkStatus();
}

}  // namespace
}  // namespace millrace::tools

int main(int argc, char** argv) {
  millrace::tools::ParseCommandLine(
      argc, argv,
      "Draws a data set of ten shapes as JPEGs in class folders.\n\n"
      "  shapes --out=DIR [--train_per_class=200] [--val_per_class=50]",
      {.groups = {{"Data set",
                   {"out", "train_per_class", "val_per_class", "seed",
                    "quality", "force"}}}});
  return millrace::tools::ExitWith(millrace::tools::Run());
}
