#include "storage/image_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::storage {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "label:key" of each sample, in order.
std::vector<std::string> Samples(const Dataset& dataset) {
  std::vector<std::string> samples;
  Sample sample;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const absl::Status status = dataset.Read(i, &sample);
    const std::string label = status.ok()
                                  ? absl::StrCat(sample.labels().AsInt64()[0])
                                  : std::string(status.message());
    samples.push_back(absl::StrCat(label, ":", *dataset.Key(i)));
  }
  return samples;
}

void WriteAll(const TempDir& dir, const std::vector<std::string>& names) {
  for (const std::string& name : names) dir.Write(name, name);
}

void Link(const std::string& target, const std::string& path) {
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0) << path;
}

void MakeDirectory(const std::string& path) {
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0) << path;
}

TEST(ImageFolderTest, HasTorchvisionsOrder) {
  const TempDir dir;
  WriteAll(dir, {"c9/1.tiff", "\xC3\xA9/1.ppm", "a/sub/z.jpg", "a/Sub/q.webp",
                 "a/y.jpeg", "b/2.jpg", "b/10.JPG", "c10/1.bmp", "B/x.png"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(folder->class_names(),
              ElementsAre("B", "a", "b", "c10", "c9", "\xC3\xA9"));
  EXPECT_THAT(Samples(*folder),
              ElementsAre("0:B/x.png", "1:a/y.jpeg", "1:a/Sub/q.webp",
                          "1:a/sub/z.jpg", "2:b/10.JPG", "2:b/2.jpg",
                          "3:c10/1.bmp", "4:c9/1.tiff", "5:\xC3\xA9/1.ppm"));
}

TEST(ImageFolderTest, SortsDirectoriesOfAClassByTheirWholePath) {
  const TempDir dir;
  WriteAll(dir, {"k/a/b/1.jpg", "k/a-b/1.jpg", "k/a/1.jpg", "k/z.jpg",
                 "k/a b/1.jpg", "k/ab/1.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(Samples(*folder),
              ElementsAre("0:k/z.jpg", "0:k/a/1.jpg", "0:k/a b/1.jpg",
                          "0:k/a-b/1.jpg", "0:k/a/b/1.jpg", "0:k/ab/1.jpg"));
}

TEST(ImageFolderTest, FindsDeeperFoldersInAFixedOrder) {
  const TempDir dir;
  WriteAll(dir, {"a/2.jpg", "a/sub/1.jpg", "a/10.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(Samples(*folder),
              ElementsAre("0:a/10.jpg", "0:a/2.jpg", "0:a/sub/1.jpg"));
}

TEST(ImageFolderTest, ListsEveryEmptyClassAtOnce) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "c/1.jpg", "d/readme.txt", "e/in/.x.jpg"});
  MakeDirectory(dir.Join("b"));
  const auto result = ImageFolder::Open(dir.path());
  EXPECT_THAT(result,
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr(dir.path()),
                             HasSubstr("3 of 5 class directories have no image:"
                                       " \"b\", \"d\", \"e\""),
                             HasSubstr("allow_empty"))));
  EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
}

TEST(ImageFolderTest, KeepsTheLabelsOfEmptyClassesIfAllowed) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "c/1.jpg"});
  MakeDirectory(dir.Join("b"));
  ASSERT_OK_AND_ASSIGN(const auto folder,
                       ImageFolder::Open(dir.path(), {.allow_empty = true}));
  EXPECT_THAT(folder->class_names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Samples(*folder), ElementsAre("0:a/1.jpg", "2:c/1.jpg"));
  EXPECT_THAT(folder->summary().empty_directories, ElementsAre("b"));
}

TEST(ImageFolderTest, SortsClassesByBytesInEveryLocale) {
  const TempDir dir;
  for (const absl::string_view name :
       {"1", "2", "10", "B", "Z", "_x", "a", "\xC3\xA9"}) {
    dir.Write(absl::StrCat(name, "/1.jpg"), "x");
  }
  for (const char* locale : {"C", "C.UTF-8", "en_US.UTF-8"}) {
    // A locale that is missing here leaves the one before in place.
    (void)setlocale(LC_ALL, locale);
    ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
    EXPECT_THAT(folder->class_names(),
                ElementsAre("1", "10", "2", "B", "Z", "_x", "a", "\xC3\xA9"));
  }
  (void)setlocale(LC_ALL, "C");
}

