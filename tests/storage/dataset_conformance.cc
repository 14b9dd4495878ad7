#include "tests/storage/dataset_conformance.h"

#include <algorithm>
#include <latch>
#include <limits>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace millrace::storage {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kFarOut[] = {-1, std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max()};

// `size` bytes in which every value occurs, NUL and line ends among them.
std::string Bytes(size_t size, int seed) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(31 * i + i / 256 + seed);
  }
  return bytes;
}

// "" if `sample` is `item` and nothing else, or how it differs.
std::string Difference(const Sample& sample,
                       const DatasetContents::Item& item) {
  if (sample.fields().size() != 1) return "number of fields";
  if (sample.fields()[0].bytes != item.bytes) return "bytes";
  if (sample.labels().dtype != DType::kInt64) return "type of labels";
  if (sample.labels().count != 1) return "number of labels";
  if (sample.labels().AsInt64()[0] != item.label) return "label";
  return "";
}

Hash128 FingerprintOf(const DatasetContents& contents) {
  FingerprintBuilder builder(contents.class_names);
  for (const auto& item : contents.items) builder.Add(item.key, item.label);
  return builder.Finish();
}

}  // namespace

std::string DatasetCaseName(const testing::TestParamInfo<DatasetCase>& info) {
  return info.param.name;
}

DatasetContents DatasetConformanceTest::Contents() const {
  DatasetContents contents;
  contents.class_names = {"B", "cat", "\xC3\xA9"};
  const std::pair<std::string, int64_t> keys[] = {
      {"B/10.JPG", 0},           {"B/2.jpg", 0},
      {"cat/a name [1].png", 1}, {"cat/line\nend\xFF.bmp", 1},
      {"cat/more/1.jpeg", 1},    {"\xC3\xA9/\xC3\xA9.webp", 2},
  };
  const bool raw = !GetParam().raw_shape.empty();
  const size_t sizes[] = {3, 100000, 0, 1, 4096, 70000};
  int i = 0;
  for (const auto& [key, label] : keys) {
    const size_t size =
        raw ? static_cast<size_t>(ElementCount(GetParam().raw_shape))
            : sizes[i];
    contents.items.push_back({key, label, Bytes(size, i)});
    ++i;
  }
  return contents;
}

absl::StatusOr<std::unique_ptr<Dataset>> DatasetConformanceTest::Make(
    const DatasetContents& contents) {
  folders_.push_back(std::make_unique<TempDir>());
  const std::string& folder = folders_.back()->path();
  if (GetParam().write != nullptr) {
    MILLRACE_RETURN_IF_ERROR(GetParam().write(contents, folder));
  }
  return GetParam().open(contents, folder);
}

TEST_P(DatasetConformanceTest, DescribesItself) {
  const DatasetContents contents = Contents();
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(contents));
  EXPECT_EQ(dataset->size(), 6);
  EXPECT_EQ(dataset->class_names(), contents.class_names);
  EXPECT_GE(dataset->IndexBytes(), 0);
  EXPECT_THAT(dataset->Describe(), HasSubstr("6"));
  EXPECT_FALSE(absl::StrContains(dataset->Describe(), '\n'));

  ASSERT_EQ(dataset->fields().size(), 1);
  const Descriptor& descriptor = dataset->fields()[0].descriptor;
  EXPECT_EQ(dataset->fields()[0].name, "image");
  EXPECT_EQ(descriptor.encoded, GetParam().raw_shape.empty());
  EXPECT_EQ(descriptor.shape, GetParam().raw_shape);
}

TEST_P(DatasetConformanceTest, GivesBytesDescriptorAndLabelOfEachSample) {
  const DatasetContents contents = Contents();
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(contents));
  Sample sample;
  // Backwards as well: no sample depends on the one before it.
  for (const int64_t i : {0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0, 0}) {
    ASSERT_OK(dataset->Read(i, &sample)) << i;
    EXPECT_EQ(Difference(sample, contents.items[i]), "") << i;
    const Descriptor& descriptor = sample.fields()[0].descriptor;
    EXPECT_EQ(descriptor.encoded, GetParam().raw_shape.empty());
    EXPECT_EQ(descriptor.shape, GetParam().raw_shape);
    EXPECT_EQ(descriptor.dtype, DType::kUInt8);
  }
}

TEST_P(DatasetConformanceTest, GivesLabelsAlone) {
  const DatasetContents contents = Contents();
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(contents));
  Sample sample;
  for (int64_t i = 0; i < dataset->size(); ++i) {
    ASSERT_OK(dataset->ReadLabels(i, &sample));
    EXPECT_THAT(sample.labels().AsInt64(),
                ElementsAre(contents.items[i].label));
  }
  for (const int64_t index : kFarOut) {
    EXPECT_THAT(dataset->ReadLabels(index, &sample),
                StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_EQ(sample.labels().count, 0);
  }
}

TEST_P(DatasetConformanceTest, RefusesIndicesOutsideTheRange) {
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(Contents()));
  std::vector<int64_t> outside = {dataset->size()};
  outside.insert(outside.end(), std::begin(kFarOut), std::end(kFarOut));
  for (const int64_t index : outside) {
    Sample sample;
    ASSERT_OK(dataset->Read(0, &sample));
    EXPECT_THAT(dataset->Read(index, &sample),
                StatusIs(absl::StatusCode::kOutOfRange,
                         HasSubstr(absl::StrCat(index))));
    // What the sample held before is gone.
    EXPECT_THAT(sample.fields(), IsEmpty());
    EXPECT_EQ(sample.labels().count, 0);
    EXPECT_THAT(dataset->Key(index), StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(dataset->Location(index), HasSubstr(absl::StrCat(index)));
  }
}

