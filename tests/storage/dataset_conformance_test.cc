#include "tests/storage/dataset_conformance.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"
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

absl::Status WriteFolder(const DatasetContents& contents,
                         const std::string& folder) {
  for (const auto& item : contents.items) {
    const std::filesystem::path path = absl::StrCat(folder, "/", item.key);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file << item.bytes;
    if (!file.flush()) return absl::InternalError("can't write");
  }
  return absl::OkStatus();
}

DatasetCase ImageFolderCase() {
  DatasetCase result;
  result.name = "ImageFolder";
  result.write = WriteFolder;
  result.open = [](const DatasetContents&, const std::string& folder) {
    return ImageFolder::Open(folder);
  };
  result.keys_follow_classes = true;
  return result;
}

// As ranks do that were given the index by another.
DatasetCase ImageFolderFromIndexCase() {
  DatasetCase result = ImageFolderCase();
  result.name = "ImageFolderFromIndex";
  result.open = [](const DatasetContents&, const std::string& folder)
      -> absl::StatusOr<std::unique_ptr<Dataset>> {
    MILLRACE_ASSIGN_OR_RETURN(const auto listed, ImageFolder::Open(folder));
    return ImageFolder::FromIndex(folder, listed->SerializeIndex());
  };
  return result;
}

INSTANTIATE_TEST_SUITE_P(Folder, DatasetConformanceTest,
                         testing::Values(ImageFolderCase(),
                                         ImageFolderFromIndexCase()),
                         DatasetCaseName);

INSTANTIATE_TEST_SUITE_P(Memory, DatasetConformanceTest,
                         testing::Values(MemoryEncodedCase(), MemoryRawCase()),
                         DatasetCaseName);

}  // namespace
}  // namespace millrace::storage
