#include "storage/folder_lister.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "label:directory/name" of each image, in order.
std::vector<std::string> Images(const FolderListing& listing) {
  std::vector<std::string> images;
  for (const auto& directory : listing.directories) {
    std::vector<std::string> names =
        absl::StrSplit(directory.names, '\0', absl::SkipEmpty());
    EXPECT_EQ(static_cast<int64_t>(names.size()), directory.count);
    for (const std::string& name : names) {
      images.push_back(
          absl::StrCat(directory.label, ":", directory.path, "/", name));
    }
  }
  return images;
}

void Link(const std::string& target, const std::string& path) {
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0) << path;
}

void MakeDirectory(const std::string& path) {
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0) << path;
}

FolderListerOptions Threads(int threads) {
  FolderListerOptions options;
  options.threads = threads;
  return options;
}

TEST(HasImageSuffixTest, TakesTheNineSuffixesInAnyCase) {
  for (const absl::string_view name :
       {"a.jpg", "a.jpeg", "a.png", "a.ppm", "a.bmp", "a.pgm", "a.tif",
        "a.tiff", "a.webp", "a.JPG", "a.Png", "A.TiFf", ".jpg", "a.txt.jpg",
        "\xFF\n.jpg"}) {
    EXPECT_TRUE(HasImageSuffix(name)) << name;
  }
  for (const absl::string_view name : {"", "jpg", "ajpg", "a.jpg.txt", "a.gif",
                                       "a.jpg ", "a.jp", "a.jpgx", "a.jpg~"}) {
    EXPECT_FALSE(HasImageSuffix(name)) << name;
  }
}

TEST(ListFolderTest, AsksForTheTypeOfLinksAlone) {
  const TempDir dir;
  for (int i = 0; i < 100; ++i) dir.Write(absl::StrCat("a/", i, ".jpg"), "x");
  for (int i = 0; i < 50; ++i) dir.Write(absl::StrCat("b/x/", i, ".txt"), "x");
  ASSERT_OK_AND_ASSIGN(const FolderListing plain,
                       ListFolder(dir.path(), Threads(1)));
  EXPECT_EQ(plain.type_queries, 0);
  EXPECT_EQ(plain.ignored_files, 50);

  Link("0.jpg", dir.Join("a/link.jpg"));
  Link("a", dir.Join("c"));
  ASSERT_OK_AND_ASSIGN(const FolderListing linked,
                       ListFolder(dir.path(), Threads(1)));
  // c, and link.jpg in both a and c.
  EXPECT_EQ(linked.type_queries, 3);
  EXPECT_EQ(Images(linked).size(), 202);
}

// A tree with something of every kind.
void WriteMixedTree(const TempDir& dir) {
  for (const absl::string_view name :
       {"b/2.jpg", "b/10.JPG", "b/x/1.png", "b/x-y/1.png", "b/notes.txt",
        "a/.hidden.jpg", "a/.cache/1.jpg", "a/\xFF.webp", "top.jpg"}) {
    dir.Write(name, "x");
  }
  for (int c = 0; c < 20; ++c) {
    for (int i = 0; i < 10; ++i) {
      dir.Write(absl::StrCat("many", c, "/deep/er/", i * 7 % 10, ".bmp"), "x");
    }
  }
  MakeDirectory(dir.Join("empty"));
  Link("../b/2.jpg", dir.Join("a/linked.jpg"));
  Link("nowhere.jpg", dir.Join("a/broken.jpg"));
  Link("/dev/zero", dir.Join("a/device.jpg"));
  Link("../b/x", dir.Join("a/folder"));
  Link("..", dir.Join("a/circle"));
  ASSERT_EQ(mkfifo(dir.Join("b/pipe.jpg").c_str(), 0600), 0);
}

TEST(ListFolderTest, IsTheSameForAnyThreadsAndWhereEntriesDontTellTypes) {
  const TempDir dir;
  WriteMixedTree(dir);
  ASSERT_OK_AND_ASSIGN(const FolderListing first,
                       ListFolder(dir.path(), Threads(1)));
  EXPECT_EQ(Images(first).size(), 207);
  for (const int threads : {1, 2, 3, 16}) {
    for (const bool trust : {true, false}) {
      FolderListerOptions options = Threads(threads);
      options.trust_entry_types = trust;
      ASSERT_OK_AND_ASSIGN(const FolderListing listing,
                           ListFolder(dir.path(), options));
      EXPECT_EQ(Images(listing), Images(first));
      EXPECT_EQ(listing.class_names, first.class_names);
      EXPECT_EQ(listing.ignored_files, first.ignored_files);
      EXPECT_EQ(listing.ignored_examples, first.ignored_examples);
      EXPECT_EQ(listing.type_queries > first.type_queries, !trust);
    }
  }
}