TEST_P(DatasetConformanceTest, GivesKeysByteForByte) {
  const DatasetContents contents = Contents();
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(contents));
  for (int64_t i = 0; i < dataset->size(); ++i) {
    EXPECT_THAT(dataset->Key(i), IsOkAndHolds(contents.items[i].key));
  }
}

TEST_P(DatasetConformanceTest, LocatesEachSampleOnOneLine) {
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(Contents()));
  absl::flat_hash_set<std::string> locations;
  for (int64_t i = 0; i < dataset->size(); ++i) {
    const std::string location = dataset->Location(i);
    EXPECT_NE(location, "");
    EXPECT_FALSE(absl::StrContains(location, '\n')) << location;
    EXPECT_TRUE(locations.insert(location).second) << location;
  }
  EXPECT_THAT(dataset->Location(3), HasSubstr("line\\x0Aend\\xFF.bmp"));
}

TEST_P(DatasetConformanceTest, FingerprintIsThatOfClassNamesKeysAndLabels) {
  const DatasetContents contents = Contents();
  const TempDir folder;
  if (GetParam().write != nullptr) {
    ASSERT_OK(GetParam().write(contents, folder.path()));
  }
  ASSERT_OK_AND_ASSIGN(const auto first,
                       GetParam().open(contents, folder.path()));
  ASSERT_OK_AND_ASSIGN(const auto second,
                       GetParam().open(contents, folder.path()));
  // The same number for every kind of store, so that one can resume another.
  EXPECT_EQ(first->fingerprint(), FingerprintOf(contents));
  EXPECT_EQ(second->fingerprint(), first->fingerprint());
}

TEST_P(DatasetConformanceTest, FingerprintIgnoresContent) {
  DatasetContents contents = Contents();
  ASSERT_OK_AND_ASSIGN(const auto before, Make(contents));
  std::reverse(contents.items[0].bytes.begin(), contents.items[0].bytes.end());
  ASSERT_OK_AND_ASSIGN(const auto after, Make(contents));
  EXPECT_EQ(before->fingerprint(), after->fingerprint());
}

TEST_P(DatasetConformanceTest, FingerprintChangesWithEachPartOfTheIdentity) {
  const DatasetContents contents = Contents();
  std::vector<DatasetContents> variants(4, contents);
  variants[0].items[4].key = "cat/more/2.jpeg";
  variants[1].items.pop_back();
  variants[1].class_names.pop_back();
  // A class gets another name.
  variants[2].class_names[1] = "cow";
  // A sample gets another label.
  variants[3].items[4].label = 2;
  if (GetParam().keys_follow_classes) {
    for (auto& item : variants[2].items) {
      item.key = absl::StrReplaceAll(item.key, {{"cat/", "cow/"}});
    }
    variants[3].items[4].key = "\xC3\xA9/1.jpeg";
  }
  ASSERT_OK_AND_ASSIGN(const auto base, Make(contents));
  absl::flat_hash_set<std::string> seen = {base->fingerprint().ToHex()};
  for (const DatasetContents& variant : variants) {
    ASSERT_OK_AND_ASSIGN(const auto dataset, Make(variant));
    EXPECT_EQ(dataset->fingerprint(), FingerprintOf(variant));
    EXPECT_TRUE(seen.insert(dataset->fingerprint().ToHex()).second);
  }
}

TEST_P(DatasetConformanceTest, ThreadsReadTheSameBytesAtTheSameTime) {
  const DatasetContents contents = Contents();
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(contents));
  constexpr int kThreads = 8;
  constexpr int kRounds = 20;
  std::latch start(kThreads);
  std::vector<std::string> problems(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Sample sample;
      start.arrive_and_wait();
      for (int64_t k = 0; k < kRounds * dataset->size(); ++k) {
        const int64_t i = (k + t) % dataset->size();
        const absl::Status status = dataset->Read(i, &sample);
        std::string problem = status.ok()
                                  ? Difference(sample, contents.items[i])
                                  : status.ToString();
        const absl::StatusOr<std::string> key = dataset->Key(i);
        if (!key.ok() || *key != contents.items[i].key) problem += " key";
        if (!problem.empty()) {
          problems[t] = absl::StrCat("sample ", i, ": ", problem);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(problems, Each(IsEmpty()));
}

TEST_P(DatasetConformanceTest, ASampleIsReusedWithoutGrowing) {
  ASSERT_OK_AND_ASSIGN(const auto dataset, Make(Contents()));
  Sample sample;
  for (int64_t i = 0; i < dataset->size(); ++i) {
    ASSERT_OK(dataset->Read(i, &sample));
  }
  const size_t capacity = sample.scratch_capacity();
  for (int round = 0; round < 3; ++round) {
    for (int64_t i = 0; i < dataset->size(); ++i) {
      ASSERT_OK(dataset->Read(i, &sample));
      EXPECT_EQ(sample.scratch_capacity(), capacity);
    }
  }
}

}  // namespace millrace::storage
