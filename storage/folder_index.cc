#include "storage/folder_index.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "storage/dataset.h"

namespace millrace::storage {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr absl::string_view kMagic = "MRFOLDR1";
constexpr size_t kNumber = 8;
// Positions of the header's numbers.
constexpr size_t kChecksum = 8;
constexpr size_t kFingerprint = 24;
constexpr size_t kCounts = 40;
constexpr size_t kIgnoredFiles = 80;
constexpr size_t kOffsets = 88;

// What the checksum is taken of.
absl::string_view Checked(absl::string_view bytes) {
  return bytes.substr(kFingerprint);
}

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("folder index: ", what));
}

// A name that a directory entry can have.
bool IsEntryName(absl::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == absl::string_view::npos &&
         name.find('\0') == absl::string_view::npos;
}

// A path below a class's directory, or that directory itself.
bool IsPathInClass(absl::string_view path, absl::string_view class_name) {
  if (!absl::StartsWith(path, class_name)) return false;
  const absl::string_view rest = path.substr(class_name.size());
  if (rest.empty()) return true;
  if (rest[0] != '/') return false;
  for (const absl::string_view part : absl::StrSplit(rest.substr(1), '/')) {
    if (!IsEntryName(part)) return false;
  }
  return true;
}

// Writes an index from its beginning to its end.
class Writer {
 public:
  explicit Writer(size_t size) { bytes_.reserve(size); }

  void Number(uint64_t value) {
    char bytes[kNumber];
    memcpy(bytes, &value, kNumber);
    bytes_.append(bytes, kNumber);
  }
  void Number(Hash128 value) {
    Number(value.low);
    Number(value.high);
  }
  void Text(absl::string_view text) { bytes_.append(text.data(), text.size()); }

  std::string Finish() {
    const Hash128 checksum = HashBytes(Checked(bytes_));
    memcpy(&bytes_[kChecksum], &checksum.low, kNumber);
    memcpy(&bytes_[kChecksum + kNumber], &checksum.high, kNumber);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

// Calls visit(directory, name) for each image of `listing`, in order.
template <typename Visitor>
void ForEachImage(const FolderListing& listing, const Visitor& visit) {
  for (const FolderListing::Directory& directory : listing.directories) {
    absl::string_view names = directory.names;
    while (!names.empty()) {
      const absl::string_view name = names.data();
      visit(directory, name);
      names.remove_prefix(name.size() + 1);
    }
  }
}

// Calls visit(text) for each string of an index, in order.
template <typename Visitor>
void ForEachString(const FolderListing& listing,
                   const std::vector<std::string>& empty_directories,
                   const Visitor& visit) {
  ForEachImage(listing, [&](const FolderListing::Directory&,
                            absl::string_view name) { visit(name); });
  for (const auto& directory : listing.directories) visit(directory.path);
  for (const auto& name : listing.class_names) visit(name);
  for (const auto& example : listing.ignored_examples) visit(example);
  for (const auto& name : empty_directories) visit(name);
}

Hash128 FingerprintOf(const FolderListing& listing) {
  FingerprintBuilder builder(listing.class_names);
  std::string key;
  ForEachImage(listing, [&](const FolderListing::Directory& directory,
                            absl::string_view name) {
    key.clear();
    absl::StrAppend(&key, directory.path, "/", name);
    builder.Add(key, directory.label);
  });
  return builder.Finish();
}

}  // namespace

FolderIndex FolderIndex::Build(
    const FolderListing& listing,
    const std::vector<std::string>& empty_directories) {
  size_t samples = 0, strings = 0, text = 0;
  for (const auto& directory : listing.directories) {
    samples += static_cast<size_t>(directory.count);
  }
  ForEachString(listing, empty_directories, [&](absl::string_view string) {
    ++strings;
    text += string.size();
  });

  const size_t directories = listing.directories.size();
  Writer writer(kOffsets + kNumber * (strings + 1 + 2 * directories) + text);
  writer.Text(kMagic);
  writer.Number(Hash128{});  // The checksum's place.
  writer.Number(FingerprintOf(listing));
  writer.Number(samples);
  writer.Number(directories);
  writer.Number(listing.class_names.size());
  writer.Number(listing.ignored_examples.size());
  writer.Number(empty_directories.size());
  writer.Number(static_cast<uint64_t>(listing.ignored_files));
  uint64_t offset = 0;
  writer.Number(offset);
  ForEachString(listing, empty_directories, [&](absl::string_view string) {
    writer.Number(offset += string.size());
  });
  uint64_t first_sample = 0;
  for (const auto& directory : listing.directories) {
    writer.Number(first_sample);
    writer.Number(static_cast<uint64_t>(directory.label));
    first_sample += static_cast<uint64_t>(directory.count);
  }
  ForEachString(listing, empty_directories,
                [&](absl::string_view string) { writer.Text(string); });

  FolderIndex index;
  index.bytes_ = writer.Finish();
  (void)index.ParseHeader();  // OK: it was written just now.
  index.ReadClassNames();
  return index;
}

absl::StatusOr<FolderIndex> FolderIndex::Parse(std::string bytes) {
  FolderIndex index;
  index.bytes_ = std::move(bytes);
  MILLRACE_RETURN_IF_ERROR(index.ParseHeader());
  const Hash128 checksum = {.high = index.NumberAt(kChecksum + kNumber),
                            .low = index.NumberAt(kChecksum)};
  if (HashBytes(Checked(index.bytes_)) != checksum) {
    return Damaged("checksum does not match");
  }
  MILLRACE_RETURN_IF_ERROR(index.CheckStrings());
  index.ReadClassNames();
  MILLRACE_RETURN_IF_ERROR(index.CheckDirectories());
  return index;
}

absl::Status FolderIndex::ParseHeader() {
  if (bytes_.size() < kOffsets || !absl::StartsWith(bytes_, kMagic)) {
    return Damaged(absl::StrCat(bytes_.size(), " bytes without its beginning"));
  }
  // No more than there can be, so that what follows can't overflow.
  const uint64_t most = bytes_.size() / kNumber;
  uint64_t counts[5];
  uint64_t strings = 0;
  for (int i = 0; i < 5; ++i) {
    counts[i] = NumberAt(kCounts + kNumber * static_cast<size_t>(i));
    if (counts[i] > most) return Damaged("is cut short");
    strings += counts[i];
  }
  if (counts[0] == 0 || counts[1] == 0 || counts[2] == 0) {
    return Damaged("has no sample");
  }
  if (NumberAt(kIgnoredFiles) >
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Damaged("has an impossible count");
  }
  pairs_ = kOffsets + kNumber * (strings + 1);
  text_ = pairs_ + 2 * kNumber * counts[1];
  if (text_ > bytes_.size()) return Damaged("is cut short");
  size_ = static_cast<int64_t>(counts[0]);
  directories_ = static_cast<int64_t>(counts[1]);
  classes_ = static_cast<int64_t>(counts[2]);
  examples_ = static_cast<int64_t>(counts[3]);
  empty_ = static_cast<int64_t>(counts[4]);
  return absl::OkStatus();
}

absl::Status FolderIndex::CheckStrings() const {
  uint64_t offset = 0;
  for (size_t position = kOffsets; position < pairs_; position += kNumber) {
    const uint64_t next = NumberAt(position);
    if (next < offset || (position == kOffsets && next != 0)) {
      return Damaged("offsets go backwards");
    }
    offset = next;
  }
  if (offset != bytes_.size() - text_) {
    return Damaged("offsets and text differ in length");
  }
  for (int64_t i = 0; i < size_; ++i) {
    if (!IsEntryName(StringAt(i))) return Damaged("has an impossible name");
  }
  for (int64_t c = 0; c < classes_; ++c) {
    if (!IsEntryName(StringAt(size_ + directories_ + c))) {
      return Damaged("has an impossible class name");
    }
  }
  return absl::OkStatus();
}

absl::Status FolderIndex::CheckDirectories() const {
  int64_t first_sample = -1, label = 0;
  for (int64_t d = 0; d < directories_; ++d) {
    const int64_t next = FirstSample(d);
    if (next <= first_sample || next >= size_ || (d == 0 && next != 0)) {
      return Damaged("directories are out of order");
    }
    first_sample = next;
    if (LabelOf(d) < label || LabelOf(d) >= classes_) {
      return Damaged("labels are out of order");
    }
    label = LabelOf(d);
    if (!IsPathInClass(StringAt(size_ + d), class_names_[label])) {
      return Damaged("a directory is not in its class");
    }
  }
  return absl::OkStatus();
}

void FolderIndex::ReadClassNames() {
  class_names_ = Strings(size_ + directories_, classes_);
}

Hash128 FolderIndex::fingerprint() const {
  return {.high = NumberAt(kFingerprint + kNumber),
          .low = NumberAt(kFingerprint)};
}

FolderIndex::Entry FolderIndex::At(int64_t index) const {
  // The last directory that begins at or before `index`.
  int64_t low = 0, high = directories_;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (FirstSample(middle) <= index ? low : high) = middle;
  }
  return {StringAt(size_ + low), StringAt(index), LabelOf(low)};
}

