#ifndef MILLRACE_TOOLS_SHAPE_PICTURE_H_
#define MILLRACE_TOOLS_SHAPE_PICTURE_H_

// Pictures that a small network can learn to tell apart: each shows a few
// shapes of one class on a background of its own.

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/generator.h"
#include "opencv2/core.hpp"

namespace millrace::tools {

// Names of the classes, in byte order: "arrow", "bar", ... Ten of them, which
// stay apart when turned, mirrored, stretched or cut at the edge.
absl::Span<const absl::string_view> ShapeClasses();

// A picture of `shape` (an index of ShapeClasses()): uint8, [H, W, 3], RGB,
// sides in [80, 240]. Sizes, colours, positions, rotation, noise and what
// partly hides the shapes are drawn from `generator`; nothing else enters.
//
// Thread-safe, with one generator for each thread.
cv::Mat DrawShapePicture(int shape, Generator& generator);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_SHAPE_PICTURE_H_
