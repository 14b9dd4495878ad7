#include "loader/image_transform.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/generator.h"
#include "base/status_macros.h"
#include "base/tensor.h"
#include "loader/raw_field.h"

namespace millrace::loader {
namespace {

// Scratch memory that a worker keeps from one image to the next. Above this,
// which holds a decoded picture of 11 million pixels, taking fresh pages costs
// a few per cent of decoding; keeping them would let a few huge pictures swell
// every worker that ever met one.
constexpr int64_t kKeptScratchBytes = int64_t{32} << 20;

// Why an array can't be taken for an image; empty if it can. `shape` may be
// empty where samples differ.
std::string WhyNoImage(const storage::Descriptor& descriptor) {
  if (descriptor.encoded) return "";
  const Shape& shape = descriptor.shape;
  if (descriptor.dtype != DType::kUInt8) {
    return absl::StrCat("images are uint8, not ", Name(descriptor.dtype));
  }
  if (descriptor.layout != Layout::kHWC && shape.size() != 2) {
    return absl::StrCat("images have their channels last, not ",
                        Name(descriptor.layout));
  }
  if (shape.empty()) return "";
  constexpr int64_t kMaxSide = std::numeric_limits<int>::max();
  if ((shape.size() != 2 && shape.size() != 3) || shape[0] <= 0 ||
      shape[0] > kMaxSide || shape[1] <= 0 || shape[1] > kMaxSide ||
      (shape.size() == 3 && shape[2] != 1 && shape[2] != 3)) {
    return absl::StrCat("images are [H, W], [H, W, 1] or [H, W, 3], not ",
                        ShapeToString(shape));
  }
  return "";
}

class ImageTransform : public SampleTransform {
 public:
  // outputs[0] is the pipeline's.
  ImageTransform(augment::Pipeline pipeline, std::vector<OutputField> outputs)
      : pipeline_(std::move(pipeline)), outputs_(std::move(outputs)) {}

  absl::Span<const OutputField> outputs() const override { return outputs_; }

  std::unique_ptr<Context> MakeContext() const override {
    return std::make_unique<ImageContext>();
  }

  absl::Status Run(const storage::Sample& sample, Generator* generator,
                   Context* context,
                   absl::Span<void* const> outputs) const override {
    if (sample.fields().size() != outputs_.size()) {
      return absl::DataLossError(absl::StrCat(
          "want ", outputs_.size(), " fields, got ", sample.fields().size()));
    }
    MILLRACE_ASSIGN_OR_RETURN(const augment::ImageSource source,
                              SourceOf(sample.fields().front()));
    auto* const image_context = static_cast<ImageContext*>(context);
    const absl::Status status = pipeline_.Run(
        source, generator, &image_context->workspace, outputs.front());
    image_context->DropLargeScratch();
    MILLRACE_RETURN_IF_ERROR(status);
    for (size_t i = 1; i < outputs_.size(); ++i) {
      MILLRACE_RETURN_IF_ERROR(
          CopyRawField(sample.fields()[i], outputs_[i], outputs[i]));
    }
    return absl::OkStatus();
  }

  int64_t ScratchBytes(const storage::Sample& sample) const override {
    if (sample.fields().empty()) return 0;
    const absl::StatusOr<augment::ImageSource> source =
        SourceOf(sample.fields().front());
    return source.ok() ? pipeline_.ScratchBytes(*source) : 0;
  }

  std::string Describe() const override {
    std::string text =
        absl::StrCat("image(", outputs_.front().name, ": ",
                     pipeline_.ToString(), ", ", pipeline_.hash().ToHex());
    for (size_t i = 1; i < outputs_.size(); ++i) {
      absl::StrAppend(&text, ", ", DescribeField(outputs_[i]));
    }
    return text + ")";
  }

 private:
  class ImageContext : public Context {
   public:
    int64_t TakeDecodeNanoseconds() override {
      return std::exchange(decode_ns, 0) + workspace.TakeTimes().decode_ns;
    }

    void DropLargeScratch() {
      if (workspace.ByteCount() <= kKeptScratchBytes) return;
      decode_ns += workspace.TakeTimes().decode_ns;
      workspace = augment::Workspace();
    }

    augment::Workspace workspace;
    // Of workspaces that were dropped.
    int64_t decode_ns = 0;
  };

  static absl::StatusOr<augment::ImageSource> SourceOf(
      const storage::FieldView& field) {
    augment::ImageSource source{.bytes = field.bytes};
    const storage::Descriptor& descriptor = field.descriptor;
    if (descriptor.encoded) return source;
    if (const std::string why = WhyNoImage(descriptor); !why.empty()) {
      return absl::DataLossError(why);
    }
    const int64_t want = ElementCount(descriptor.shape);
    // A scalar's shape is empty, too: as the sample's own it is no image.
    if (descriptor.shape.empty() ||
        want != static_cast<int64_t>(field.bytes.size())) {
      return absl::DataLossError(
          absl::StrCat("raw image ", ShapeToString(descriptor.shape), ": want ",
                       want, " bytes, got ", field.bytes.size()));
    }
    source.height = static_cast<int>(descriptor.shape[0]);
    source.width = static_cast<int>(descriptor.shape[1]);
    source.channels = descriptor.shape.size() == 3
                          ? static_cast<int>(descriptor.shape[2])
                          : 1;
    return source;
  }

  const augment::Pipeline pipeline_;
  const std::vector<OutputField> outputs_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const SampleTransform>> MakeImageTransform(
    const storage::Dataset& dataset, augment::Pipeline pipeline) {
  const std::vector<storage::FieldSpec>& fields = dataset.fields();
  if (fields.empty()) {
    return absl::InvalidArgumentError("the data set has no fields: no images");
  }
  if (const std::string why = WhyNoImage(fields.front().descriptor);
      !why.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("field ", fields.front().name, " is no image: ", why));
  }
  std::vector<OutputField> outputs = {{.name = fields.front().name,
                                       .dtype = pipeline.output().dtype,
                                       .shape = pipeline.output().shape()}};
  for (size_t i = 1; i < fields.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(OutputField output, RawOutputField(fields[i]));
    outputs.push_back(std::move(output));
  }
  return std::make_shared<const ImageTransform>(std::move(pipeline),
                                                std::move(outputs));
}

}  // namespace millrace::loader
