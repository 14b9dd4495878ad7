#include "storage/image_folder.h"

#include <limits.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "storage/file_reader.h"
#include "storage/folder_index.h"
#include "storage/folder_lister.h"

namespace millrace::storage {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxDefaultThreads = 16;

// Where archives made on a Mac keep what other systems have no place for.
constexpr absl::string_view kMacLitter = "__MACOSX";

std::string Quote(absl::string_view name) {
  return absl::StrCat("\"", EscapeForMessage(name), "\"");
}

std::string QuoteAll(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ", ", [](std::string* out, const auto& name) {
    absl::StrAppend(out, Quote(name));
  });
}

absl::string_view WithoutEndSlashes(absl::string_view root) {
  while (root.size() > 1 && root.back() == '/') root.remove_suffix(1);
  return root;
}

absl::Status CheckRoot(absl::string_view root) {
  if (root.empty() || root.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("folder ", Quote(root), ": not a path"));
  }
  return absl::OkStatus();
}

// The error for a folder that was listed well but is no data set.
absl::Status NoDataset(absl::string_view root, absl::string_view problem,
                       const FolderListing& listing) {
  std::string ignored = absl::StrCat(listing.ignored_files, " files ignored");
  if (!listing.ignored_examples.empty()) {
    absl::StrAppend(&ignored, ", such as ", QuoteAll(listing.ignored_examples));
  }
  return WithExitCode(absl::NotFoundError(absl::StrCat(
                          "folder ", EscapeForMessage(root), ": ", problem,
                          "; accepted: CLASS/IMAGE with one of ",
                          absl::StrJoin(kImageSuffixes, " "), "; ", ignored)),
                      ExitCode::kData);
}

// Takes the class named `name` out of `listing`. It has no directories there.
void RemoveClass(absl::string_view name, FolderListing* listing) {
  auto& names = listing->class_names;
  const auto it = std::find(names.begin(), names.end(), name);
  const int64_t label = it - names.begin();
  names.erase(it);
  for (FolderListing::Directory& directory : listing->directories) {
    if (directory.label > label) --directory.label;
  }
}

std::vector<std::string> ClassesWithoutImage(const FolderListing& listing) {
  std::vector<bool> has_image(listing.class_names.size());
  for (const auto& directory : listing.directories) {
    has_image[static_cast<size_t>(directory.label)] = true;
  }
  std::vector<std::string> empty;
  for (size_t c = 0; c < has_image.size(); ++c) {
    if (!has_image[c]) empty.push_back(listing.class_names[c]);
  }
  return empty;
}

// Decides which directories are classes. Gives the names of those without an
// image.
absl::StatusOr<std::vector<std::string>> SettleClasses(absl::string_view root,
                                                       bool allow_empty,
                                                       FolderListing* listing) {
  std::vector<std::string> empty = ClassesWithoutImage(*listing);
  const size_t found = listing->class_names.size();
  if (found == 0) return NoDataset(root, "no class directory in it", *listing);
  if (listing->directories.empty()) {
    return NoDataset(root,
                     absl::StrCat("no image in its ", found,
                                  " class directories: ", QuoteAll(empty)),
                     *listing);
  }
  const bool litter =
      std::find(empty.begin(), empty.end(), kMacLitter) != empty.end();
  if (litter) RemoveClass(kMacLitter, listing);
  if (!allow_empty && empty.size() > (litter ? 1 : 0)) {
    return NoDataset(root,
                     absl::StrCat(empty.size(), " of ", found,
                                  " class directories have no image: ",
                                  QuoteAll(empty), " (allow_empty keeps them)"),
                     *listing);
  }
  return empty;
}

}  // namespace

