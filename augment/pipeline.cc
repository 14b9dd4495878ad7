#include "augment/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "augment/apply_transform.h"
#include "augment/convert_channels.h"
#include "augment/opencv_setup.h"
#include "augment/random_resized_crop.h"
#include "augment/to_tensor.h"
#include "augment/workspace_impl.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

// Raised whenever some input gives other bits than before.
constexpr int64_t kKernelVersion = 1;

template <typename T>
bool Is(const Transform& transform) {
  return std::holds_alternative<T>(transform);
}

// The order of the list, and what it leaves behind.
struct Checked {
  bool floats = false;
  // Empty where the size depends on the image.
  std::optional<ImageSize> size;
};

// The size that every image has after `transform`, if `size` is what it has
// before.
std::optional<ImageSize> FixedSizeAfter(const Transform& transform,
                                        std::optional<ImageSize> size) {
  const auto* resize = std::get_if<Resize>(&transform);
  const bool decides = (resize != nullptr && resize->width != 0) ||
                       Is<CenterCrop>(transform) ||
                       Is<RandomResizedCrop>(transform);
  if (!decides && !size.has_value()) return std::nullopt;
  return SizeAfter(transform, size.value_or(ImageSize{1, 1}));
}

absl::StatusOr<Checked> Check(const std::vector<Transform>& transforms,
                              int64_t max_pixels) {
  Checked result;
  for (const Transform& transform : transforms) {
    MILLRACE_RETURN_IF_ERROR(Validate(transform));
    const std::string name = ToString(transform);
    if (Is<Normalize>(transform)) {
      if (result.floats) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, " without ToTensor before it"));
    }
    if (result.floats) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " after ToTensor: it works on 8-bit pixels"));
    }
    if (Is<ToTensor>(transform)) result.floats = true;
    result.size = FixedSizeAfter(transform, result.size);
    if (result.size.has_value() &&
        result.size->height * result.size->width > max_pixels) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " makes images of ", result.size->height, " x ",
                       result.size->width, " pixels, more than max_pixels (",
                       max_pixels, ")"));
    }
  }
  if (!result.size.has_value()) {
    return absl::InvalidArgumentError(
        "images would have different sizes: the list needs RandomResizedCrop, "
        "CenterCrop, or Resize with a width");
  }
  return result;
}

bool IsEncoded(const ImageSource& source) {
  return source.height == 0 && source.width == 0;
}

// What is known of a source before its pixels: of raw ones, all.
absl::StatusOr<ImageHeader> HeaderOf(const ImageSource& source) {
  if (IsEncoded(source)) return ReadImageHeader(source.bytes);
  ImageHeader header;
  header.height = source.height;
  header.width = source.width;
  header.channels = source.channels;
  const bool possible = source.height > 0 && source.width > 0 &&
                        source.height <= kMaxImageSide &&
                        source.width <= kMaxImageSide &&
                        (source.channels == 1 || source.channels == 3);
  const int64_t want = possible ? int64_t{source.height} * source.width : -1;
  if (want * source.channels != static_cast<int64_t>(source.bytes.size())) {
    return absl::DataLossError(absl::StrCat(
        "raw image: ", source.bytes.size(), " bytes for ", source.height, " x ",
        source.width, " pixels of ", source.channels, " channels"));
  }
  return header;
}

}  // namespace

absl::Status PipelineOptions::Validate() const {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (max_pixels < 1 || max_pixels > kMost) {
    return absl::InvalidArgumentError(absl::StrCat(
        "PipelineOptions: max_pixels is ", max_pixels, ", want 1 to 2^40"));
  }
  return absl::OkStatus();
}

Shape OutputSpec::shape() const {
  if (layout == Layout::kCHW) return {channels, height, width};
  return {height, width, channels};
}

int64_t OutputSpec::ByteCount() const {
  return int64_t{channels} * height * width *
         static_cast<int64_t>(ByteSize(dtype));
}

