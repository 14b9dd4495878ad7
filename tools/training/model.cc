#include "tools/training/model.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "tools/training/torch_status.h"
#include "torch/nn/init.h"
#include "torch/nn/modules/batchnorm.h"
#include "torch/nn/modules/container/any.h"
#include "torch/nn/modules/container/sequential.h"
#include "torch/nn/modules/conv.h"
#include "torch/nn/modules/linear.h"
#include "torch/nn/modules/normalization.h"
#include "torch/utils.h"

namespace millrace::tools::training {
namespace {

namespace nn = torch::nn;

// How each network normalises: batch or group, and how many groups.
struct Normaliser {
  Norm norm;
  int64_t groups;

  nn::AnyModule Make(int64_t channels) const {
    if (norm == Norm::kBatch) return nn::AnyModule(nn::BatchNorm2d(channels));
    return nn::AnyModule(nn::GroupNorm(nn::GroupNormOptions(groups, channels)));
  }
};

nn::Conv2d Conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                        .stride(stride)
                        .padding(kernel / 2)
                        .bias(false));
}

// Mean over the pixels: [N, C, H, W] to [N, C].
torch::Tensor GlobalAverage(const torch::Tensor& features) {
  return features.mean({2, 3});
}

// Six convolutions, each followed by its norm and ReLU:
//
//   3 -> 24 /2 -> 48 /2 -> 48 -> 96 /2 -> 96 -> 192 /2 -> mean -> classes
//
// Half of the work lies in the two layers of stride 1, which see 16 x 16 and
// 8 x 8 pixels of an image of 64 x 64. Stride 2 from the start costs no
// accuracy on small images, and makes an epoch of them take seconds.
class SmallCnn : public Model {
 public:
  SmallCnn(const Normaliser& normaliser, int64_t classes) {
    constexpr struct {
      int64_t channels;
      int64_t stride;
    } kLayers[] = {{24, 2}, {48, 2}, {48, 1}, {96, 2}, {96, 1}, {192, 2}};
    int64_t in = 3;
    int number = 0;
    for (const auto& layer : kLayers) {
      ++number;
      layers_.emplace_back(
          register_module(absl::StrCat("conv", number),
                          Conv(in, layer.channels, 3, layer.stride)),
          normaliser.Make(layer.channels));
      register_module(absl::StrCat("bn", number), layers_.back().second.ptr());
      in = layer.channels;
    }
    fc_ = register_module("fc", nn::Linear(in, classes));
  }

  torch::Tensor forward(const torch::Tensor& images) override {
    torch::Tensor features = images;
    for (auto& [conv, norm] : layers_) {
      features = norm.forward(conv(features)).relu_();
    }
    return fc_(GlobalAverage(features));
  }

 private:
  std::vector<std::pair<nn::Conv2d, nn::AnyModule>> layers_;
  nn::Linear fc_ = nullptr;
};

// One residual block of a ResNet, basic (two 3x3) or bottleneck (1x1, 3x3 with
// the stride, 1x1 to four times the channels).
class Block : public nn::Module {
 public:
  Block(const Normaliser& normaliser, int64_t in, int64_t channels,
        int64_t stride, bool bottleneck) {
    if (bottleneck) {
      Add(normaliser, in, channels, 1, 1);
      Add(normaliser, channels, channels, 3, stride);
      Add(normaliser, channels, 4 * channels, 1, 1);
    } else {
      Add(normaliser, in, channels, 3, stride);
      Add(normaliser, channels, channels, 3, 1);
    }
    const int64_t out = bottleneck ? 4 * channels : channels;
    if (stride != 1 || in != out) {
      shortcut_ = register_module(
          "downsample",
          nn::Sequential(Conv(in, out, 1, stride), normaliser.Make(out)));
    }
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor features = input;
    for (size_t i = 0; i < layers_.size(); ++i) {
      auto& [conv, norm] = layers_[i];
      features = norm.forward(conv(features));
      if (i + 1 < layers_.size()) features = features.relu_();
    }
    features += shortcut_.is_empty() ? input : shortcut_->forward(input);
    return features.relu_();
  }

