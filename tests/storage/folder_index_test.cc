#include "storage/folder_index.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "storage/folder_lister.h"
#include "tests/support/status_matchers.h"

namespace millrace::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Positions of the header's numbers, as storage/folder_index.h lays them out.
constexpr size_t kChecksum = 8;
constexpr size_t kSamples = 40;
constexpr size_t kDirectories = 48;
constexpr size_t kClasses = 56;
constexpr size_t kIgnoredFiles = 80;
constexpr size_t kOffsets = 88;

// Text with NULs in it from a literal.
template <size_t N>
std::string Text(const char (&text)[N]) {
  return std::string(text, N - 1);
}

FolderListing SmallListing() {
  FolderListing listing;
  listing.class_names = {"cat", "dog", "emu"};
  listing.directories = {
      {"cat", 0, 2, Text("1.jpg\0two words.JPG\0")},
      {"cat/more", 0, 1, Text("x.png\0")},
      {"emu", 2, 1, Text("\xFF\n.bmp\0")},
  };
  listing.ignored_files = 5;
  listing.ignored_examples = {"a.rec", "cat/b.txt"};
  return listing;
}

FolderIndex SmallIndex() { return FolderIndex::Build(SmallListing(), {"dog"}); }

void SetNumber(size_t position, uint64_t value, std::string* bytes) {
  memcpy(bytes->data() + position, &value, sizeof(value));
}

// `bytes` with the checksum that goes with them.
std::string Sealed(std::string bytes) {
  const Hash128 hash = HashBytes(absl::string_view(bytes).substr(24));
  SetNumber(kChecksum, hash.low, &bytes);
  SetNumber(kChecksum + 8, hash.high, &bytes);
  return bytes;
}

void ExpectIsSmallIndex(const FolderIndex& index) {
  ASSERT_EQ(index.size(), 4);
  std::vector<std::string> samples;
  for (int64_t i = 0; i < index.size(); ++i) {
    const FolderIndex::Entry entry = index.At(i);
    samples.push_back(
        absl::StrCat(entry.directory, "|", entry.name, "|", entry.label));
  }
  EXPECT_THAT(samples, ElementsAre("cat|1.jpg|0", "cat|two words.JPG|0",
                                   "cat/more|x.png|0", "emu|\xFF\n.bmp|2"));
  EXPECT_THAT(index.class_names(), ElementsAre("cat", "dog", "emu"));
  EXPECT_EQ(index.ignored_files(), 5);
  EXPECT_THAT(index.ignored_examples(), ElementsAre("a.rec", "cat/b.txt"));
  EXPECT_THAT(index.empty_directories(), ElementsAre("dog"));

  FingerprintBuilder fingerprint(index.class_names());
  fingerprint.Add("cat/1.jpg", 0);
  fingerprint.Add("cat/two words.JPG", 0);
  fingerprint.Add("cat/more/x.png", 0);
  fingerprint.Add("emu/\xFF\n.bmp", 2);
  EXPECT_EQ(index.fingerprint(), fingerprint.Finish());
}

TEST(FolderIndexTest, HoldsWhatWasListed) { ExpectIsSmallIndex(SmallIndex()); }

TEST(FolderIndexTest, IsTheSameAfterParsingItsBytes) {
  const FolderIndex index = SmallIndex();
  ASSERT_OK_AND_ASSIGN(const FolderIndex parsed,
                       FolderIndex::Parse(index.bytes()));
  ExpectIsSmallIndex(parsed);
  EXPECT_EQ(parsed.bytes(), index.bytes());
}

TEST(FolderIndexTest, SurvivesMoving) {
  FolderIndex index = SmallIndex();
  const FolderIndex moved = std::move(index);
  ExpectIsSmallIndex(moved);
}

TEST(FolderIndexTest, RefusesBytesCutAtAnyLengthOrWithMoreBehind) {
  const std::string bytes = SmallIndex().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(FolderIndex::Parse(bytes.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("index")));
    // A forger who knows the checksum gets no further.
    if (size < kOffsets) continue;
    EXPECT_THAT(FolderIndex::Parse(Sealed(bytes.substr(0, size))),
                StatusIs(absl::StatusCode::kDataLoss));
  }
  EXPECT_THAT(FolderIndex::Parse(Sealed(bytes + "x")),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(FolderIndexTest, RefusesEveryFlippedBit) {
  const std::string bytes = SmallIndex().bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_THAT(FolderIndex::Parse(flipped),
                  StatusIs(absl::StatusCode::kDataLoss))
          << i;
    }
  }
}

// With the right checksum a change can make another sound index, or one that is
// refused, but never one that is read outside its bytes.
TEST(FolderIndexTest, IsSafeToUseWhateverParsesWithTheRightChecksum) {
  const std::string bytes = SmallIndex().bytes();
  for (size_t i = 24; i < bytes.size(); ++i) {
    for (const int value : {0, 1, 2, 4, 46, 47, 127, 255}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      const auto index = FolderIndex::Parse(Sealed(std::move(changed)));
      if (!index.ok()) {
        EXPECT_THAT(index, StatusIs(absl::StatusCode::kDataLoss));
        continue;
      }
      for (int64_t s = 0; s < index->size(); ++s) {
        const FolderIndex::Entry entry = index->At(s);
        EXPECT_FALSE(entry.directory.empty());
        EXPECT_FALSE(entry.name.empty());
        EXPECT_GE(entry.label, 0);
        EXPECT_LT(entry.label,
                  static_cast<int64_t>(index->class_names().size()));
      }
    }
  }
}