TEST(ImageFolderTest, IgnoresTheCaseOfSuffixesAndKeepsNamesAsTheyAre) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "a/2.JPG", "a/3.JPEG", "a/4.Png", "a/5.txt"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(Samples(*folder),
              ElementsAre("0:a/1.jpg", "0:a/2.JPG", "0:a/3.JPEG", "0:a/4.Png"));
  EXPECT_EQ(folder->summary().ignored_files, 1);
  EXPECT_THAT(folder->summary().ignored_examples, ElementsAre("a/5.txt"));
}

TEST(ImageFolderTest, AnImageBehindALinkHasTheLabelOfTheLinksFolder) {
  const TempDir dir, store;
  store.Write("x.jpg", "linked");
  WriteAll(store, {"folder/y.jpg", "folder/in/z.jpg"});
  WriteAll(dir, {"a/1.jpg"});
  MakeDirectory(dir.Join("b"));
  Link(store.Join("x.jpg"), dir.Join("b/x.jpg"));
  Link(store.Join("folder"), dir.Join("c"));
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(folder->class_names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Samples(*folder), ElementsAre("0:a/1.jpg", "1:b/x.jpg",
                                            "2:c/y.jpg", "2:c/in/z.jpg"));
  Sample sample;
  ASSERT_OK(folder->Read(1, &sample));
  EXPECT_EQ(sample.fields()[0].bytes, "linked");
}

TEST(ImageFolderTest, LitterIsNeitherClassNorSample) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "a/._1.jpg", "a/.DS_Store", "a/Thumbs.db",
                 ".ipynb_checkpoints/1.jpg", "__MACOSX/._1.jpg",
                 "__MACOSX/a/._1.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(folder->class_names(), ElementsAre("a"));
  EXPECT_THAT(Samples(*folder), ElementsAre("0:a/1.jpg"));
  const ImageFolderSummary summary = folder->summary();
  EXPECT_THAT(summary.empty_directories, ElementsAre("__MACOSX"));
  EXPECT_EQ(summary.ignored_files, 5);
  EXPECT_THAT(
      summary.ignored_examples,
      ElementsAre("__MACOSX/._1.jpg", "__MACOSX/a/._1.jpg", "a/.DS_Store"));
}

TEST(ImageFolderTest, NeverMakesMacLitterWithoutImagesAClass) {
  const TempDir dir;
  WriteAll(dir, {"Z/1.jpg", "a/1.jpg"});
  MakeDirectory(dir.Join("__MACOSX"));
  MakeDirectory(dir.Join("b"));
  // Reported beside the classes that are empty.
  EXPECT_THAT(
      ImageFolder::Open(dir.path()),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"__MACOSX\", \"b\"")));
  ASSERT_OK_AND_ASSIGN(const auto folder,
                       ImageFolder::Open(dir.path(), {.allow_empty = true}));
  EXPECT_THAT(folder->class_names(), ElementsAre("Z", "a", "b"));
  EXPECT_THAT(Samples(*folder), ElementsAre("0:Z/1.jpg", "1:a/1.jpg"));
}

TEST(ImageFolderTest, MacLitterWithImagesIsAClassLikeAnother) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "__MACOSX/1.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(Samples(*folder), ElementsAre("0:__MACOSX/1.jpg", "1:a/1.jpg"));
}

TEST(ImageFolderTest, HiddenNamesCountIfAskedFor) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "a/.2.jpg", "a/.in/3.jpg", ".b/4.jpg", "a/.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto folder,
                       ImageFolder::Open(dir.path(), {.include_hidden = true}));
  EXPECT_THAT(folder->class_names(), ElementsAre(".b", "a"));
  EXPECT_THAT(Samples(*folder),
              ElementsAre("0:.b/4.jpg", "1:a/.2.jpg", "1:a/.jpg", "1:a/1.jpg",
                          "1:a/.in/3.jpg"));
}

