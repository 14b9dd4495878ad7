#include "storage/folder_lister.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "storage/file_descriptor.h"
#include "storage/file_status.h"

namespace millrace::storage {
namespace {

constexpr size_t kMaxExamples = 3;

enum class EntryKind { kFile, kDirectory, kOther };

// A directory of the walk: where it is, and what was found in it.
struct Node {
  // Below the root; empty for the root itself.
  std::string path;
  int64_t label = 0;
  // Null for the root.
  const Node* parent = nullptr;

  absl::Status status;
  dev_t device = 0;
  ino_t inode = 0;
  std::vector<std::string> subdirectories;
  int64_t image_count = 0;
  std::string image_names;
  int64_t ignored_files = 0;
  // The first kMaxExamples in byte order.
  std::vector<std::string> ignored_names;
  int64_t type_queries = 0;
};

struct DirCloser {
  void operator()(DIR* dir) const { (void)closedir(dir); }
};
using DirHandle = std::unique_ptr<DIR, DirCloser>;

// Opens the directory at `path`, of any length: open(2) takes PATH_MAX bytes at
// a time, so what is longer is gone down in pieces.
FileDescriptor OpenDirectory(absl::string_view path) {
  FileDescriptor base(AT_FDCWD);
  while (path.size() >= PATH_MAX) {
    const size_t cut = path.rfind('/', PATH_MAX - 1);
    if (cut == 0 || cut == absl::string_view::npos) {
      errno = ENAMETOOLONG;
      return FileDescriptor();
    }
    base = FileDescriptor(openat(base.get(),
                                 std::string(path.substr(0, cut)).c_str(),
                                 O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!base.ok()) return base;
    // A piece that begins with a slash would start at the system's root again.
    path.remove_prefix(std::min(path.size(), path.find_first_not_of('/', cut)));
  }
  return FileDescriptor(openat(base.get(), std::string(path).c_str(),
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Lists the directories of one folder. Its methods may run at the same time for
// different nodes.
class Lister {
 public:
  Lister(const std::string& root, const FolderListerOptions& options)
      : root_(root), options_(options) {}

  // Fills in what `node` has in it.
  void List(Node* node) const { node->status = TryList(node); }

 private:
  absl::Status TryList(Node* node) const;
  absl::Status AddEntry(const dirent& entry, int directory, Node* node) const;
  absl::StatusOr<EntryKind> KindOf(const dirent& entry, int directory,
                                   Node* node) const;

  std::string FullPath(const Node& node) const {
    return node.path.empty() ? root_ : absl::StrCat(root_, "/", node.path);
  }

  const std::string& root_;
  const FolderListerOptions& options_;
};

// Whether `node` is one of the directories it lies in, which only links can
// bring about.
bool IsCircle(const Node& node) {
  for (const Node* above = node.parent; above; above = above->parent) {
    if (above->device == node.device && above->inode == node.inode) return true;
  }
  return false;
}

// Brings NUL-terminated names into byte order.
void SortNames(int64_t count, std::string* names) {
  std::vector<const char*> order;
  order.reserve(static_cast<size_t>(count));
  for (const char* name = names->data(); name != names->data() + names->size();
       name += strlen(name) + 1) {
    order.push_back(name);
  }
  // strcmp compares unsigned bytes in every locale.
  std::sort(order.begin(), order.end(),
            [](const char* a, const char* b) { return strcmp(a, b) < 0; });
  std::string sorted;
  sorted.reserve(names->size());
  for (const char* name : order) sorted.append(name, strlen(name) + 1);
  *names = std::move(sorted);
}

void AddIgnored(absl::string_view name, Node* node) {
  ++node->ignored_files;
  std::vector<std::string>& kept = node->ignored_names;
  if (kept.size() == kMaxExamples) {
    if (name >= kept.back()) return;
    kept.pop_back();
  }
  kept.insert(std::upper_bound(kept.begin(), kept.end(), name),
              std::string(name));
}

absl::Status Lister::TryList(Node* node) const {
  const std::string path = FullPath(*node);
  FileDescriptor file = OpenDirectory(path);
  if (!file.ok()) return FileStatus(errno, "list", path);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return FileStatus(errno, "stat", path);
  node->device = info.st_dev;
  node->inode = info.st_ino;
  if (IsCircle(*node)) return absl::OkStatus();

  const DirHandle dir(fdopendir(file.get()));
  if (dir == nullptr) return FileStatus(errno, "list", path);
  const int directory = file.Release();  // `dir` closes it.
  while (true) {
    errno = 0;
    const dirent* entry = readdir(dir.get());
    if (entry == nullptr && errno != 0) return FileStatus(errno, "list", path);
    if (entry == nullptr) break;
    MILLRACE_RETURN_IF_ERROR(AddEntry(*entry, directory, node));
  }
  SortNames(node->image_count, &node->image_names);
  std::sort(node->subdirectories.begin(), node->subdirectories.end());
  return absl::OkStatus();
}

absl::Status Lister::AddEntry(const dirent& entry, int directory,
                              Node* node) const {
  const absl::string_view name = entry.d_name;
  if (name == "." || name == "..") return absl::OkStatus();
  const bool wanted = options_.include_hidden || name[0] != '.';
  const absl::StatusOr<EntryKind> kind = KindOf(entry, directory, node);
  if (!kind.ok() && wanted) return kind.status();
  if (kind.ok() && *kind == EntryKind::kDirectory) {
    if (wanted) node->subdirectories.emplace_back(name);
    return absl::OkStatus();
  }
  // Files right below the root belong to no class.
  if (wanted && *kind == EntryKind::kFile && node->parent != nullptr &&
      HasImageSuffix(name)) {
    ++node->image_count;
    node->image_names.append(name.data(), name.size() + 1);
  } else {
    AddIgnored(name, node);
  }
  return absl::OkStatus();
}

absl::StatusOr<EntryKind> Lister::KindOf(const dirent& entry, int directory,
                                         Node* node) const {
  const bool tells = entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN;
  if (tells && options_.trust_entry_types) {
    return entry.d_type == DT_REG   ? EntryKind::kFile
           : entry.d_type == DT_DIR ? EntryKind::kDirectory
                                    : EntryKind::kOther;
  }
  ++node->type_queries;
  struct stat info;
  if (fstatat(directory, entry.d_name, &info, 0) == 0) {
    return S_ISREG(info.st_mode)   ? EntryKind::kFile
           : S_ISDIR(info.st_mode) ? EntryKind::kDirectory
                                   : EntryKind::kOther;
  }
  switch (errno) {
    // Links that lead nowhere.
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return EntryKind::kOther;
    default:
      return FileStatus(errno, "stat",
                        absl::StrCat(FullPath(*node), "/", entry.d_name));
  }
}

// Reads the directories of `level`, all at once as far as there are threads.
void ListLevel(const Lister& lister, absl::Span<Node* const> level,
               ThreadPool* pool) {
  const auto body = [&](int64_t i) { lister.List(level[i]); };
  const auto count = static_cast<int64_t>(level.size());
  if (pool != nullptr) return pool->ParallelFor(count, body);
  for (int64_t i = 0; i < count; ++i) body(i);
}

// All directories of the walk, root first, then level by level.
std::deque<Node> Walk(const std::string& root,
                      const FolderListerOptions& options) {
  const Lister lister(root, options);
  std::unique_ptr<ThreadPool> pool;
  // The calling thread lists too.
  if (options.threads > 1) {
    pool = std::make_unique<ThreadPool>(options.threads - 1, "millrace-list");
  }
  std::deque<Node> nodes(1);
  std::vector<Node*> level = {&nodes.front()};
  while (!level.empty()) {
    ListLevel(lister, level, pool.get());
    std::vector<Node*> next;
    for (Node* node : level) {
      int64_t label = 0;
      for (std::string& name : node->subdirectories) {
        Node& child = nodes.emplace_back();
        child.parent = node;
        const bool is_class = node->parent == nullptr;
        child.path = is_class ? name : absl::StrCat(node->path, "/", name);
        child.label = is_class ? label++ : node->label;
        next.push_back(&child);
      }
    }
    level = std::move(next);
  }
  return nodes;
}

}  // namespace

bool HasImageSuffix(absl::string_view name) {
  return std::any_of(std::begin(kImageSuffixes), std::end(kImageSuffixes),
                     [name](absl::string_view suffix) {
                       return absl::EndsWithIgnoreCase(name, suffix);
                     });
}

absl::StatusOr<FolderListing> ListFolder(const std::string& root,
                                         const FolderListerOptions& options) {
  std::deque<Node> nodes = Walk(root, options);
  FolderListing listing;
  listing.class_names = std::move(nodes.front().subdirectories);
  // The root comes first: its path is empty.
  std::vector<Node*> order;
  for (Node& node : nodes) order.push_back(&node);
  std::sort(order.begin(), order.end(), [](const Node* a, const Node* b) {
    return std::tie(a->label, a->path) < std::tie(b->label, b->path);
  });
  for (Node* node : order) {
    MILLRACE_RETURN_IF_ERROR(node->status);
    listing.ignored_files += node->ignored_files;
    listing.type_queries += node->type_queries;
    for (const std::string& name : node->ignored_names) {
      if (listing.ignored_examples.size() == kMaxExamples) break;
      listing.ignored_examples.push_back(
          node->path.empty() ? name : absl::StrCat(node->path, "/", name));
    }
    if (node->image_count == 0) continue;
    listing.directories.push_back({std::move(node->path), node->label,
                                   node->image_count,
                                   std::move(node->image_names)});
  }
  return listing;
}

}  // namespace millrace::storage
