#include "tests/storage/dataset_conformance.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "storage/memory_dataset.h"

namespace millrace::storage {
namespace {

MemoryDatasetOptions NamesOf(const DatasetContents& contents) {
  MemoryDatasetOptions options;
  options.size = static_cast<int64_t>(contents.items.size());
  options.class_names = contents.class_names;
  for (const auto& item : contents.items) {
    options.keys.push_back(item.key);
    options.labels.push_back(item.label);
  }
  return options;
}

DatasetCase MemoryEncodedCase() {
  DatasetCase result;
  result.name = "MemoryEncoded";
  result.open = [](const DatasetContents& contents, const std::string&) {
    MemoryDatasetOptions options = NamesOf(contents);
    for (const auto& item : contents.items) {
      options.encoded.push_back(item.bytes);
    }
    return MemoryDataset::Create(std::move(options));
  };
  return result;
}

DatasetCase MemoryRawCase() {
  DatasetCase result;
  result.name = "MemoryRaw";
  result.raw_shape = {5, 4, 3};
  result.open = [shape = result.raw_shape](const DatasetContents& contents,
                                           const std::string&) {
    auto array = std::make_shared<std::string>();
    for (const auto& item : contents.items) *array += item.bytes;
    MemoryDatasetOptions options = NamesOf(contents);
    options.arrays.push_back(
        {.name = "image", .shape = shape, .data = array->data()});
    options.owner = array;
    return MemoryDataset::Create(std::move(options));
  };
  return result;
}

INSTANTIATE_TEST_SUITE_P(Memory, DatasetConformanceTest,
                         testing::Values(MemoryEncodedCase(), MemoryRawCase()),
                         DatasetCaseName);

}  // namespace
}  // namespace millrace::storage