TEST(FolderIndexTest, RefusesImpossibleContentsUnderTheRightChecksum) {
  const std::string good = SmallIndex().bytes();
  constexpr size_t strings = 4 + 3 + 3 + 2 + 1;
  const size_t pairs = kOffsets + 8 * (strings + 1);
  const size_t text = pairs + 3 * 16;
  ASSERT_EQ(good.substr(text, 5), "1.jpg");
  const size_t first_path = text + good.substr(text).find("catcat/more");

  struct Change {
    size_t position;
    uint64_t number;
    std::string message;
  };
  const Change numbers[] = {
      {kSamples, 0, "no sample"},
      {kSamples, 3, ""},
      {kSamples, ~uint64_t{0}, "cut short"},
      {kDirectories, 0, "no sample"},
      {kDirectories, 2, ""},
      {kClasses, 0, "no sample"},
      {kClasses, uint64_t{1} << 61, "cut short"},
      {kIgnoredFiles, ~uint64_t{0}, "impossible count"},
      {kOffsets, 1, "backwards"},
      {kOffsets + 8, 0, "impossible name"},
      {kOffsets + 16, 3, "backwards"},
      {kOffsets + 8 * strings, 5, ""},
      {pairs, 1, "out of order"},
      {pairs + 16, 0, "out of order"},
      {pairs + 32, 4, "out of order"},
      {pairs + 32, ~uint64_t{0}, "out of order"},
      {pairs + 8, 3, "labels"},
      {pairs + 8, 2, "not in its class"},
      {pairs + 24, 2, "not in its class"},
      {pairs + 40, 0, "not in its class"},
      {pairs + 40, ~uint64_t{0}, "labels"},
  };
  for (const Change& change : numbers) {
    std::string bytes = good;
    SetNumber(change.position, change.number, &bytes);
    EXPECT_THAT(
        FolderIndex::Parse(Sealed(bytes)),
        StatusIs(absl::StatusCode::kDataLoss, HasSubstr(change.message)))
        << change.position << " " << change.number;
  }

  const std::pair<size_t, std::string> texts[] = {
      {text + 1, "/"},        // A name with a slash,
      {text, Text("\0")},     // with a NUL,
      {first_path, "cow"},    // a path outside its class,
      {first_path + 6, "x"},  // beside it,
      {first_path + 7, "/"},  // with an empty part,
  };
  for (const auto& [position, replacement] : texts) {
    std::string bytes = good;
    bytes.replace(position, replacement.size(), replacement);
    EXPECT_THAT(FolderIndex::Parse(Sealed(bytes)),
                StatusIs(absl::StatusCode::kDataLoss))
        << position;
  }
}

TEST(FolderIndexTest, RefusesPathsThatLeaveTheRoot) {
  for (const absl::string_view part : {".", "..", "x/..", "../.."}) {
    FolderListing listing = SmallListing();
    listing.directories[1].path = absl::StrCat("cat/", part);
    EXPECT_THAT(
        FolderIndex::Parse(FolderIndex::Build(listing, {}).bytes()),
        StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not in its class")));
  }
  FolderListing listing = SmallListing();
  listing.class_names = {"..", "dog", "emu"};
  listing.directories[0].path = "..";
  listing.directories[1].path = "../etc";
  EXPECT_THAT(FolderIndex::Parse(FolderIndex::Build(listing, {}).bytes()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("class name")));
}

// ImageNet's shape: 1000 classes, 1281 images each, names of 20 bytes.
FolderListing LargeListing() {
  FolderListing listing;
  for (int c = 0; c < 1000; ++c) {
    const std::string name = absl::StrFormat("n%08d", 1440764 + c);
    std::string names;
    for (int i = 0; i < 1281; ++i) {
      absl::StrAppend(&names, absl::StrFormat("%s_%05d.JPEG", name, i));
      names.push_back('\0');
    }
    listing.class_names.push_back(name);
    listing.directories.push_back({name, c, 1281, std::move(names)});
  }
  return listing;
}

TEST(FolderIndexTest, TakesLittleMoreThanTheNamesOfAMillionImages) {
  const FolderIndex index = FolderIndex::Build(LargeListing(), {});
  ASSERT_EQ(index.size(), 1281000);
  const double bytes_a_sample = static_cast<double>(index.ByteCount()) /
                                static_cast<double>(index.size());
  EXPECT_LT(bytes_a_sample, 30);
  const FolderIndex::Entry last = index.At(index.size() - 1);
  EXPECT_EQ(last.directory, "n01441763");
  EXPECT_EQ(last.name, "n01441763_01280.JPEG");
  EXPECT_EQ(last.label, 999);
  EXPECT_EQ(index.At(1280).label, 0);
  EXPECT_EQ(index.At(1281).label, 1);
  EXPECT_EQ(index.At(1281).name, "n01440765_00000.JPEG");
}

TEST(FolderIndexTest, StaysBelow150BytesWithADirectoryForEveryImage) {
  FolderListing listing;
  listing.class_names = {"person"};
  for (int i = 0; i < 10000; ++i) {
    std::string names = absl::StrFormat("frame-%06d.jpg", i);
    names.push_back('\0');
    listing.directories.push_back(
        {absl::StrFormat("person/recording-of-2024-01-01/%06d", i), 0, 1,
         std::move(names)});
  }
  const FolderIndex index = FolderIndex::Build(listing, {});
  EXPECT_LT(index.ByteCount(), 150 * index.size());
  EXPECT_EQ(index.At(9999).name, "frame-009999.jpg");
}

}  // namespace
}  // namespace millrace::storage
