#include "tools/training/training_run.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "distributed/coordinator.h"
#include "distributed/order.h"
#include "loader/make_loader.h"
#include "storage/dataset.h"
#include "tools/training/device.h"
#include "tools/training/model_state.h"
#include "tools/training/report.h"
#include "tools/training/resume.h"
#include "tools/training/torch_status.h"

namespace millrace::tools::training {
namespace {

// Raise it when a run of the same options takes another course.
constexpr char kVersion[] = "1";

absl::Status AgreeOnOptions(const TrainOptions& options,
                            distributed::Communicator* communicator) {
  distributed::Terms terms = options.Shared();
  terms.emplace_back("version", kVersion);
  return distributed::Coordinator(communicator, options.timeout)
      .Agree("the options of training", terms);
}

absl::StatusOr<uint64_t> AgreeOnSeed(
    const TrainOptions& options, const std::optional<Checkpoint>& checkpoint,
    distributed::Communicator* communicator) {
  std::optional<uint64_t> seed = options.seed;
  if (!seed.has_value() && checkpoint.has_value()) {
    seed = checkpoint->loader.seed;
  }
  return distributed::Coordinator(communicator, options.timeout)
      .AgreeOnSeed(seed);
}

// The number of classes, which both sets must have by the same names.
absl::StatusOr<int64_t> CountClasses(const storage::Dataset& train_data,
                                     const storage::Dataset& val_data) {
  const std::vector<std::string>& train = train_data.class_names();
  const std::vector<std::string>& val = val_data.class_names();
  if (train.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no classes to learn in ", train_data.Describe()));
  }
  if (train == val) return static_cast<int64_t>(train.size());
  const auto [a, b] =
      std::mismatch(train.begin(), train.end(), val.begin(), val.end());
  const auto name = [](const auto& at, const auto& list) {
    return at == list.end() ? "nothing" : EscapeForMessage(*at);
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "training and validation data have different classes: class ",
      a - train.begin(), " is ", name(a, train), " in one and ", name(b, val),
      " in the other"));
}

// Before anything is built for the data: a model for other classes would
// otherwise be the first to differ.
absl::Status AgreeOnData(const TrainingRun& run, const TrainOptions& options,
                         distributed::Communicator* communicator) {
  const storage::Dataset& train = run.train_loader->dataset();
  const storage::Dataset& val = run.val_loader->dataset();
  return distributed::Coordinator(communicator, options.timeout)
      .Agree("the data sets",
             {{"training data size", absl::StrCat(train.size())},
              {"training data fingerprint", train.fingerprint().ToHex()},
              {"validation data size", absl::StrCat(val.size())},
              {"validation data fingerprint", val.fingerprint().ToHex()}});
}

absl::Status OpenData(const TrainOptions& options,
                      distributed::Communicator* communicator,
                      TrainingRun* run) {
  loader::MakeLoaderOptions make;
  make.image_size = options.image_size;
  make.augment = options.augment;
  make.loader.order = options.order;
  make.loader.seed = run->seed;
  make.loader.communicator = communicator;
  make.loader.timeout = options.timeout;
  make.loader.num_workers = options.workers;
  make.loader.prefetch_factor = options.prefetch;
  make.loader.pin_memory = options.pin_memory;
  MILLRACE_ASSIGN_OR_RETURN(
      run->train_loader,
      loader::MakeTrainLoader(options.train_data, options.global_batch_size,
                              make));
  make.augment = "eval";
  make.loader.order = distributed::Order::kSequential;
  // Its workers and batches would lie idle through every epoch of training.
  make.loader.persistent_workers = false;
  MILLRACE_ASSIGN_OR_RETURN(
      run->val_loader, loader::MakeEvalLoader(options.val_data,
                                              options.global_batch_size, make));
  MILLRACE_RETURN_IF_ERROR(AgreeOnData(*run, options, communicator));
  MILLRACE_ASSIGN_OR_RETURN(
      run->classes,
      CountClasses(run->train_loader->dataset(), run->val_loader->dataset()));
  return absl::OkStatus();
}

absl::Status BuildModel(const TrainOptions& options,
                        distributed::Communicator* communicator,
                        TrainingRun* run) {
  MILLRACE_ASSIGN_OR_RETURN(
      run->device, ChooseDevice(options.device, communicator->local_rank(),
                                communicator->local_size()));
  MILLRACE_ASSIGN_OR_RETURN(run->model,
                            MakeModel({.kind = options.model,
                                       .norm = options.norm,
                                       .precision = options.precision,
                                       .classes = run->classes,
                                       .seed = run->seed}));
  MILLRACE_RETURN_IF_ERROR(CatchTorch("moving the model", [run] {
    run->model->to(run->device);
    return absl::OkStatus();
  }));
  // Equal already, unless ranks run on processors that round differently.
  MILLRACE_RETURN_IF_ERROR(
      BroadcastModel(run->model.get(), communicator, options.timeout));
  TrainStepOptions step;
  step.precision = options.precision;
  step.device = run->device;
  step.accumulate = options.accumulate;
  step.label_smoothing = options.label_smoothing;
  step.sgd.momentum = options.momentum;
  step.sgd.weight_decay = options.weight_decay;
  step.timeout = options.timeout;
  MILLRACE_ASSIGN_OR_RETURN(
      run->step, TrainStep::Create(run->model.get(), communicator, step));
  const int64_t steps = run->train_loader->steps();
  run->schedule.emplace(options.learning_rate,
                        options.warmup_epochs * static_cast<double>(steps),
                        options.epochs * steps);
  return absl::OkStatus();
}

absl::Status Restore(const Checkpoint& checkpoint, const TrainOptions& options,
                     bool warn, TrainingRun* run) {
  MILLRACE_RETURN_IF_ERROR(run->train_loader->Restore(checkpoint.loader));
  MILLRACE_RETURN_IF_ERROR(
      CheckResumable(checkpoint, options, run->classes, warn));
  MILLRACE_RETURN_IF_ERROR(
      RestoreTensors(checkpoint.tensors, run->model.get(), &run->step->sgd()));
  run->position = checkpoint.loader;
  run->epochs_done = checkpoint.epochs_done;
  if (run->epochs_done > run->position.epoch) {
    return run->train_loader->StartEpoch(run->epochs_done);
  }
  run->totals = checkpoint.totals;
  return absl::OkStatus();
}

absl::Status OpenReports(const TrainOptions& options, bool resumed,
                         TrainingRun* run) {
  // Of the next batch.
  const int64_t epoch = run->epochs_done;
  const int64_t step = epoch > run->position.epoch ? 0 : run->position.step;
  if (!options.digest_log.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(
        run->digest_log,
        resumed ? DigestLog::Continue(options.digest_log, epoch, step)
                : DigestLog::Create(options.digest_log));
  }
  if (!options.metrics_json.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(
        run->metrics, resumed
                          ? ContinueMetrics(options.metrics_json, epoch, step)
                          : LineFile::Create(options.metrics_json));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingRun> PrepareTraining(
    const TrainOptions& options, distributed::Communicator* communicator) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_RETURN_IF_ERROR(AgreeOnOptions(options, communicator));
  const bool is_main = communicator->rank() == 0;
  TrainingRun run;
  if (is_main && !options.checkpoint_dir.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(
        run.checkpoints, CheckpointDirectory::Open(options.checkpoint_dir,
                                                   options.keep_checkpoints));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const std::optional<Checkpoint> checkpoint,
      FindCheckpoint(options, run.checkpoints ? &*run.checkpoints : nullptr,
                     communicator));
  MILLRACE_ASSIGN_OR_RETURN(run.seed,
                            AgreeOnSeed(options, checkpoint, communicator));
  MILLRACE_RETURN_IF_ERROR(OpenData(options, communicator, &run));
  MILLRACE_RETURN_IF_ERROR(BuildModel(options, communicator, &run));
  run.position = run.train_loader->state();
  if (checkpoint.has_value()) {
    MILLRACE_RETURN_IF_ERROR(Restore(*checkpoint, options, is_main, &run));
  }
  if (is_main) {
    MILLRACE_RETURN_IF_ERROR(
        OpenReports(options, checkpoint.has_value(), &run));
  }
  return run;
}

}  // namespace millrace::tools::training
