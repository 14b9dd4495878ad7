// Looks into data sets and into what a loader makes of them.
//
//   bazel run //tools:inspect -- classes --data=DIR
//   mpirun -n 4 bazel-bin/tools/inspect digest --data=DIR --seed=1 --epoch=0

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "distributed/communicator.h"
#include "distributed/distributed_sampler.h"
#include "distributed/order.h"
#include "storage/dataset.h"
#include "storage/open_dataset.h"
#include "tools/command_line.h"
#include "tools/inspect/classes.h"
#include "tools/inspect/digest.h"
#include "tools/parse_workers.h"
#include "tools/run_in_world.h"

ABSL_FLAG(std::string, data, "", "The data set: a folder, or SCHEME:PATH.");
ABSL_FLAG(std::string, augment, "train",
          "Preset of the pipeline: train, train_full or eval.");
ABSL_FLAG(int, image_size, 224, "Side of the square output, in pixels.");
ABSL_FLAG(int64_t, global_batch_size, 64,
          "Samples of a batch over all ranks, more than 0.");
ABSL_FLAG(std::string, order, "feistel",
          "Order of the samples: feistel, torch or sequential.");
ABSL_FLAG(std::string, tail, "drop",
          "What becomes of the samples that don't fill a batch: drop, short or "
          "pad.");
ABSL_FLAG(uint64_t, seed, 0, "Decides order and augmentation.");
ABSL_FLAG(int64_t, epoch, 0, "The epoch whose batches are shown.");
ABSL_FLAG(int64_t, steps, 0,
          "Batches from the beginning of the epoch; 0 = all.");
ABSL_FLAG(std::string, workers, "auto",
          "Worker threads of each rank: auto, or a number. No influence on the "
          "digests.");
ABSL_FLAG(int, prefetch, 2,
          "Batches made ahead of the consumer. No influence on the digests.");

namespace millrace::tools {
namespace {

constexpr char kUsage[] =
    R"(Looks into data sets and into what a loader makes of them.

  inspect digest --data=DIR    a hash of each global batch; the same text for
                               any number of ranks (mpirun -n W) and workers
  inspect classes --data=DIR   label, name and number of samples of each class)";

absl::StatusOr<std::string> DataFlag() {
  const std::string data = absl::GetFlag(FLAGS_data);
  if (data.empty()) return absl::InvalidArgumentError("--data is needed");
  return ResolveDatasetUri(data);
}

absl::StatusOr<DigestOptions> DigestFlags() {
  DigestOptions options;
  MILLRACE_ASSIGN_OR_RETURN(options.data, DataFlag());
  options.augment = absl::GetFlag(FLAGS_augment);
  options.image_size = absl::GetFlag(FLAGS_image_size);
  options.batch_size = absl::GetFlag(FLAGS_global_batch_size);
  MILLRACE_ASSIGN_OR_RETURN(
      options.order, distributed::ParseOrder(absl::GetFlag(FLAGS_order)));
  MILLRACE_ASSIGN_OR_RETURN(options.tail,
                            distributed::ParseTail(absl::GetFlag(FLAGS_tail)));
  options.seed = absl::GetFlag(FLAGS_seed);
  options.epoch = absl::GetFlag(FLAGS_epoch);
  if (absl::GetFlag(FLAGS_steps) != 0) {
    options.steps = absl::GetFlag(FLAGS_steps);
  }
  MILLRACE_ASSIGN_OR_RETURN(options.workers,
                            ParseWorkers(absl::GetFlag(FLAGS_workers)));
  options.prefetch = absl::GetFlag(FLAGS_prefetch);
  return options;
}

absl::Status Digest() {
  MILLRACE_ASSIGN_OR_RETURN(const DigestOptions options, DigestFlags());
  return RunInWorld([&options](distributed::Communicator& communicator) {
    return RunDigest(options, communicator, std::cout);
  });
}

absl::Status Classes() {
  MILLRACE_ASSIGN_OR_RETURN(const std::string data, DataFlag());
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Dataset> dataset,
                            storage::OpenDataset(data));
  return PrintClasses(*dataset, std::cout);
}

absl::Status Run(const std::string& subcommand) {
  if (subcommand == "digest") return Digest();
  if (subcommand == "classes") return Classes();
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown subcommand ", subcommand, ": want digest or classes"));
}

}  // namespace
}  // namespace millrace::tools

int main(int argc, char** argv) {
  using millrace::tools::ParseCommandLine;
  const std::vector<std::string> arguments = ParseCommandLine(
      argc, argv, millrace::tools::kUsage,
      {.groups = {{"All subcommands", {"data"}},
                  {"digest",
                   {"augment", "image_size", "global_batch_size", "order",
                    "tail", "seed", "epoch", "steps", "workers", "prefetch"}}},
       .min_positional = 1,
       .max_positional = 1});
  return millrace::tools::ExitWith(millrace::tools::Run(arguments.front()));
}