struct Pipeline::Impl {
  absl::Status Decode(const ImageSource& source, const ImageHeader& header,
                      const Region& region, Workspace::Impl* workspace) const;
  absl::Status Transform(size_t first, Generator* generator,
                         ImageStage* stage) const;
  void Write(const ImageView& image, void* out) const;

  std::vector<augment::Transform> transforms;
  PipelineOptions options;
  OutputSpec output;
  ByteToFloat values;
};

Pipeline::Pipeline(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<Pipeline> Pipeline::Create(std::vector<Transform> transforms,
                                          const PipelineOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_ASSIGN_OR_RETURN(const Checked checked,
                            Check(transforms, options.max_pixels));
  SetUpOpencv();
  auto impl = std::make_shared<Impl>();
  impl->options = options;
  impl->output.dtype = checked.floats ? DType::kFloat32 : DType::kUInt8;
  impl->output.layout = options.layout;
  impl->output.channels = options.color == ColorMode::kGray ? 1 : 3;
  impl->output.height = static_cast<int>(checked.size->height);
  impl->output.width = static_cast<int>(checked.size->width);
  for (const Transform& transform : transforms) {
    const auto* normalize = std::get_if<Normalize>(&transform);
    if (normalize != nullptr) impl->values.Normalize(*normalize);
  }
  impl->transforms = std::move(transforms);
  return Pipeline(std::move(impl));
}

absl::StatusOr<Pipeline> Pipeline::Preset(absl::string_view name, int size,
                                          const PipelineOptions& options) {
  const RandomResizedCrop crop{.size = size};
  if (name == "train") {
    return Create({crop, RandomHorizontalFlip{}, ToTensor{}, Normalize{}},
                  options);
  }
  if (name == "train_full") {
    return Create(
        {crop, RandomHorizontalFlip{}, RandomRotation{.degrees = 10},
         ColorJitter{.brightness = 0.2, .contrast = 0.2, .saturation = 0.2},
         ToTensor{}, Normalize{}},
        options);
  }
  if (name == "eval") {
    const int64_t short_side = int64_t{size} * 256 / 224;
    // The crop first: its message is about the size that the caller gave.
    MILLRACE_RETURN_IF_ERROR(Validate(CenterCrop{.size = size}));
    return Create({Resize{.size = static_cast<int>(short_side)},
                   CenterCrop{.size = size}, ToTensor{}, Normalize{}},
                  options);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no preset is called \"", name,
                   "\": there are train, train_full and "
                   "eval"));
}

const OutputSpec& Pipeline::output() const { return impl_->output; }

absl::Status Pipeline::Run(const ImageSource& source, Generator* generator,
                           Workspace* workspace, void* out) const {
  const Clock& clock = *Clock::Real();
  Workspace::Impl* work = workspace->impl_.get();
  const absl::Duration start = clock.Now();
  MILLRACE_ASSIGN_OR_RETURN(const ImageHeader header, HeaderOf(source));
  const int64_t pixels = int64_t{header.height} * header.width;
  if (pixels > impl_->options.max_pixels) {
    return absl::DataLossError(absl::StrCat(
        "an image of ", header.height, " x ", header.width, " = ", pixels,
        " pixels, more than max_pixels (", impl_->options.max_pixels, ")"));
  }

  // A crop that comes first is drawn before decoding, and only it is decoded.
  const std::vector<Transform>& transforms = impl_->transforms;
  Region region = {0, 0, header.height, header.width};
  const auto* crop = std::get_if<RandomResizedCrop>(&transforms[0]);
  if (crop != nullptr) {
    generator->StartUse(0);
    region = DrawCropBox(*crop, header.height, header.width, generator);
  }
  absl::Status status = impl_->Decode(source, header, region, work);
  const absl::Duration decoded = clock.Now();
  work->times.decode_ns += absl::ToInt64Nanoseconds(decoded - start);
  if (status.ok() && crop != nullptr) {
    status = ResizeTo(SizeAfter(transforms[0], {}), impl_->options.max_pixels,
                      &work->stage);
  }
  if (status.ok()) {
    status = impl_->Transform(crop != nullptr ? 1 : 0, generator, &work->stage);
  }
  if (status.ok()) impl_->Write(work->stage.image(), out);
  work->times.transform_ns += absl::ToInt64Nanoseconds(clock.Now() - decoded);
  return status;
}

