#include "tools/bench/read_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/sampler.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "loader/data_loader.h"
#include "storage/dataset.h"
#include "storage/open_dataset.h"
#include "tools/bench/epoch_check.h"

namespace millrace::tools {
namespace {

class ReadSource : public SampleSource {
 public:
  ReadSource(std::unique_ptr<storage::Dataset> dataset,
             std::unique_ptr<Sampler> sampler, const ReadSourceOptions& options,
             int workers)
      : dataset_(std::move(dataset)),
        sampler_(std::move(sampler)),
        options_(options),
        workers_(workers),
        // ParallelFor() works on the calling thread, too.
        readers_(std::max(workers, 1)),
        check_(dataset_->size()) {
    if (workers > 1) {
      pool_ = std::make_unique<ThreadPool>(workers - 1, "read");
    }
  }

  absl::StatusOr<Step> Advance() override {
    const int64_t begin = position_;
    const int64_t end = std::min(begin + options_.batch_size, dataset_->size());
    indices_.clear();
    for (int64_t position = begin; position < end; ++position) {
      indices_.push_back(sampler_->IndexAt(epoch_, position));
    }
    if (pool_ == nullptr) {
      ReadShare(0);
    } else {
      pool_->ParallelFor(static_cast<int64_t>(readers_.size()),
                         [this](int64_t reader) { ReadShare(reader); });
    }
    for (const Reader& reader : readers_) {
      MILLRACE_RETURN_IF_ERROR(reader.status);
    }
    MILLRACE_RETURN_IF_ERROR(check_.Add(indices_));
    position_ = end;
    const bool epoch_end = end == dataset_->size();
    if (epoch_end) {
      MILLRACE_RETURN_IF_ERROR(check_.Finish());
      position_ = 0;
      ++epoch_;
    }
    return Step{.images = end - begin, .epoch_end = epoch_end};
  }

  Counters counters() const override {
    Counters counters;
    for (const Reader& reader : readers_) counters.bytes_read += reader.bytes;
    return counters;
  }

  std::string Describe() const override {
    return absl::StrCat("encoded reads\ndata: ", dataset_->Describe(),
                        "\nbatch size ", options_.batch_size, ", workers ",
                        workers_, ", order ", distributed::Name(options_.order),
                        ", seed ", options_.seed);
  }

 private:
  // Used by one thread at a time; apart, so that threads don't share a cache
  // line.
  struct alignas(64) Reader {
    storage::Sample sample;
    int64_t bytes = 0;
    absl::Status status;
  };

  void ReadShare(int64_t share) {
    Reader& reader = readers_[share];
    for (size_t i = share; i < indices_.size(); i += readers_.size()) {
      reader.status = dataset_->Read(indices_[i], &reader.sample);
      if (!reader.status.ok()) return;
      int64_t bytes = 0;
      for (const storage::FieldView& field : reader.sample.fields()) {
        bytes += static_cast<int64_t>(field.bytes.size());
      }
      if (bytes == 0) {
        reader.status = absl::DataLossError(
            absl::StrCat("sample ", indices_[i], " (",
                         dataset_->Location(indices_[i]), ") is empty"));
        return;
      }
      reader.bytes += bytes;
    }
  }

  const std::unique_ptr<storage::Dataset> dataset_;
  const std::unique_ptr<Sampler> sampler_;
  const ReadSourceOptions options_;
  const int workers_;
  std::vector<Reader> readers_;
  std::vector<int64_t> indices_;
  int64_t epoch_ = 0;
  int64_t position_ = 0;
  EpochCheck check_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SampleSource>> OpenReadSource(
    const ReadSourceOptions& options) {
  if (options.batch_size <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batch_size = ", options.batch_size, ": want more than 0"));
  }
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<storage::Dataset> dataset,
                            storage::OpenDataset(options.data));
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<Sampler> sampler,
      distributed::MakeSampler(options.order, dataset->size(), options.seed));
  const int workers = options.workers.value_or(loader::AutoWorkers(1));
  return std::make_unique<ReadSource>(std::move(dataset), std::move(sampler),
                                      options, workers);
}

}  // namespace millrace::tools
