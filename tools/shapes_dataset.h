#ifndef MILLRACE_TOOLS_SHAPES_DATASET_H_
#define MILLRACE_TOOLS_SHAPES_DATASET_H_

// The data set that is there when the user has none: JPEGs of shapes in class
// folders, as varied as real ones in size, subsampling and kind.
//
//   OUT/train/arrow/0000.jpg ... OUT/train/triangle/0199.jpg
//   OUT/val/arrow/0000.jpg ...   OUT/val/triangle/0049.jpg

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace millrace::tools {

struct ShapesOptions {
  // Folder to make. Required. Must be empty or absent unless `force` is set.
  std::string out;
  // Pictures of each class, in [0, 10^6].
  int train_per_class = 200;
  int val_per_class = 50;
  // Equal seeds give equal files with the same versions of OpenCV and libjpeg.
  // A picture depends on the seed, its part, class and number alone: a larger
  // set of the same seed holds the smaller one.
  uint64_t seed = 1;
  // JPEG quality in [1, 100].
  int quality = 90;
  // Writes into a folder that is not empty, over files of the same names; other
  // files stay.
  bool force = false;

  // InvalidArgument naming field and value.
  absl::Status Validate() const;
};

enum class ShapesPart { kTrain = 0, kVal = 1 };

// The file of picture `number` of class `shape` (see ShapeClasses()): a JPEG of
// 4:4:4, 4:2:2 or 4:2:0, one in six progressive, one in ten grey.
absl::StatusOr<std::string> ShapeJpeg(const ShapesOptions& options,
                                      ShapesPart part, int shape, int number);

// Makes the folder, on all allowed CPUs. InvalidArgument as Validate() and for
// a folder that is not empty; else as ErrnoStatus().
absl::Status WriteShapesDataset(const ShapesOptions& options);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_SHAPES_DATASET_H_
