#include "tools/training/trainer.h"

#include <signal.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/tensor.h"
#include "loader/batch_digest.h"
#include "loader/data_loader.h"
#include "storage/dataset.h"
#include "tools/training/checkpoint.h"
#include "tools/training/device.h"
#include "tools/training/evaluate.h"
#include "tools/training/model_state.h"
#include "tools/training/resume.h"
#include "tools/training/train_step.h"
#include "tools/training/training_run.h"

namespace millrace::tools::training {
namespace {

// Names of bad samples in one message.
constexpr size_t kMaxNamed = 8;

std::string SignalName(int signal_number) {
  return signal_number == SIGTERM ? "SIGTERM" : "SIGINT";
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

class Trainer {
 public:
  Trainer(const TrainOptions& options, distributed::Communicator* communicator,
          const TrainEnvironment& environment)
      : options_(options),
        communicator_(communicator),
        environment_(environment),
        clock_(environment.clock),
        start_(clock_->Now()),
        progress_(environment.progress, clock_, environment.write) {
    if (!HasBar()) return;
    // Log lines of standard error share the bar's terminal.
    SetLogSink([this](absl::string_view line) {
      progress_.Clear();
      std::fwrite(line.data(), 1, line.size(), stderr);
    });
  }

  ~Trainer() {
    progress_.Clear();
    if (HasBar()) SetLogSink(nullptr);
  }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  absl::StatusOr<TrainSummary> Run();

 private:
  // Time and waiting of the steps since it was begun.
  struct SpeedAccount {
    int64_t images = 0;
    absl::Duration time;
    absl::Duration wait;
  };

  bool IsMain() const { return communicator_->rank() == 0; }

  bool HasBar() const { return IsMain() && environment_.progress.terminal; }

  void LogStart() const;

  // Both return the signal that asks for a stop, or 0.
  absl::StatusOr<int> TrainEpoch();
  absl::StatusOr<int> ValidateAndReport();

  // After a step's update: counts, reports, and a checkpoint if one is due.
  absl::Status Account(const loader::Batch& batch, const StepResult& result,
                       double learning_rate);
  absl::Status CountSkipped(const loader::Batch& batch,
                            const StepResult& result);
  absl::Status LogDigest(const loader::Batch& batch);
  absl::Status SaveCheckpoint();
  absl::Status AverageNorms();
  absl::StatusOr<SpeedReport> SumOverRanks(const SpeedAccount& account);
  absl::StatusOr<EpochReport> MakeEpochReport(const EvaluateResult& validation);
  absl::Status WriteMetrics(const std::string& line);
  absl::StatusOr<TrainSummary> Finish(int stop_signal);

  const TrainOptions options_;
  distributed::Communicator* const communicator_;
  const TrainEnvironment environment_;
  Clock* const clock_;
  const absl::Duration start_;
  Progress progress_;

  TrainingRun run_;
  // Of the epoch under way.
  SpeedAccount epoch_speed_;
  // Of the last step.
  double learning_rate_ = 0;
  // Of the whole run.
  SpeedAccount run_speed_;
  std::optional<ValidationReport> validation_;
  int skipped_in_a_row_ = 0;
  // Samples of this rank since the norms' buffers were averaged.
  int64_t samples_since_average_ = 0;
};

void Trainer::LogStart() const {
  const int allowed = AllowedCpus();
  const int workers = run_.train_loader->num_workers();
  const std::string cpus =
      absl::StrCat("cpus allowed: ", allowed, ", workers: ", workers);
  if (IsMain()) {
    int64_t parameters = 0;
    for (const at::Tensor& gradient : run_.step->gradients()) {
      parameters += gradient.numel();
    }
    MILLRACE_LOG(kInfo) << "ranks: " << communicator_->size()
                        << (environment_.world.empty() ? "" : ", ")
                        << environment_.world << ", " << cpus
                        << ", intra-op threads: " << IntraOpThreads()
                        << ", device: " << run_.device.str()
                        << ", seed: " << run_.seed;
    MILLRACE_LOG(kInfo) << "training data: "
                        << run_.train_loader->dataset().Describe() << "; "
                        << run_.train_loader->steps() << " steps an epoch";
    MILLRACE_LOG(kInfo) << "validation data: "
                        << run_.val_loader->dataset().Describe();
    MILLRACE_LOG(kInfo) << "options: "
                        << absl::StrJoin(options_.Shared(), " ",
                                         absl::PairFormatter("="))
                        << "; parameters: " << parameters;
  }
  if (workers > allowed) {
    MILLRACE_LOG(kWarning) << cpus
                           << ": they share these CPUs; use --workers=auto, or "
                              "let ranks have more (mpirun --bind-to none)";
  }
}

absl::Status Trainer::LogDigest(const loader::Batch& batch) {
  if (options_.digest_log.empty()) return absl::OkStatus();
  MILLRACE_ASSIGN_OR_RETURN(
      const loader::BatchDigest digest,
      loader::SumOverRanks(loader::DigestOf(batch), *communicator_,
                           options_.timeout));
  if (!run_.digest_log.has_value()) return absl::OkStatus();
  return run_.digest_log->Append(batch.epoch(), batch.step(), digest);
}

absl::Status Trainer::WriteMetrics(const std::string& line) {
  if (!run_.metrics.has_value()) return absl::OkStatus();
  return run_.metrics->Append(line);
}

absl::Status Trainer::AverageNorms() {
  return AverageBuffers(run_.model.get(),
                        std::exchange(samples_since_average_, 0), communicator_,
                        options_.timeout);
}

absl::Status Trainer::SaveCheckpoint() {
  if (options_.checkpoint_dir.empty()) return absl::OkStatus();
  MILLRACE_RETURN_IF_ERROR(AverageNorms());
  if (!IsMain()) return absl::OkStatus();
  Checkpoint checkpoint;
  checkpoint.loader = run_.position;
  checkpoint.epochs_done = run_.epochs_done;
  checkpoint.totals = run_.totals;
  checkpoint.architecture = ArchitectureOf(options_, run_.classes);
  checkpoint.course = options_.Course();
  MILLRACE_ASSIGN_OR_RETURN(checkpoint.tensors,
                            SaveTensors(*run_.model, run_.step->sgd()));
  return run_.checkpoints
      ->Save(
          run_.position.epoch * run_.train_loader->steps() + run_.position.step,
          checkpoint)
      .status();
}

absl::Status Trainer::CountSkipped(const loader::Batch& batch,
                                   const StepResult& result) {
  if (!result.skipped) {
    skipped_in_a_row_ = 0;
    return absl::OkStatus();
  }
  ++skipped_in_a_row_;
  const std::string where =
      absl::StrCat("epoch ", batch.epoch(), ", step ", batch.step());
  if (!result.bad_samples.empty()) {
    const storage::Dataset& dataset = run_.train_loader->dataset();
    std::vector<std::string> names;
    for (const int64_t index : result.bad_samples) {
      if (names.size() == kMaxNamed) {
        names.push_back(
            absl::StrCat(result.bad_samples.size() - kMaxNamed, " more"));
        break;
      }
      names.push_back(absl::StrCat(
          index, " (", EscapeForMessage(dataset.Location(index)), ")"));
    }
    MILLRACE_LOG(kWarning) << where
                           << ": left out on all ranks: loss not finite for "
                              "sample "
                           << absl::StrJoin(names, ", ");
  }
  if (result.gradient_not_finite && IsMain()) {
    MILLRACE_LOG(kWarning) << where
                           << ": left out on all ranks: gradient not finite";
  }
  if (skipped_in_a_row_ < options_.max_skipped_steps) return absl::OkStatus();
  return WithExitCode(
      absl::DataLossError(absl::StrCat(
          where, ": loss or gradient not finite in ", skipped_in_a_row_,
          " steps in a row (--max_skipped_steps); a lower --learning_rate may "
          "help")),
      ExitCode::kData);
}

absl::Status Trainer::Account(const loader::Batch& batch,
                              const StepResult& result, double learning_rate) {
  MILLRACE_RETURN_IF_ERROR(CountSkipped(batch, result));
  learning_rate_ = learning_rate;
  samples_since_average_ += batch.size();
  if (result.skipped) {
    ++run_.totals.skipped_steps;
  } else {
    run_.totals.images += result.images;
    run_.totals.correct += result.correct;
    run_.totals.loss_sum += result.loss * static_cast<double>(result.images);
  }
  if (options_.metrics_steps) {
    MILLRACE_RETURN_IF_ERROR(
        WriteMetrics(ToJson(StepReport{.epoch = batch.epoch(),
                                       .step = batch.step(),
                                       .images = result.images,
                                       .loss = result.loss,
                                       .learning_rate = learning_rate,
                                       .skipped = result.skipped})));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Trainer::TrainEpoch() {
  const int64_t steps = run_.train_loader->steps();
  absl::Duration mark = clock_->Now();
  progress_.Restart();
  while (true) {
    const absl::Duration wait_before = run_.train_loader->stats().wait;
    MILLRACE_ASSIGN_OR_RETURN(const std::optional<loader::Batch> batch,
                              run_.train_loader->Next());
    if (!batch.has_value()) return 0;
    const absl::Duration wait = run_.train_loader->stats().wait - wait_before;
    run_.position = run_.train_loader->state();
    MILLRACE_RETURN_IF_ERROR(LogDigest(*batch));
    const double learning_rate =
        run_.schedule->LearningRate(batch->global_step());
    MILLRACE_ASSIGN_OR_RETURN(
        const StepResult result,
        run_.step->Run(*batch, learning_rate, environment_.stop_signal()));
    MILLRACE_RETURN_IF_ERROR(Account(*batch, result, learning_rate));
    const absl::Duration now = clock_->Now();
    for (SpeedAccount* account : {&epoch_speed_, &run_speed_}) {
      account->images += result.images;
      account->time += now - mark;
      account->wait += wait;
    }
    mark = now;
    if (IsMain()) {
      progress_.Step({.epoch = batch->epoch(),
                      .epochs = options_.epochs,
                      .step = batch->step() + 1,
                      .steps = steps,
                      .loss = result.loss,
                      .images = result.images,
                      .wait = wait});
    }
    // A stop saves its own checkpoint.
    if (result.stop_signal != 0) return result.stop_signal;
    if (options_.checkpoint_every_steps > 0 &&
        (batch->global_step() + 1) % options_.checkpoint_every_steps == 0) {
      MILLRACE_RETURN_IF_ERROR(SaveCheckpoint());
      mark = clock_->Now();
      progress_.Restart();
    }
  }
}

absl::StatusOr<SpeedReport> Trainer::SumOverRanks(const SpeedAccount& account) {
  double sums[] = {absl::ToDoubleSeconds(account.wait),
                   absl::ToDoubleSeconds(account.time)};
  MILLRACE_ASSIGN_OR_RETURN(
      const std::unique_ptr<distributed::PendingCollective> reduction,
      communicator_->StartAllReduceSum(TensorView{DType::kFloat64, {2}, sums}));
  MILLRACE_RETURN_IF_ERROR(reduction->Wait(options_.timeout));
  SpeedReport report;
  report.images = account.images;
  report.time = account.time;
  report.wait_share = Share(sums[0], sums[1]);
  return report;
}

absl::StatusOr<EpochReport> Trainer::MakeEpochReport(
    const EvaluateResult& validation) {
  const double val_images = static_cast<double>(validation.images);
  validation_ = ValidationReport{
      .images = validation.images,
      .loss = Share(validation.loss_sum, val_images),
      .accuracy = Share(static_cast<double>(validation.correct), val_images),
      .top5_accuracy =
          Share(static_cast<double>(validation.correct_top5), val_images)};
  const double images = static_cast<double>(run_.totals.images);
  EpochReport report;
  report.epoch = run_.epochs_done;
  report.epochs = options_.epochs;
  report.train_loss = Share(run_.totals.loss_sum, images);
  report.train_accuracy =
      Share(static_cast<double>(run_.totals.correct), images);
  report.skipped_steps = run_.totals.skipped_steps;
  report.learning_rate = learning_rate_;
  MILLRACE_ASSIGN_OR_RETURN(report.speed, SumOverRanks(epoch_speed_));
  const auto overlap = run_.step->last_overlap();
  report.hidden_share = Share(static_cast<double>(overlap.hidden_bytes),
                              static_cast<double>(overlap.total_bytes));
  report.validation = *validation_;
  MILLRACE_ASSIGN_OR_RETURN(const Hash128 parameters,
                            HashParameters(*run_.model));
  report.parameters = parameters.ToHex();
  return report;
}

absl::StatusOr<int> Trainer::ValidateAndReport() {
  MILLRACE_RETURN_IF_ERROR(AverageNorms());
  EvaluateOptions evaluate;
  evaluate.precision = options_.precision;
  evaluate.device = run_.device;
  evaluate.timeout = options_.timeout;
  MILLRACE_ASSIGN_OR_RETURN(
      const EvaluateResult validation,
      Evaluate(run_.model.get(), run_.val_loader.get(), communicator_, evaluate,
               environment_.stop_signal));
  if (validation.stop_signal != 0) return validation.stop_signal;
  MILLRACE_ASSIGN_OR_RETURN(const EpochReport report,
                            MakeEpochReport(validation));
  // A resumed run may have nothing left to train.
  if (run_.epochs_done < options_.epochs) {
    if (IsMain()) progress_.Line(ToText(report));
    MILLRACE_RETURN_IF_ERROR(WriteMetrics(ToJson(report)));
  }
  return 0;
}

absl::StatusOr<TrainSummary> Trainer::Finish(int stop_signal) {
  TrainSummary summary;
  summary.epochs_done = run_.epochs_done;
  summary.epochs = options_.epochs;
  if (stop_signal != 0) summary.stopped_by = SignalName(stop_signal);
  summary.ranks = communicator_->size();
  summary.seed = run_.seed;
  MILLRACE_ASSIGN_OR_RETURN(summary.speed, SumOverRanks(run_speed_));
  summary.total_time = clock_->Now() - start_;
  summary.validation = validation_;
  MILLRACE_ASSIGN_OR_RETURN(const Hash128 parameters,
                            HashParameters(*run_.model));
  summary.parameters = parameters.ToHex();
  MILLRACE_RETURN_IF_ERROR(WriteMetrics(ToJson(summary)));
  if (IsMain()) progress_.Line(ToText(summary));
  if (stop_signal == 0) return summary;
  return WithExitCode(
      absl::CancelledError(
          absl::StrCat("stopped by ", summary.stopped_by, " after epoch ",
                       run_.position.epoch, ", step ", run_.position.step,
                       " of ", run_.train_loader->steps(),
                       options_.checkpoint_dir.empty()
                           ? "; nothing saved: --checkpoint_dir was not given"
                           : "; --resume=auto goes on from there")),
      stop_signal == SIGTERM ? ExitCode::kTerminated : ExitCode::kInterrupted);
}

absl::StatusOr<TrainSummary> Trainer::Run() {
  MILLRACE_ASSIGN_OR_RETURN(run_, PrepareTraining(options_, communicator_));
  LogStart();
  if (run_.epochs_done >= options_.epochs) {
    MILLRACE_ASSIGN_OR_RETURN(const int stop, ValidateAndReport());
    return Finish(stop);
  }
  while (run_.epochs_done < options_.epochs) {
    MILLRACE_ASSIGN_OR_RETURN(int stop, TrainEpoch());
    if (stop == 0) {
      MILLRACE_ASSIGN_OR_RETURN(stop, ValidateAndReport());
    }
    if (stop == 0) {
      ++run_.epochs_done;
      run_.totals = EpochTotals();
      epoch_speed_ = SpeedAccount();
    }
    MILLRACE_RETURN_IF_ERROR(SaveCheckpoint());
    if (stop != 0) return Finish(stop);
  }
  return Finish(0);
}

}  // namespace

absl::StatusOr<TrainSummary> Train(const TrainOptions& options,
                                   distributed::Communicator* communicator,
                                   const TrainEnvironment& environment) {
  return Trainer(options, communicator, environment).Run();
}

}  // namespace millrace::tools::training