 private:
  void Add(const Normaliser& normaliser, int64_t in, int64_t out,
           int64_t kernel, int64_t stride) {
    const size_t number = layers_.size() + 1;
    layers_.emplace_back(register_module(absl::StrCat("conv", number),
                                         Conv(in, out, kernel, stride)),
                         normaliser.Make(out));
    register_module(absl::StrCat("bn", number), layers_.back().second.ptr());
  }

  std::vector<std::pair<nn::Conv2d, nn::AnyModule>> layers_;
  nn::Sequential shortcut_ = nullptr;
};

class ResNet : public Model {
 public:
  // `blocks` of each of the four stages.
  ResNet(const Normaliser& normaliser, const std::array<int, 4>& blocks,
         bool bottleneck, int64_t classes)
      : norm_(normaliser.Make(64)) {
    conv_ = register_module("conv1", Conv(3, 64, 7, 2));
    register_module("bn1", norm_.ptr());
    int64_t in = 64;
    for (int stage = 0; stage < 4; ++stage) {
      const int64_t channels = int64_t{64} << stage;
      nn::Sequential layer;
      for (int block = 0; block < blocks[stage]; ++block) {
        const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        layer->push_back(std::make_shared<Block>(normaliser, in, channels,
                                                 stride, bottleneck));
        in = bottleneck ? 4 * channels : channels;
      }
      stages_.push_back(
          register_module(absl::StrCat("layer", stage + 1), layer));
    }
    fc_ = register_module("fc", nn::Linear(in, classes));
  }

  torch::Tensor forward(const torch::Tensor& images) override {
    torch::Tensor features = norm_.forward(conv_(images)).relu_();
    features = torch::max_pool2d(features, /*kernel_size=*/3, /*stride=*/2,
                                 /*padding=*/1);
    for (nn::Sequential& stage : stages_) features = stage->forward(features);
    return fc_(GlobalAverage(features));
  }

 private:
  nn::Conv2d conv_ = nullptr;
  nn::AnyModule norm_;
  std::vector<nn::Sequential> stages_;
  nn::Linear fc_ = nullptr;
};

std::shared_ptr<Model> Build(const ModelOptions& options) {
  const Normaliser small{options.norm, 8};
  const Normaliser large{options.norm, 32};
  switch (options.kind) {
    case ModelKind::kResNet18:
      return std::make_shared<ResNet>(large, std::array{2, 2, 2, 2}, false,
                                      options.classes);
    case ModelKind::kResNet50:
      return std::make_shared<ResNet>(large, std::array{3, 4, 6, 3}, true,
                                      options.classes);
    case ModelKind::kSmallCnn:
      break;
  }
  return std::make_shared<SmallCnn>(small, options.classes);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Model>> MakeModel(const ModelOptions& options) {
  if (options.classes <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a model needs classes, got ", options.classes));
  }
  // Ranks that are threads of one process share torch's generator.
  static Mutex* generator_mutex = new Mutex;
  MutexLock lock(generator_mutex);
  std::shared_ptr<Model> model;
  MILLRACE_RETURN_IF_ERROR(CatchTorch("building the model", [&] {
    torch::manual_seed(options.seed);
    model = Build(options);
    for (const auto& module : model->modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2d>()) {
        nn::init::kaiming_normal_(conv->weight, /*a=*/0, torch::kFanOut,
                                  torch::kReLU);
      }
    }
    model->to(TorchType(options.precision));
    model->train();
    return absl::OkStatus();
  }));
  return model;
}

torch::Dtype TorchType(Precision precision) {
  return precision == Precision::kFloat64 ? torch::kFloat64 : torch::kFloat32;
}

}  // namespace millrace::tools::training