TEST(ImageFolderTest, TakesAnyNameThatAFileSystemTakes) {
  const TempDir dir;
  const std::string longest = std::string(251, 'n') + ".jpg";
  WriteAll(dir,
           {"a/Track 2.0 (Clean).jpg", "a/[1] {2}.jpg", "a/back\\slash.jpg",
            "a/new\nline.jpg", "a/\xFF.jpg", "a/" + longest});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(Samples(*folder),
              ElementsAre("0:a/Track 2.0 (Clean).jpg", "0:a/[1] {2}.jpg",
                          "0:a/back\\slash.jpg", "0:a/new\nline.jpg",
                          "0:a/" + longest, "0:a/\xFF.jpg"));
  Sample sample;
  ASSERT_OK(folder->Read(5, &sample));
  EXPECT_EQ(sample.fields()[0].bytes, "a/\xFF.jpg");
  EXPECT_EQ(folder->Location(5), absl::StrCat(dir.path(), "/a/\\xFF.jpg"));
  EXPECT_EQ(folder->Location(3),
            absl::StrCat(dir.path(), "/a/new\\x0Aline.jpg"));
}

// Makes the image `length` bytes of path below `dir` (with dir's own), in
// directories of 200 bytes each, whatever open(2) takes at a time.
void WriteDeep(const TempDir& dir, size_t length) {
  int at = open(dir.path().c_str(), O_PATH | O_DIRECTORY);
  size_t left = length - dir.path().size() - 1;
  const auto enter = [&at, &left](const std::string& name) {
    mkdirat(at, name.c_str(), 0755);
    const int next = openat(at, name.c_str(), O_PATH | O_DIRECTORY);
    close(at);
    at = next;
    left -= name.size() + 1;
  };
  enter("class");
  while (left > 250) enter(std::string(200, 'd'));
  const std::string name = std::string(left - 4, 'f') + ".jpg";
  const int file = openat(at, name.c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_GE(file, 0);
  ASSERT_EQ(write(file, "deep", 4), 4);
  close(file);
  close(at);
}

TEST(ImageFolderTest, ReadsThePathOfTheGreatestLengthAndNoneBeyond) {
  const TempDir dir;
  WriteDeep(dir, PATH_MAX - 1);
  WriteDeep(dir, PATH_MAX);
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  ASSERT_EQ(folder->size(), 2);
  Sample sample;
  ASSERT_OK(folder->Read(0, &sample));
  EXPECT_EQ(sample.fields()[0].bytes, "deep");
  EXPECT_EQ(folder->Location(0).size(), PATH_MAX - 1);

  const absl::Status status = folder->Read(1, &sample);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               AllOf(HasSubstr(folder->Location(1)),
                                     HasSubstr("path of 4096 bytes"),
                                     HasSubstr("most is 4095"))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
  EXPECT_THAT(sample.fields(), IsEmpty());
}

TEST(ImageFolderTest, ListsDirectoriesDeeperThanAnyPathCanName) {
  const TempDir dir;
  WriteDeep(dir, 3 * PATH_MAX);
  dir.Write("other/1.jpg", "x");
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  ASSERT_EQ(folder->size(), 2);
  Sample sample;
  EXPECT_THAT(folder->Read(0, &sample), StatusIs(absl::StatusCode::kDataLoss,
                                                 HasSubstr("path of 12288")));
  EXPECT_OK(folder->Read(1, &sample));
}

TEST(ImageFolderTest, PipesSocketsAndDevicesAreNoSamples) {
  const TempDir dir;
  dir.Write("a/1.jpg", "x");
  ASSERT_EQ(mkfifo(dir.Join("a/pipe.jpg").c_str(), 0600), 0);
  ASSERT_EQ(mknod(dir.Join("a/socket.jpg").c_str(), S_IFSOCK | 0600, 0), 0);
  Link("/dev/zero", dir.Join("a/zero.jpg"));
  Link("gone.jpg", dir.Join("a/broken.jpg"));
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_THAT(Samples(*folder), ElementsAre("0:a/1.jpg"));
  EXPECT_EQ(folder->summary().ignored_files, 4);
  EXPECT_THAT(folder->summary().ignored_examples,
              ElementsAre("a/broken.jpg", "a/pipe.jpg", "a/socket.jpg"));
}

TEST(ImageFolderTest, WhatBecomesOfAFileIsAnErrorOfItsSampleAlone) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "a/2.jpg", "a/3.jpg", "a/4.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  // Gone; replaced by a pipe that nobody writes to; by a directory.
  for (const char* name : {"a/1.jpg", "a/2.jpg", "a/3.jpg"}) {
    ASSERT_EQ(unlink(dir.Join(name).c_str()), 0);
  }
  ASSERT_EQ(mkfifo(dir.Join("a/2.jpg").c_str(), 0600), 0);
  MakeDirectory(dir.Join("a/3.jpg"));
  Sample sample;
  const struct {
    int64_t index;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {0, absl::StatusCode::kNotFound, "No such file"},
      {1, absl::StatusCode::kDataLoss, "is a pipe"},
      {2, absl::StatusCode::kDataLoss, "is a directory"},
  };
  for (const auto& c : cases) {
    ASSERT_OK(folder->Read(3, &sample));
    const absl::Status status = folder->Read(c.index, &sample);
    EXPECT_THAT(status,
                StatusIs(c.code, AllOf(HasSubstr(c.message),
                                       HasSubstr(folder->Location(c.index)))));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kData);
    EXPECT_THAT(sample.fields(), IsEmpty());
    EXPECT_EQ(sample.labels().count, 0);
  }
}