absl::Status Pipeline::Impl::Decode(const ImageSource& source,
                                    const ImageHeader& header,
                                    const Region& region,
                                    Workspace::Impl* workspace) const {
  workspace->stage.Reset();
  MILLRACE_ASSIGN_OR_RETURN(
      const ImageView image,
      workspace->stage.Next(region.height, region.width, output.channels));
  if (IsEncoded(source)) {
    MILLRACE_RETURN_IF_ERROR(
        workspace->DecoderOf(header.format)
            ->Decode(source.bytes, header, {.region = region}, image));
  } else {
    const ConstImageView pixels = {
        reinterpret_cast<const uint8_t*>(source.bytes.data()), source.height,
        source.width, source.channels,
        ptrdiff_t{source.width} * source.channels};
    ConvertChannels(pixels.Crop(region), image);
  }
  workspace->stage.Accept(image);
  return absl::OkStatus();
}

absl::Status Pipeline::Impl::Transform(size_t first, Generator* generator,
                                       ImageStage* stage) const {
  for (size_t i = first; i < transforms.size(); ++i) {
    generator->StartUse(static_cast<uint32_t>(i));
    MILLRACE_RETURN_IF_ERROR(
        ApplyTransform(transforms[i], options.max_pixels, generator, stage));
  }
  // Only a Custom transform can have made another size.
  const ImageView& image = stage->image();
  if (image.height != output.height || image.width != output.width) {
    return absl::DataLossError(absl::StrCat(
        "transforms left an image of ", image.height, " x ", image.width,
        " pixels, want ", output.height, " x ", output.width));
  }
  return absl::OkStatus();
}

void Pipeline::Impl::Write(const ImageView& image, void* out) const {
  if (output.dtype == DType::kFloat32) {
    WriteFloats(image, values, output.layout, out);
  } else {
    WriteBytes(image, output.layout, out);
  }
}

int64_t Pipeline::ScratchBytes(const ImageSource& source) const {
  const absl::StatusOr<ImageHeader> header = HeaderOf(source);
  if (!header.ok()) return 0;
  const int channels = impl_->output.channels;
  ImageSize size = {header->height, header->width};
  const auto bytes = [channels](const ImageSize& s) {
    return s.height * s.width * channels;
  };
  // Two buffers, image and next image, and one between the passes of a resize,
  // which is no larger than both.
  int64_t peak = bytes(size);
  for (const Transform& transform : impl_->transforms) {
    const ImageSize next = SizeAfter(transform, size);
    if (next.height * next.width > impl_->options.max_pixels) break;
    peak = std::max(peak, bytes(size) + bytes(next) +
                              bytes({std::max(size.height, next.height),
                                     std::min(size.width, next.width)}));
    size = next;
  }
  return peak + header->working_bytes;
}

std::string Pipeline::ToString() const {
  return absl::StrJoin(impl_->transforms, "|",
                       [](std::string* text, const Transform& transform) {
                         absl::StrAppend(text, augment::ToString(transform));
                       });
}

Hash128 Pipeline::hash() const {
  Hasher hasher;
  hasher.AddInt(kKernelVersion)
      .AddInt(static_cast<int64_t>(impl_->options.color))
      .AddInt(static_cast<int64_t>(impl_->options.layout))
      .AddInt(impl_->options.max_pixels)
      .AddInt(static_cast<int64_t>(impl_->transforms.size()));
  for (const Transform& transform : impl_->transforms) {
    AddToHash(transform, &hasher);
  }
  return hasher.Finish();
}

}  // namespace millrace::augment
