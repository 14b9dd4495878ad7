// Trains an image classifier on one rank or many.
//
//   bazel run -c opt //tools:train -- --data=DIR
//   mpirun -n 4 bazel-bin/tools/train --data=DIR --model=resnet18

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/cpu.h"
#include "base/status_macros.h"
#include "distributed/communicator.h"
#include "distributed/order.h"
#include "distributed/world.h"
#include "tools/command_line.h"
#include "tools/parse_workers.h"
#include "tools/run_in_world.h"
#include "tools/training/device.h"
#include "tools/training/progress.h"
#include "tools/training/stop_signal.h"
#include "tools/training/train_options.h"
#include "tools/training/trainer.h"

ABSL_FLAG(std::string, data, "",
          "Folder with train/ and val/, each with a folder a class.");
ABSL_FLAG(std::string, train_data, "",
          "Training set, where it is not DATA/train.");
ABSL_FLAG(std::string, val_data, "",
          "Validation set, where it is not DATA/val.");
ABSL_FLAG(std::string, augment, "train",
          "Augmentation of training images: train (random crop, flip), "
          "train_full (rotation and colour besides), or eval (none).");
ABSL_FLAG(int, image_size, 64,
          "Height and width of the images that the model sees, in pixels, 16 "
          "to 4096. ResNets are usually given 224.");
ABSL_FLAG(std::string, order, "feistel",
          "Order of an epoch: feistel (shuffled, no memory), torch (shuffled "
          "as PyTorch does), or sequential.");
ABSL_FLAG(std::optional<uint64_t>, seed, std::nullopt,
          "Decides initial parameters, order and augmentation. Drawn, and "
          "printed, if not given.");

ABSL_FLAG(std::string, model, "small_cnn", "small_cnn, resnet18 or resnet50.");
ABSL_FLAG(std::string, norm, "batch",
          "batch: batch normalisation, whose statistics are each rank's own. "
          "group: group normalisation, with which the number of ranks changes "
          "nothing.");
ABSL_FLAG(std::string, precision, "fp32", "fp32, or fp64 for comparing runs.");
ABSL_FLAG(std::string, device, "auto",
          "auto, cpu, or cuda (needs a libtorch with CUDA).");

ABSL_FLAG(int, epochs, 20, "Passes over the training set, > 0.");
ABSL_FLAG(int64_t, global_batch_size, 64,
          "Samples of one update, over all ranks, > 0.");
ABSL_FLAG(int64_t, accumulate, 1,
          "Parts in which a rank computes its share of a batch, to save "
          "memory; 1 to global_batch_size.");
ABSL_FLAG(double, learning_rate, 0.1, "Peak of the learning rate, > 0.");
ABSL_FLAG(double, warmup_epochs, 2,
          "Epochs in which the rate rises to its peak, at most half of all; "
          "then it falls as half a cosine. >= 0.");
ABSL_FLAG(double, momentum, 0.9, "Of SGD, in [0, 1).");
ABSL_FLAG(double, weight_decay, 5e-4, "Of all parameters, >= 0.");
ABSL_FLAG(double, label_smoothing, 0.1,
          "Share of the target spread over all classes, in [0, 1).");
ABSL_FLAG(int, max_skipped_steps, 10,
          "Updates in a row left out because the loss is not finite, before "
          "the run ends with code 3. > 0.");

ABSL_FLAG(std::string, checkpoint_dir, "",
          "Folder of checkpoints, written after each epoch and when stopped. "
          "Empty: none.");
ABSL_FLAG(int64_t, checkpoint_every_steps, 0,
          "Updates between further checkpoints; 0: none.");
ABSL_FLAG(int, keep_checkpoints, 3, "Newest checkpoints kept, > 0.");
ABSL_FLAG(std::string, resume, "none",
          "auto (the newest complete checkpoint of checkpoint_dir, if there is "
          "one), none, or the path of a checkpoint.");

ABSL_FLAG(std::string, digest_log, "",
          "File for a line a batch: hashes of the samples and pixels trained "
          "on, for comparing runs. Empty: none.");
ABSL_FLAG(std::string, metrics_json, "",
          "File for a JSON object an epoch and one with the summary. Empty: "
          "none.");
ABSL_FLAG(bool, metrics_steps, false,
          "Also a JSON object a step in metrics_json.");

ABSL_FLAG(std::string, workers, "auto",
          "Threads of a rank that read and decode images, 0 to 1024, or auto: "
          "the allowed CPUs / ranks on the host, at most 8.");
ABSL_FLAG(int, prefetch, 2, "Batches made ahead, 1 to 1024.");
ABSL_FLAG(bool, pin_memory, false,
          "Put batches into memory pinned for a GPU (needs --config=cuda).");
ABSL_FLAG(int, intra_op_threads, 0,
          "Threads of one operation of the model, 1 to 1024; 0: the allowed "
          "CPUs / ranks on the host.");
ABSL_FLAG(absl::Duration, timeout, absl::Minutes(5),
          "Longest wait for a batch, and of ranks for each other; > 0.");