TEST(ImageFolderTest, AnEmptyFileIsASampleOfNoBytes) {
  const TempDir dir;
  dir.Write("a/0.jpg", "");
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  Sample sample;
  ASSERT_OK(folder->Read(0, &sample));
  ASSERT_EQ(sample.fields().size(), 1);
  EXPECT_EQ(sample.fields()[0].bytes, "");
}

TEST(ImageFolderTest, SaysWhatItFoundInAFolderWithoutImages) {
  const std::string suffixes =
      ".jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp";
  const TempDir empty, records, flat, other;
  WriteAll(records, {"4.rec", "2.rec", "1.rec", "3.rec"});
  WriteAll(flat, {"1.jpg"});
  WriteAll(other, {"a/1\n.rec", "b/2.rec"});
  const struct {
    const TempDir& dir;
    std::string problem;
    std::string ignored;
  } cases[] = {
      {empty, "no class directory", "0 files ignored"},
      {records, "no class directory",
       "4 files ignored, such as \"1.rec\", \"2.rec\", \"3.rec\""},
      {flat, "no class directory", "1 files ignored, such as \"1.jpg\""},
      {other, "no image in its 2 class directories: \"a\", \"b\"",
       "2 files ignored, such as \"a/1\\x0A.rec\", \"b/2.rec\""},
  };
  for (const auto& c : cases) {
    for (const bool allow_empty : {false, true}) {
      const auto result =
          ImageFolder::Open(c.dir.path(), {.allow_empty = allow_empty});
      EXPECT_THAT(result,
                  StatusIs(absl::StatusCode::kNotFound,
                           AllOf(HasSubstr("folder " + c.dir.path()),
                                 HasSubstr(c.problem), HasSubstr(c.ignored),
                                 HasSubstr(suffixes))));
      EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
    }
  }
}

TEST(ImageFolderTest, RefusesRootsAndOptionsThatAreNone) {
  for (const absl::string_view root :
       {absl::string_view(""), absl::string_view("/tmp\0/x", 7)}) {
    EXPECT_THAT(
        ImageFolder::Open(root),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a path")));
    EXPECT_THAT(ImageFolder::FromIndex(root, ""),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  for (const int threads : {-1, 1025}) {
    EXPECT_THAT(ImageFolder::Open("/", {.threads = threads}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("threads is ", threads))));
  }
  EXPECT_OK(ImageFolderOptions{.threads = 1024}.Validate());
}

TEST(ImageFolderTest, AMissingRootIsNotFound) {
  const TempDir dir;
  const auto result = ImageFolder::Open(dir.Join("none"));
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr(dir.Join("none"))));
  EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
}

TEST(ImageFolderTest, SlashesAtTheEndOfTheRootChangeNothing) {
  const TempDir dir;
  dir.Write("a/1.jpg", "x");
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path() + "//"));
  EXPECT_EQ(folder->Location(0), dir.Join("a/1.jpg"));
  EXPECT_EQ(folder->Describe(),
            absl::StrCat("folder ", dir.path(), ": 1 images in 1 classes"));
}

