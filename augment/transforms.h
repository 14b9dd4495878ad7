#ifndef MILLRACE_AUGMENT_TRANSFORMS_H_
#define MILLRACE_AUGMENT_TRANSFORMS_H_

// The transforms of torchvision, as plain descriptions with torchvision's
// names, arguments, defaults and meaning. A Pipeline (augment/pipeline.h) runs
// them.
//
// All are bit-equal to torchvision 0.29 on Pillow 13 for the same parameters,
// which they draw from a Generator in torchvision's order.

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "base/generator.h"
#include "base/hash.h"

namespace cv {
class Mat;
}  // namespace cv

namespace millrace::augment {

// Antialiased bilinear resize: of the short side to `size` pixels, keeping the
// aspect ratio (the long side is truncated), or, with `width` > 0, of the
// height to `size` and the width to `width`. An image of that size is left
// alone.
struct Resize {
  int size = 256;
  int width = 0;
};

// Crops the middle `size` x `width` pixels (`width` 0: square), padding smaller
// images with zeros.
struct CenterCrop {
  int size = 224;
  int width = 0;
};

// Crops a random box of `scale` of the area and `ratio` (width / height), then
// resizes it to `size` x `width` (`width` 0: square) with antialiased bilinear;
// pixels outside the box are never seen. Ten tries, then the largest centred
// box within the ratios. `scale` in (0, 1] ascending, `ratio` > 0 ascending.
struct RandomResizedCrop {
  int size = 224;
  int width = 0;
  std::pair<double, double> scale = {0.08, 1.0};
  std::pair<double, double> ratio = {3.0 / 4.0, 4.0 / 3.0};
};

// Mirrors left to right with probability `p` in [0, 1].
struct RandomHorizontalFlip {
  double p = 0.5;
};

// Rotates about the centre by an angle drawn from [-degrees, degrees],
// counter-clockwise if positive; nearest neighbour, same size, zeros outside.
// degrees >= 0.
struct RandomRotation {
  double degrees = 10;
};

// Scales brightness, contrast and saturation by factors drawn from
// [max(0, 1 - x), 1 + x] and turns the hue by a part of the circle drawn from
// [-hue, hue], in a drawn order. Factors >= 0, hue in [0, 0.5]; what is 0 is
// left out.
struct ColorJitter {
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;
};

// To floats in [0, 1]: value / 255. From here on the image is a float tensor.
struct ToTensor {};

// (value - mean) / std for each channel, after ToTensor. std > 0. In gray mode
// the first mean and std are taken.
struct Normalize {
  std::array<double, 3> mean = {0.485, 0.456, 0.406};
  std::array<double, 3> std = {0.229, 0.224, 0.225};
};

// A transform of the user's own, on the image as an 8-bit RGB cv::Mat (3
// channels, or 1 in gray mode), before ToTensor. `apply` may replace the image
// by one of another size. It is called from many threads at once, and draws
// only from `generator`, or else results depend on timing. An error ends as an
// error of the sample; so does a cv::Exception.
struct Custom {
  // Name and parameters, part of the pipeline's hash: "Vignette(0.3)".
  std::string name;
  std::function<void(cv::Mat* image, Generator* generator)> apply;
};

using Transform =
    std::variant<Resize, CenterCrop, RandomResizedCrop, RandomHorizontalFlip,
                 RandomRotation, ColorJitter, ToTensor, Normalize, Custom>;

// InvalidArgument, naming transform, argument and value, if one is outside its
// range. Sizes lie in [1, 65535].
absl::Status Validate(const Transform& transform);

// "RandomResizedCrop(224, scale=(0.5, 1))": the size, and other arguments that
// have not their default value.
std::string ToString(const Transform& transform);

// Adds kind and arguments, exactly.
void AddToHash(const Transform& transform, Hasher* hasher);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_TRANSFORMS_H_