namespace millrace::tools {
namespace {

constexpr absl::string_view kUsage =
    "Trains an image classifier, on one rank or, under mpirun, on many.\n\n"
    "  train --data=DIR\n"
    "  mpirun -n 4 train --data=DIR --model=resnet18 --image_size=224\n\n"
    "Exit codes: 0 done, 2 wrong arguments, 3 bad data, 4 bad or full disk, 5 "
    "lost rank, 6 out of memory or time, 130 and 143 stopped by a signal.";

// A data set's flag, or the folder `name` of --data.
std::string DataUri(const std::string& given, absl::string_view name) {
  const std::string data = absl::GetFlag(FLAGS_data);
  if (!given.empty() || data.empty()) return ResolveDatasetUri(given);
  return ResolveDatasetUri(absl::StrCat(data, "/", name));
}

absl::StatusOr<training::TrainOptions> OptionsFromFlags() {
  training::TrainOptions options;
  options.train_data = DataUri(absl::GetFlag(FLAGS_train_data), "train");
  options.val_data = DataUri(absl::GetFlag(FLAGS_val_data), "val");
  options.augment = absl::GetFlag(FLAGS_augment);
  options.image_size = absl::GetFlag(FLAGS_image_size);
  MILLRACE_ASSIGN_OR_RETURN(
      options.order, distributed::ParseOrder(absl::GetFlag(FLAGS_order)));
  options.seed = absl::GetFlag(FLAGS_seed);
  MILLRACE_ASSIGN_OR_RETURN(
      options.model, training::ParseModelKind(absl::GetFlag(FLAGS_model)));
  MILLRACE_ASSIGN_OR_RETURN(options.norm,
                            training::ParseNorm(absl::GetFlag(FLAGS_norm)));
  MILLRACE_ASSIGN_OR_RETURN(
      options.precision,
      training::ParsePrecision(absl::GetFlag(FLAGS_precision)));
  MILLRACE_ASSIGN_OR_RETURN(
      options.device, training::ParseDeviceChoice(absl::GetFlag(FLAGS_device)));
  options.epochs = absl::GetFlag(FLAGS_epochs);
  options.global_batch_size = absl::GetFlag(FLAGS_global_batch_size);
  options.accumulate = absl::GetFlag(FLAGS_accumulate);
  options.learning_rate = absl::GetFlag(FLAGS_learning_rate);
  options.warmup_epochs = absl::GetFlag(FLAGS_warmup_epochs);
  options.momentum = absl::GetFlag(FLAGS_momentum);
  options.weight_decay = absl::GetFlag(FLAGS_weight_decay);
  options.label_smoothing = absl::GetFlag(FLAGS_label_smoothing);
  options.max_skipped_steps = absl::GetFlag(FLAGS_max_skipped_steps);
  options.checkpoint_dir = ResolvePath(absl::GetFlag(FLAGS_checkpoint_dir));
  options.checkpoint_every_steps = absl::GetFlag(FLAGS_checkpoint_every_steps);
  options.keep_checkpoints = absl::GetFlag(FLAGS_keep_checkpoints);
  options.resume = absl::GetFlag(FLAGS_resume);
  if (options.resume != "auto" && options.resume != "none") {
    options.resume = ResolvePath(options.resume);
  }
  options.digest_log = ResolvePath(absl::GetFlag(FLAGS_digest_log));
  options.metrics_json = ResolvePath(absl::GetFlag(FLAGS_metrics_json));
  options.metrics_steps = absl::GetFlag(FLAGS_metrics_steps);
  MILLRACE_ASSIGN_OR_RETURN(options.workers,
                            ParseWorkers(absl::GetFlag(FLAGS_workers)));
  options.prefetch = absl::GetFlag(FLAGS_prefetch);
  options.pin_memory = absl::GetFlag(FLAGS_pin_memory);
  if (const int threads = absl::GetFlag(FLAGS_intra_op_threads); threads != 0) {
    options.intra_op_threads = threads;
  }
  options.timeout = absl::GetFlag(FLAGS_timeout);
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  return options;
}

void WriteToStandardOutput(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

absl::Status Run(distributed::Communicator& communicator) {
  // On every rank by itself, but reported once.
  MILLRACE_ASSIGN_OR_RETURN(const training::TrainOptions options,
                            OptionsFromFlags());
  training::SetIntraOpThreads(options.intra_op_threads.value_or(
      std::max(1, AllowedCpus() / communicator.local_size())));
  training::TrainEnvironment environment;
  environment.stop_signal = training::StopSignal;
  environment.write = WriteToStandardOutput;
  environment.progress = training::ProgressOptions::ForStandardOutput();
  environment.world = distributed::WorldDescription();
  return training::Train(options, &communicator, environment).status();
}

}  // namespace
}  // namespace millrace::tools

int main(int argc, char** argv) {
  using millrace::tools::ParseCommandLine;
  ParseCommandLine(
      argc, argv, millrace::tools::kUsage,
      {.groups = {{"Data",
                   {"data", "train_data", "val_data", "augment", "image_size",
                    "order", "seed"}},
                  {"Model", {"model", "norm", "precision", "device"}},
                  {"Optimisation",
                   {"epochs", "global_batch_size", "accumulate",
                    "learning_rate", "warmup_epochs", "momentum",
                    "weight_decay", "label_smoothing", "max_skipped_steps"}},
                  {"Checkpoints",
                   {"checkpoint_dir", "checkpoint_every_steps",
                    "keep_checkpoints", "resume"}},
                  {"Reports", {"digest_log", "metrics_json", "metrics_steps"}},
                  {"Performance and limits",
                   {"workers", "prefetch", "pin_memory", "intra_op_threads",
                    "timeout"}}}});
  millrace::tools::training::CatchStopSignals();
  const absl::Status status = millrace::tools::RunInWorld(millrace::tools::Run);
  millrace::tools::training::IgnoreStopSignals();
  return millrace::tools::ExitWith(status);
}
