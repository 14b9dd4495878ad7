#ifndef MILLRACE_TESTS_LOADER_RUN_LOADERS_H_
#define MILLRACE_TESTS_LOADER_RUN_LOADERS_H_

// Loaders on several ranks of one process, and what they deliver together.

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "distributed/communicator.h"
#include "loader/data_loader.h"
#include "loader/loader_state.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

// One sample that a loader with MakeDrawTransform() delivered.
struct Delivered {
  int64_t epoch = 0;
  int64_t step = 0;
  int64_t position = 0;
  int64_t index = 0;
  int64_t label = 0;
  // The sample's number, and the words drawn for it.
  int64_t number = 0;
  int64_t first_draw = 0;
  int64_t second_draw = 0;

  friend auto operator<=>(const Delivered&, const Delivered&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Delivered& d);
};

struct RunPlan {
  // Batches to take, over the ends of epochs; -1: as many whole epochs as
  // `epochs` says, from where the loader stands.
  int64_t batches = -1;
  int64_t epochs = 1;
  // Where to begin: at a saved state, or at an epoch.
  std::optional<LoaderState> from;
  int64_t start_epoch = 0;
};

struct RunResult {
  // All ranks' samples, sorted by (epoch, step, position).
  std::vector<Delivered> samples;
  // By rank.
  std::vector<int64_t> samples_of_rank;
  std::vector<int64_t> batches_of_rank;
  std::vector<LoaderState> states;

  // The dataset indices of `samples`, in their order.
  std::vector<int64_t> Indices() const;
};

// Runs `world_size` ranks with a loader each. The options' communicator is
// replaced. Any error fails the test.
RunResult RunLoaders(int world_size,
                     std::shared_ptr<const storage::Dataset> dataset,
                     const DataLoaderOptions& options,
                     const RunPlan& plan = {});

// Adds what `batch` holds, one a sample, in the batch's order.
void AppendDelivered(const Batch& batch, std::vector<Delivered>* samples);

}  // namespace millrace::loader

#endif  // MILLRACE_TESTS_LOADER_RUN_LOADERS_H_
