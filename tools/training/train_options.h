#ifndef MILLRACE_TOOLS_TRAINING_TRAIN_OPTIONS_H_
#define MILLRACE_TOOLS_TRAINING_TRAIN_OPTIONS_H_

// Everything that a training run can be told, free of libtorch and of flags.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distributed/order.h"

namespace millrace::tools::training {

enum class ModelKind {
  // Six 3x3 convolutions: trains on a laptop's processor.
  kSmallCnn = 0,
  kResNet18 = 1,
  kResNet50 = 2,
};

enum class Norm {
  // Statistics of a rank's share of the batch: results depend on the number of
  // ranks.
  kBatch = 0,
  // Statistics of a sample: results do not.
  kGroup = 1,
};

enum class Precision {
  kFloat32 = 0,
  // For checking one run against another: slow.
  kFloat64 = 1,
};

enum class DeviceChoice {
  // A GPU where libtorch can use one.
  kAuto = 0,
  kCpu = 1,
  kCuda = 2,
};

// "small_cnn", "resnet18", "resnet50"; "batch", "group"; "fp32", "fp64";
// "auto", "cpu", "cuda"; and back. InvalidArgument for another name, listing
// these.
absl::string_view Name(ModelKind kind);
absl::string_view Name(Norm norm);
absl::string_view Name(Precision precision);
absl::string_view Name(DeviceChoice device);
absl::StatusOr<ModelKind> ParseModelKind(absl::string_view name);
absl::StatusOr<Norm> ParseNorm(absl::string_view name);
absl::StatusOr<Precision> ParsePrecision(absl::string_view name);
absl::StatusOr<DeviceChoice> ParseDeviceChoice(absl::string_view name);

// Names and values, in an order of their own.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct TrainOptions {
  // ---- Data ----

  // Whatever storage::OpenDataset() takes. Required; the classes of both must
  // be the same.
  std::string train_data;
  std::string val_data;
  // Preset of augment::Pipeline for training; validation uses "eval".
  std::string augment = "train";
  // Height and width of the images that the model sees, in [16, 4096].
  int image_size = 64;
  // Order of an epoch.
  distributed::Order order = distributed::Order::kFeistel;
  // Decides initial parameters, order and augmentation. None: that of the
  // checkpoint resumed from, or one drawn by rank 0 and logged.
  std::optional<uint64_t> seed;

  // ---- Model ----

  ModelKind model = ModelKind::kSmallCnn;
  Norm norm = Norm::kBatch;
  Precision precision = Precision::kFloat32;
  DeviceChoice device = DeviceChoice::kAuto;

  // ---- Optimisation ----

  // Passes over the training set, in [1, 2^31).
  int epochs = 20;
  // Samples of one update, over all ranks. > 0.
  int64_t global_batch_size = 64;
  // Parts that a rank's share of a batch is computed in, one after another, to
  // save memory. With Norm::kGroup the update is the same. In [1,
  // global_batch_size].
  int64_t accumulate = 1;
  // Peak rate of the schedule (schedule.h), for the mean gradient of a global
  // batch. > 0.
  double learning_rate = 0.1;
  // In [0, 1).
  double momentum = 0.9;
  // Of all parameters, as torch.optim.SGD's. >= 0.
  double weight_decay = 5e-4;
  // Share of the target that is spread over all classes. In [0, 1).
  double label_smoothing = 0.1;
  // Length of the linear warm-up, in epochs; at most half of the run is taken.
  // >= 0.
  double warmup_epochs = 2;
  // Updates in a row that are left out because the loss is not finite, before
  // the run ends. > 0.
  int max_skipped_steps = 10;

  // ---- Checkpoints ----

  // Folder of checkpoints; empty = none are written.
  std::string checkpoint_dir;
  // Updates between checkpoints, besides the one after each epoch and the one
  // when stopped; 0 = only those. >= 0.
  int64_t checkpoint_every_steps = 0;
  // Newest checkpoints kept. > 0.
  int keep_checkpoints = 3;
  // "none"; "auto": the newest complete checkpoint of checkpoint_dir, if there
  // is one; else the path of a checkpoint file.
  std::string resume = "none";

  // ---- Reports ----

  // File of one line a consumed batch; empty = none. Costs a small exchange
  // between ranks each step.
  std::string digest_log;
  // File of JSON lines; empty = none.
  std::string metrics_json;
  // Also a JSON line for each step.
  bool metrics_steps = false;

  // ---- Performance and limits ----

  // Workers of the loader; none = by allowed CPUs. In [0, 1024].
  std::optional<int> workers;
  // Batches made ahead, in [1, 1024].
  int prefetch = 2;
  bool pin_memory = false;
  // Threads of one operation; none = allowed CPUs / ranks on this host, at
  // least 1. In [1, 1024].
  std::optional<int> intra_op_threads;
  // Longest wait for a batch, and of ranks for each other. > 0.
  absl::Duration timeout = absl::Minutes(5);

  // InvalidArgument, naming the flag and its value, if one is outside its
  // range.
  absl::Status Validate() const;

  // What all ranks must have in common, to be compared before the first step.
  Settings Shared() const;

  // What decides the meaning of a checkpoint's tensors: model, norm, precision,
  // image size. A run with others can't go on from it.
  Settings Architecture() const;

  // What decides the course of training besides data and architecture. A
  // resumed run may change them, and then differs from an unbroken one.
  Settings Course() const;
};

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_TRAIN_OPTIONS_H_