absl::Status ImageFolderOptions::Validate() const {
  if (threads < 0 || threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("ImageFolderOptions: threads is ", threads,
                     ", must be in [0, ", kMaxThreads, "]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ImageFolder>> ImageFolder::Open(
    absl::string_view root, const ImageFolderOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_RETURN_IF_ERROR(CheckRoot(root));
  FolderListerOptions lister_options;
  lister_options.include_hidden = options.include_hidden;
  lister_options.threads = options.threads > 0
                               ? options.threads
                               : std::min(AllowedCpus(), kMaxDefaultThreads);
  MILLRACE_ASSIGN_OR_RETURN(
      FolderListing listing,
      ListFolder(std::string(WithoutEndSlashes(root)), lister_options));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> empty,
                            SettleClasses(root, options.allow_empty, &listing));
  return std::unique_ptr<ImageFolder>(
      new ImageFolder(root, FolderIndex::Build(listing, empty)));
}

absl::StatusOr<std::unique_ptr<ImageFolder>> ImageFolder::FromIndex(
    absl::string_view root, std::string index) {
  MILLRACE_RETURN_IF_ERROR(CheckRoot(root));
  MILLRACE_ASSIGN_OR_RETURN(FolderIndex parsed,
                            FolderIndex::Parse(std::move(index)));
  return std::unique_ptr<ImageFolder>(new ImageFolder(root, std::move(parsed)));
}

ImageFolder::ImageFolder(absl::string_view root, FolderIndex index)
    : root_(WithoutEndSlashes(root)),
      index_(std::make_unique<const FolderIndex>(std::move(index))) {}

ImageFolder::~ImageFolder() = default;

std::string ImageFolder::SerializeIndex() const { return index_->bytes(); }

int64_t ImageFolder::size() const { return index_->size(); }

const std::vector<std::string>& ImageFolder::class_names() const {
  return index_->class_names();
}

Hash128 ImageFolder::fingerprint() const { return index_->fingerprint(); }

absl::Status ImageFolder::CheckIndex(int64_t index) const {
  if (index >= 0 && index < size()) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("sample ", index, " of ", Describe()));
}

absl::Status ImageFolder::Read(int64_t index, Sample* sample) const {
  sample->Clear();
  MILLRACE_RETURN_IF_ERROR(CheckIndex(index));
  const FolderIndex::Entry entry = index_->At(index);

  // On the stack, so that reading allocates nothing.
  char path[PATH_MAX];
  const size_t length =
      root_.size() + entry.directory.size() + entry.name.size() + 2;
  if (length >= sizeof(path)) {
    return absl::DataLossError(
        absl::StrCat("open ", Location(index), ": path of ", length,
                     " bytes, the system's most is ", sizeof(path) - 1));
  }
  char* end = path;
  for (const absl::string_view part :
       {absl::string_view(root_), absl::string_view("/"), entry.directory,
        absl::string_view("/"), entry.name}) {
    memcpy(end, part.data(), part.size());
    end += part.size();
  }
  *end = '\0';

  MILLRACE_ASSIGN_OR_RETURN(const absl::string_view bytes,
                            ReadFile(path, sample));
  sample->AddField(bytes, Descriptor{});
  sample->SetLabel(entry.label);
  return absl::OkStatus();
}

absl::Status ImageFolder::ReadLabels(int64_t index, Sample* sample) const {
  sample->Clear();
  MILLRACE_RETURN_IF_ERROR(CheckIndex(index));
  sample->SetLabel(index_->At(index).label);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ImageFolder::Key(int64_t index) const {
  MILLRACE_RETURN_IF_ERROR(CheckIndex(index));
  const FolderIndex::Entry entry = index_->At(index);
  return absl::StrCat(entry.directory, "/", entry.name);
}

std::string ImageFolder::Location(int64_t index) const {
  const absl::StatusOr<std::string> key = Key(index);
  if (!key.ok()) {
    return absl::StrCat("sample ", index, " of ", EscapeForMessage(root_));
  }
  return EscapeForMessage(absl::StrCat(root_, "/", *key));
}

std::string ImageFolder::Describe() const {
  return absl::StrCat("folder ", EscapeForMessage(root_), ": ", size(),
                      " images in ", class_names().size(), " classes");
}

int64_t ImageFolder::IndexBytes() const {
  return static_cast<int64_t>(sizeof(*this)) + index_->ByteCount();
}

ImageFolderSummary ImageFolder::summary() const {
  return {.ignored_files = index_->ignored_files(),
          .ignored_examples = index_->ignored_examples(),
          .empty_directories = index_->empty_directories()};
}

}  // namespace millrace::storage