TEST(ImageFolderTest, HasTheSameIndexBytesForAnyNumberOfThreads) {
  const TempDir dir;
  for (int c = 0; c < 30; ++c) {
    for (int i = 0; i < 20; ++i) {
      dir.Write(absl::StrCat(c, "/", i % 3, "/", i, ".jpg"), "x");
      dir.Write(absl::StrCat(c, "/", i % 3, "/", i, ".txt"), "x");
    }
  }
  ASSERT_OK_AND_ASSIGN(const auto one,
                       ImageFolder::Open(dir.path(), {.threads = 1}));
  for (const int threads : {0, 2, 3, 16}) {
    ASSERT_OK_AND_ASSIGN(const auto folder,
                         ImageFolder::Open(dir.path(), {.threads = threads}));
    EXPECT_EQ(folder->SerializeIndex(), one->SerializeIndex());
  }
}

TEST(ImageFolderTest, HasTheSameIndexBytesWhereverItLies) {
  const TempDir first, second;
  WriteAll(first, {"a/1.jpg", "b/2.jpg", "b/c/3.jpg"});
  WriteAll(second, {"b/c/3.jpg", "b/2.jpg", "a/1.jpg"});
  ASSERT_OK_AND_ASSIGN(const auto left, ImageFolder::Open(first.path()));
  ASSERT_OK_AND_ASSIGN(const auto right, ImageFolder::Open(second.path()));
  EXPECT_EQ(left->SerializeIndex(), right->SerializeIndex());
}

TEST(ImageFolderTest, OpensFromAnIndexWithoutLookingAtTheFolder) {
  const TempDir dir;
  WriteAll(dir, {"a/1.jpg", "b/2.jpg", "b/x.txt"});
  MakeDirectory(dir.Join("c"));
  ASSERT_OK_AND_ASSIGN(const auto folder,
                       ImageFolder::Open(dir.path(), {.allow_empty = true}));
  ASSERT_EQ(unlink(dir.Join("b/2.jpg").c_str()), 0);

  ASSERT_OK_AND_ASSIGN(
      const auto copy,
      ImageFolder::FromIndex(dir.path(), folder->SerializeIndex()));
  EXPECT_EQ(copy->fingerprint(), folder->fingerprint());
  EXPECT_EQ(copy->class_names(), folder->class_names());
  EXPECT_THAT(copy->Key(1), IsOkAndHolds("b/2.jpg"));
  EXPECT_EQ(copy->SerializeIndex(), folder->SerializeIndex());
  EXPECT_EQ(copy->summary().ignored_files, 1);
  EXPECT_THAT(copy->summary().ignored_examples, ElementsAre("b/x.txt"));
  EXPECT_THAT(copy->summary().empty_directories, ElementsAre("c"));
  Sample sample;
  EXPECT_OK(copy->Read(0, &sample));
  EXPECT_THAT(copy->Read(1, &sample), StatusIs(absl::StatusCode::kNotFound));
}

TEST(ImageFolderTest, RefusesWhatIsNoIndex) {
  const TempDir dir;
  dir.Write("a/1.jpg", "x");
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  const std::string index = folder->SerializeIndex();
  for (const std::string& bytes :
       {std::string(), std::string("MRFOLDR1"), index.substr(1),
        index.substr(0, index.size() - 1), index + index}) {
    EXPECT_THAT(ImageFolder::FromIndex(dir.path(), bytes),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("index")));
  }
}

TEST(ImageFolderTest, ListsAndReadsWithFewFilesOpen) {
  const TempDir dir;
  for (int c = 0; c < 200; ++c) dir.Write(absl::StrCat(c, "/in/1.jpg"), "x");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit lower = before;
  lower.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  const auto folder = ImageFolder::Open(dir.path(), {.threads = 16});
  Sample sample;
  if (folder.ok()) {
    for (int64_t i = 0; i < (*folder)->size(); ++i) {
      EXPECT_OK((*folder)->Read(i, &sample));
    }
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_OK(folder);
  EXPECT_EQ((*folder)->size(), 200);
}

TEST(ImageFolderTest, TellsTheMemoryOfItsIndex) {
  const TempDir dir;
  for (int i = 0; i < 1000; ++i) {
    dir.Write(absl::StrCat("a/n01440764_", 10000 + i, ".JPEG"), "x");
  }
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(dir.path()));
  EXPECT_GT(folder->IndexBytes(), 20 * 1000);
  EXPECT_LT(folder->IndexBytes(), 150 * 1000);
}

}  // namespace
}  // namespace millrace::storage
