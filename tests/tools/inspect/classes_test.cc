#include "tools/inspect/classes.h"

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/memory_dataset.h"
#include "tests/support/faulty_dataset.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::HasSubstr;

std::shared_ptr<FaultyDataset> Labelled(std::vector<int64_t> labels,
                                        std::vector<std::string> names) {
  storage::MemoryDatasetOptions options;
  options.size = static_cast<int64_t>(labels.size());
  options.encoded.resize(labels.size(), "x");
  options.labels = std::move(labels);
  options.class_names = std::move(names);
  absl::StatusOr<std::unique_ptr<storage::MemoryDataset>> dataset =
      storage::MemoryDataset::Create(std::move(options));
  EXPECT_OK(dataset);
  return std::make_shared<FaultyDataset>(
      std::shared_ptr<const storage::Dataset>(*std::move(dataset)));
}

TEST(ClassesTest, PrintsLabelNameAndCount) {
  std::ostringstream out;
  ASSERT_OK(
      PrintClasses(*Labelled({2, 0, 2, 2}, {"cat", "dog", "a\tb\n"}), out));
  EXPECT_EQ(out.str(), "0\tcat\t1\n1\tdog\t0\n2\ta\\x09b\\x0A\t3\n");
}

TEST(ClassesTest, RefusesSetsWithoutClasses) {
  std::ostringstream out;
  EXPECT_THAT(PrintClasses(*Labelled({2, 0}, {}), out),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("labels are not class numbers")));
  EXPECT_EQ(out.str(), "");
}

TEST(ClassesTest, ErrorsOfTheSetComeThrough) {
  const std::shared_ptr<FaultyDataset> dataset = Labelled({0, 0, 0}, {"cat"});
  dataset->Fail(1, absl::DataLossError("torn"));
  std::ostringstream out;
  EXPECT_THAT(PrintClasses(*dataset, out),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("torn")));
}

// Labels beside its class names.
class Mislabelled : public storage::Dataset {
 public:
  int64_t size() const override { return 1; }
  const std::vector<std::string>& class_names() const override {
    return names_;
  }
  Hash128 fingerprint() const override { return {}; }
  absl::Status Read(int64_t, storage::Sample* sample) const override {
    sample->Clear();
    sample->SetLabel(1);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Key(int64_t) const override { return "only"; }
  std::string Describe() const override { return "mislabelled"; }

 private:
  std::vector<std::string> names_ = {"cat"};
};

TEST(ClassesTest, LabelsOutsideAreDataLoss) {
  std::ostringstream out;
  EXPECT_THAT(PrintClasses(Mislabelled(), out),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("(only)")));
}

}  // namespace
}  // namespace millrace::tools
