// Failures that users of other loaders have reported, on folders of images. The
// numbers in the tests' names are those of the list of cases.

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loader/batch_digest.h"
#include "loader/data_loader.h"
#include "loader/make_loader.h"
#include "storage/dataset.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::loader {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

MakeLoaderOptions Options(int image_size, int workers) {
  MakeLoaderOptions options;
  options.image_size = image_size;
  options.loader.seed = 7;
  options.loader.num_workers = workers;
  return options;
}

// `count` pictures of different sizes in classes "a" and "b".
void WriteImages(const TempDir& dir, int count) {
  for (int i = 0; i < count; ++i) {
    dir.Write(absl::StrCat(i % 2 == 0 ? "a/" : "b/", i, ".jpg"),
              TestJpeg(20 + i % 7, 30 + i % 5, i));
  }
}

TEST(Case56Test, FullAugmentationIsTheSameForAnyNumberOfWorkers) {
  const TempDir dir;
  WriteImages(dir, 64);
  std::vector<std::string> expected;
  for (const int workers : {0, 1, 2, 7}) {
    MakeLoaderOptions options = Options(16, workers);
    options.augment = "train_full";
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                         MakeTrainLoader(dir.path(), 16, options));
    std::vector<std::string> digests;
    while (digests.size() < 8) {
      ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
      if (batch.has_value()) digests.push_back(DigestOf(*batch).ToString());
    }
    if (workers == 0) expected = digests;
    EXPECT_EQ(digests, expected) << workers << " workers";
  }
}

TEST(Case69Test, ABadFileIsNamedWithItsPath) {
  const TempDir dir;
  WriteImages(dir, 40);
  const std::string jpeg = TestJpeg(20, 30);
  const std::string bad =
      dir.Write("b/broken.jpg", jpeg.substr(0, jpeg.size() / 2));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                       MakeEvalLoader(dir.path(), 41, Options(16, 8)));
  const absl::Status status = loader->Next().status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(bad), HasSubstr("sample 40"),
                             HasSubstr("epoch 0"), HasSubstr("rank 0"),
                             HasSubstr("worker "), HasSubstr("truncated"))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
}

TEST(Case69Test, AFileThatVanishedIsNamedWithItsPath) {
  const TempDir dir;
  WriteImages(dir, 4);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                       MakeEvalLoader(dir.path(), 4, Options(16, 2)));
  std::filesystem::remove(dir.Join("a/2.jpg"));
  const absl::Status status = loader->Next().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               AllOf(HasSubstr(dir.Join("a/2.jpg")),
                                     HasSubstr("sample 1"))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
}

// Limits the file descriptors of this process while it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t limit) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit lower = {.rlim_cur = limit, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

int64_t OpenFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

TEST(Case77Test, HeldBatchesAndManyWorkersNeedFewOpenFiles) {
  const TempDir dir;
  WriteImages(dir, 100);
  const int64_t before = OpenFiles();
  const DescriptorLimit limit(64);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                       MakeTrainLoader(dir.path(), 2, Options(8, 16)));
  std::vector<Batch> held;
  while (held.size() < 1000) {
    ASSERT_OK_AND_ASSIGN(std::optional<Batch> batch, loader->Next());
    if (batch.has_value()) held.push_back(*std::move(batch));
  }
  EXPECT_LE(OpenFiles() - before, 16 + 32);
}

TEST(Case126Test, AnEmptyFolderIsADataErrorThatNamesIt) {
  const TempDir dir;
  const absl::Status status =
      MakeTrainLoader(dir.path(), 4, Options(16, 1)).status();
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir.path()));
}

TEST(Case126Test, AFolderOfOtherFilesNamesSuffixesAndExamples) {
  const TempDir dir;
  for (int i = 0; i < 5; ++i) dir.Write(absl::StrCat("a/", i, ".rec"), "x");
  const absl::Status status =
      MakeTrainLoader(dir.path(), 4, Options(16, 1)).status();
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(dir.path()), HasSubstr(".jpg"),
                    HasSubstr(".webp"), HasSubstr("5"), HasSubstr("a/0.rec"),
                    HasSubstr("a/1.rec"), HasSubstr("a/2.rec")));
}

TEST(Case126Test, AMissingFolderIsADataErrorThatNamesIt) {
  const TempDir dir;
  const absl::Status status =
      MakeTrainLoader(dir.Join("nowhere"), 4, Options(16, 1)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr(dir.Join("nowhere"))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
}

TEST(Case128Test, EveryBatchTellsWhichFilesItIsMadeOf) {
  const TempDir dir;
  WriteImages(dir, 10);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                       MakeTrainLoader(dir.path(), 5, Options(16, 2)));
  const std::vector<std::string>& classes = loader->dataset().class_names();
  for (int step = 0; step < 2; ++step) {
    ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
    ASSERT_THAT(batch->indices(), SizeIs(5));
    for (int i = 0; i < 5; ++i) {
      ASSERT_OK_AND_ASSIGN(const std::string key,
                           loader->dataset().Key(batch->indices()[i]));
      EXPECT_TRUE(std::filesystem::exists(dir.Join(key))) << key;
      EXPECT_TRUE(absl::StartsWith(
          key, classes[batch->labels().As<int64_t>()[i]] + "/"))
          << key;
      EXPECT_EQ(loader->dataset().Location(batch->indices()[i]), dir.Join(key));
    }
  }
}

}  // namespace
}  // namespace millrace::loader