int64_t FolderIndex::ignored_files() const {
  return static_cast<int64_t>(NumberAt(kIgnoredFiles));
}

std::vector<std::string> FolderIndex::ignored_examples() const {
  return Strings(size_ + directories_ + classes_, examples_);
}

std::vector<std::string> FolderIndex::empty_directories() const {
  return Strings(size_ + directories_ + classes_ + examples_, empty_);
}

int64_t FolderIndex::ByteCount() const {
  size_t bytes = sizeof(*this) + bytes_.capacity() +
                 class_names_.capacity() * sizeof(std::string);
  for (const std::string& name : class_names_) bytes += name.capacity();
  return static_cast<int64_t>(bytes);
}

uint64_t FolderIndex::NumberAt(size_t position) const {
  uint64_t value;
  memcpy(&value, bytes_.data() + position, kNumber);
  return value;
}

absl::string_view FolderIndex::StringAt(int64_t k) const {
  const size_t position = kOffsets + kNumber * static_cast<size_t>(k);
  const uint64_t begin = NumberAt(position);
  return absl::string_view(bytes_).substr(text_ + begin,
                                          NumberAt(position + kNumber) - begin);
}

std::vector<std::string> FolderIndex::Strings(int64_t begin,
                                              int64_t count) const {
  std::vector<std::string> strings;
  strings.reserve(static_cast<size_t>(count));
  for (int64_t k = begin; k < begin + count; ++k) {
    strings.emplace_back(StringAt(k));
  }
  return strings;
}

int64_t FolderIndex::FirstSample(int64_t directory) const {
  return static_cast<int64_t>(
      NumberAt(pairs_ + 2 * kNumber * static_cast<size_t>(directory)));
}

int64_t FolderIndex::LabelOf(int64_t directory) const {
  return static_cast<int64_t>(NumberAt(
      pairs_ + 2 * kNumber * static_cast<size_t>(directory) + kNumber));
}

}  // namespace millrace::storage
