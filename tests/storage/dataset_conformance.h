#ifndef MILLRACE_TESTS_STORAGE_DATASET_CONFORMANCE_H_
#define MILLRACE_TESTS_STORAGE_DATASET_CONFORMANCE_H_

// What storage/dataset.h promises, as one suite that every kind of data set is
// run through:
//
//   INSTANTIATE_TEST_SUITE_P(Lmdb, DatasetConformanceTest,
//                            testing::Values(LmdbCase()), DatasetCaseName);

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/tensor.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "tests/support/temp_dir.h"

namespace millrace::storage {

// The suite's data, independent of any store.
struct DatasetContents {
  struct Item {
    // "CLASS/FILE" with an image's suffix; items are in a folder's order.
    std::string key;
    int64_t label = 0;
    std::string bytes;
  };
  std::vector<std::string> class_names;
  std::vector<Item> items;
};

// A kind of data set, and what it can't do.
struct DatasetCase {
  // Letters and digits.
  std::string name;

  // Writes `contents` below the empty folder `folder`. May be null, for data
  // sets that keep nothing there.
  std::function<absl::Status(const DatasetContents& contents,
                             const std::string& folder)>
      write;
  // Opens what was written there; called several times.
  std::function<absl::StatusOr<std::unique_ptr<Dataset>>(
      const DatasetContents& contents, const std::string& folder)>
      open;

  // Not empty: samples are uint8 arrays of this shape, one a sample, instead of
  // encoded bytes of any length.
  Shape raw_shape;
  // True: a key begins with its class's name, as in a folder, so neither labels
  // nor class names change alone.
  bool keys_follow_classes = false;
};

class DatasetConformanceTest : public testing::TestWithParam<DatasetCase> {
 protected:
  // Contents that the case can hold: odd names and, unless raw, odd sizes.
  DatasetContents Contents() const;

  // A data set of `contents` in a folder of its own.
  absl::StatusOr<std::unique_ptr<Dataset>> Make(
      const DatasetContents& contents);

 private:
  std::vector<std::unique_ptr<TempDir>> folders_;
};

std::string DatasetCaseName(const testing::TestParamInfo<DatasetCase>& info);

}  // namespace millrace::storage

#endif  // MILLRACE_TESTS_STORAGE_DATASET_CONFORMANCE_H_
