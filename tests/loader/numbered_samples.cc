#include "tests/loader/numbered_samples.h"

#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/memory_dataset.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

class DrawTransform : public SampleTransform {
 public:
  absl::Span<const OutputField> outputs() const override { return outputs_; }
  std::unique_ptr<Context> MakeContext() const override {
    return std::make_unique<Context>();
  }
  absl::Status Run(const storage::Sample& sample, Generator* generator,
                   Context* /*context*/,
                   absl::Span<void* const> outputs) const override {
    int64_t values[3];
    std::memcpy(values, sample.fields()[0].bytes.data(), sizeof(int64_t));
    values[1] = generator->NextU32();
    values[2] = generator->NextU32();
    std::memcpy(outputs[0], values, sizeof(values));
    return absl::OkStatus();
  }
  int64_t ScratchBytes(const storage::Sample& /*sample*/) const override {
    return 0;
  }
  std::string Describe() const override { return "draw"; }

 private:
  const std::vector<OutputField> outputs_ = {
      {.name = "draw", .dtype = DType::kInt64, .shape = {3}}};
};

}  // namespace

std::shared_ptr<FaultyDataset> NumberedSamples(int64_t size, int64_t classes) {
  const auto values = std::make_shared<std::vector<int64_t>>(size);
  std::iota(values->begin(), values->end(), 1000);
  storage::MemoryDatasetOptions options = {.size = size,
                                           .arrays = {{.name = "value",
                                                       .dtype = DType::kInt64,
                                                       .shape = {1},
                                                       .data = values->data()}},
                                           .owner = values};
  for (int64_t i = 0; i < size; ++i) {
    options.labels.push_back(i * classes / size);
  }
  for (int64_t label = 0; label < classes; ++label) {
    options.class_names.push_back(absl::StrCat("class ", label));
  }
  absl::StatusOr<std::unique_ptr<storage::MemoryDataset>> dataset =
      storage::MemoryDataset::Create(std::move(options));
  EXPECT_OK(dataset);
  return std::make_shared<FaultyDataset>(
      std::shared_ptr<const storage::Dataset>(*std::move(dataset)));
}

std::shared_ptr<const SampleTransform> MakeDrawTransform() {
  return std::make_shared<const DrawTransform>();
}

}  // namespace millrace::loader
