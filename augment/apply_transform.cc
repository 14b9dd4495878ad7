#include "augment/apply_transform.h"

#include <algorithm>
#include <exception>
#include <string>

#include "absl/strings/str_cat.h"
#include "augment/center_crop.h"
#include "augment/color_jitter.h"
#include "augment/flip.h"
#include "augment/random_resized_crop.h"
#include "augment/rotate.h"
#include "base/status_macros.h"
#include "opencv2/core.hpp"

namespace millrace::augment {
namespace {

// `width` of a description: 0 stands for square.
ImageSize FixedSize(int size, int width) {
  return {size, width != 0 ? width : size};
}

ImageSize After(const Resize& t, ImageSize size) {
  if (t.width != 0) return {t.size, t.width};
  // torchvision computes the long side as a quotient of doubles, and truncates.
  const auto long_side = [&t](int64_t long_one, int64_t short_one) {
    return static_cast<int64_t>(static_cast<double>(t.size * long_one) /
                                static_cast<double>(short_one));
  };
  if (size.width <= size.height) {
    return {long_side(size.height, size.width), t.size};
  }
  return {t.size, long_side(size.width, size.height)};
}

ImageSize After(const CenterCrop& t, ImageSize) {
  return FixedSize(t.size, t.width);
}

ImageSize After(const RandomResizedCrop& t, ImageSize) {
  return FixedSize(t.size, t.width);
}

template <typename T>
ImageSize After(const T&, ImageSize size) {
  return size;
}

// Applies one transform; overloads for each kind.
struct Applier {
  int64_t max_pixels;
  Generator* generator;
  ImageStage* stage;

  ImageSize Size() const {
    return {stage->image().height, stage->image().width};
  }

  absl::Status operator()(const Resize& t) const {
    return ResizeTo(After(t, Size()), max_pixels, stage);
  }

  absl::Status operator()(const CenterCrop& t) const {
    const ImageSize size = After(t, Size());
    MILLRACE_ASSIGN_OR_RETURN(
        const ImageView next,
        stage->Next(static_cast<int>(size.height), static_cast<int>(size.width),
                    stage->image().channels));
    CenterCropImage(stage->image(), next);
    stage->Accept(next);
    return absl::OkStatus();
  }

  absl::Status operator()(const RandomResizedCrop& t) const {
    const ImageView& image = stage->image();
    const Region box = DrawCropBox(t, image.height, image.width, generator);
    const ImageSize size = After(t, Size());
    MILLRACE_ASSIGN_OR_RETURN(
        const ImageView next,
        stage->Next(static_cast<int>(size.height), static_cast<int>(size.width),
                    image.channels));
    MILLRACE_RETURN_IF_ERROR(
        Resample(image.Crop(box), next, stage->resample_scratch()));
    stage->Accept(next);
    return absl::OkStatus();
  }

  absl::Status operator()(const RandomHorizontalFlip& t) const {
    if (generator->Rand() < t.p) FlipHorizontally(stage->image());
    return absl::OkStatus();
  }

  absl::Status operator()(const RandomRotation& t) const {
    const float range = static_cast<float>(t.degrees);
    const double angle = generator->Uniform(-range, range);
    const ImageView& image = stage->image();
    MILLRACE_ASSIGN_OR_RETURN(
        const ImageView next,
        stage->Next(image.height, image.width, image.channels));
    RotateImage(image, angle, next);
    stage->Accept(next);
    return absl::OkStatus();
  }

  absl::Status operator()(const ColorJitter& t) const {
    ApplyColorJitter(DrawColorJitter(t, generator), stage->image());
    return absl::OkStatus();
  }

  absl::Status operator()(const ToTensor&) const { return absl::OkStatus(); }
  absl::Status operator()(const Normalize&) const { return absl::OkStatus(); }
  absl::Status operator()(const Custom& t) const;
};

// Runs the user's code; what it throws ends here.
absl::Status CallCustom(const Custom& custom, cv::Mat* image,
                        Generator* generator) {
  std::string reason;
  try {
    custom.apply(image, generator);
    return absl::OkStatus();
  } catch (const std::exception& e) {
    reason = e.what();
  } catch (...) {
    reason = "an exception that is no std::exception";
  }
  return absl::DataLossError(
      absl::StrCat("transform ", custom.name, " failed: ", reason));
}

absl::Status Applier::operator()(const Custom& t) const {
  const ImageView& image = stage->image();
  const int type = CV_MAKETYPE(CV_8U, image.channels);
  cv::Mat mat(image.height, image.width, type, image.data,
              static_cast<size_t>(image.stride));
  MILLRACE_RETURN_IF_ERROR(CallCustom(t, &mat, generator));
  if (mat.dims != 2 || mat.empty() || mat.type() != type) {
    return absl::DataLossError(absl::StrCat("transform ", t.name,
                                            " left no 8-bit image of ",
                                            image.channels, " channels"));
  }
  if (mat.data == image.data && mat.rows == image.height &&
      mat.cols == image.width) {
    return absl::OkStatus();
  }
  if (int64_t{mat.rows} * mat.cols > max_pixels) {
    return absl::DataLossError(absl::StrCat(
        "transform ", t.name, " made an image of ", mat.rows, " x ", mat.cols,
        " pixels, more than max_pixels (", max_pixels, ")"));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ImageView next,
                            stage->Next(mat.rows, mat.cols, image.channels));
  CopyImage({mat.data, mat.rows, mat.cols, image.channels,
             static_cast<ptrdiff_t>(mat.step[0])},
            next);
  stage->Accept(next);
  return absl::OkStatus();
}

}  // namespace

ImageSize SizeAfter(const Transform& transform, ImageSize size) {
  return std::visit([size](const auto& t) { return After(t, size); },
                    transform);
}

absl::Status ApplyTransform(const Transform& transform, int64_t max_pixels,
                            Generator* generator, ImageStage* stage) {
  return std::visit(Applier{max_pixels, generator, stage}, transform);
}

absl::Status ResizeTo(ImageSize size, int64_t max_pixels, ImageStage* stage) {
  const ImageView& image = stage->image();
  if (size.height == image.height && size.width == image.width) {
    return absl::OkStatus();
  }
  if (size.height * size.width > max_pixels || size.height > kMaxImageSide ||
      size.width > kMaxImageSide) {
    return absl::DataLossError(absl::StrCat(
        "resizing ", image.height, " x ", image.width, " pixels to ",
        size.height, " x ", size.width, " gives more than max_pixels (",
        max_pixels, ") or than 2^24 in a row"));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const ImageView next,
      stage->Next(static_cast<int>(size.height), static_cast<int>(size.width),
                  image.channels));
  MILLRACE_RETURN_IF_ERROR(Resample(image, next, stage->resample_scratch()));
  stage->Accept(next);
  return absl::OkStatus();
}

}  // namespace millrace::augment