TEST(ListFolderTest, ListsClassesWithoutImages) {
  const TempDir dir;
  MakeDirectory(dir.Join("b"));
  MakeDirectory(dir.Join("a"));
  ASSERT_OK_AND_ASSIGN(const FolderListing listing,
                       ListFolder(dir.path(), Threads(2)));
  EXPECT_THAT(listing.class_names, ElementsAre("a", "b"));
  EXPECT_THAT(listing.directories, IsEmpty());
}

TEST(ListFolderTest, AFileInTheRootBelongsToNoClass) {
  const TempDir dir;
  dir.Write("1.jpg", "x");
  dir.Write("a/2.jpg", "x");
  ASSERT_OK_AND_ASSIGN(const FolderListing listing,
                       ListFolder(dir.path(), Threads(1)));
  EXPECT_THAT(Images(listing), ElementsAre("0:a/2.jpg"));
  EXPECT_EQ(listing.ignored_files, 1);
  EXPECT_THAT(listing.ignored_examples, ElementsAre("1.jpg"));
}

TEST(ListFolderTest, GivesTheFirstThreeIgnoredFilesInOrder) {
  const TempDir dir;
  for (const absl::string_view name :
       {"b/1.rec", "a/z.rec", "a/c.rec", "a/b.rec", "a/a.rec", "z.rec"}) {
    dir.Write(name, "x");
  }
  ASSERT_OK_AND_ASSIGN(const FolderListing listing,
                       ListFolder(dir.path(), Threads(4)));
  EXPECT_EQ(listing.ignored_files, 6);
  EXPECT_THAT(listing.ignored_examples,
              ElementsAre("z.rec", "a/a.rec", "a/b.rec"));
}

TEST(ListFolderTest, LinksThatMakeACircleEnd) {
  const TempDir dir;
  dir.Write("a/1.jpg", "x");
  dir.Write("a/in/2.jpg", "x");
  Link(".", dir.Join("a/self"));
  Link("..", dir.Join("a/in/up"));
  Link("../..", dir.Join("a/in/root"));
  // Two folders that lead to each other: each is seen from the other once.
  const TempDir left, right;
  left.Write("3.jpg", "x");
  right.Write("4.jpg", "x");
  Link(right.path(), left.Join("right"));
  Link(left.path(), right.Join("left"));
  Link(left.path(), dir.Join("b"));
  ASSERT_OK_AND_ASSIGN(const FolderListing listing,
                       ListFolder(dir.path(), Threads(4)));
  EXPECT_THAT(Images(listing), ElementsAre("0:a/1.jpg", "0:a/in/2.jpg",
                                           "1:b/3.jpg", "1:b/right/4.jpg"));
}

TEST(ListFolderTest, AClassThatIsALinkToTheRootIsEmpty) {
  const TempDir dir;
  dir.Write("a/1.jpg", "x");
  Link(".", dir.Join("root"));
  ASSERT_OK_AND_ASSIGN(const FolderListing listing,
                       ListFolder(dir.path(), Threads(1)));
  EXPECT_THAT(listing.class_names, ElementsAre("a", "root"));
  EXPECT_THAT(Images(listing), ElementsAre("0:a/1.jpg"));
}

TEST(ListFolderTest, NamesTheDirectoryThatIsMissing) {
  const TempDir dir;
  EXPECT_THAT(ListFolder(dir.Join("none"), Threads(1)),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr(absl::StrCat("list ", dir.Join("none"),
                                              ": No such"))));
  dir.Write("file", "x");
  EXPECT_THAT(ListFolder(dir.Join("file"), Threads(1)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("Not a dir")));
}

// Works as a user who is not root for a scope, since root may read everything.
class AsNobody {
 public:
  AsNobody() : was_root_(geteuid() == 0) {
    if (was_root_) changed_ = seteuid(65534) == 0;
  }
  ~AsNobody() {
    if (changed_ && seteuid(0) != 0) ADD_FAILURE() << "can't become root";
  }
  bool ok() const { return !was_root_ || changed_; }

 private:
  bool was_root_;
  bool changed_ = false;
};

TEST(ListFolderTest, NamesTheFirstDirectoryThatMayNotBeRead) {
  const TempDir dir;
  for (const absl::string_view name : {"a/1.jpg", "b/1.jpg", "c/in/1.jpg"}) {
    dir.Write(name, "x");
  }
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(dir.Join("b").c_str(), 0), 0);
  ASSERT_EQ(chmod(dir.Join("c/in").c_str(), 0), 0);
  // Relative, since the folders above may be closed to others.
  const int before = open(".", O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(chdir(dir.path().c_str()), 0);
  absl::Status status;
  {
    const AsNobody nobody;
    if (!nobody.ok()) GTEST_SKIP() << "can't become another user";
    status = ListFolder(".", Threads(3)).status();
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied,
                               HasSubstr("list ./b: Permission denied")));
  ASSERT_EQ(chmod(dir.Join("b").c_str(), 0755), 0);
  ASSERT_EQ(chmod(dir.Join("c/in").c_str(), 0755), 0);
  ASSERT_EQ(fchdir(before), 0);
  close(before);
}

}  // namespace
}  // namespace millrace::storage
