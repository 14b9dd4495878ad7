#include "tools/shapes_dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/cpu.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "base/philox.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "opencv2/imgproc.hpp"
#include "tools/jpeg_encoder.h"
#include "tools/shape_picture.h"

namespace millrace::tools {
namespace {

constexpr const char* kPartNames[] = {"train", "val"};

// One file of the set.
struct Item {
  ShapesPart part;
  int shape;
  int number;
};

std::string ClassFolder(const ShapesOptions& options, ShapesPart part,
                        int shape) {
  return absl::StrCat(options.out, "/", kPartNames[static_cast<int>(part)], "/",
                      ShapeClasses()[static_cast<size_t>(shape)]);
}

absl::Status WriteFile(const std::string& path, const std::string& bytes) {
  const std::string what = absl::StrCat("writing ", EscapeForMessage(path));
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return ErrnoStatus(errno, what);
  int error_number = 0;
  for (size_t done = 0; done < bytes.size() && error_number == 0;) {
    const ssize_t written =
        write(file, bytes.data() + done, bytes.size() - done);
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      error_number = errno;
    }
  }
  // A full disk may show only here.
  if (close(file) != 0 && error_number == 0) error_number = errno;
  return error_number == 0 ? absl::OkStatus() : ErrnoStatus(error_number, what);
}

absl::Status MakeFolders(const ShapesOptions& options) {
  std::error_code error;
  const bool is_empty = std::filesystem::is_empty(options.out, error);
  if (!error && !is_empty && !options.force) {
    return absl::InvalidArgumentError(
        absl::StrCat(EscapeForMessage(options.out),
                     " is not empty: choose another --out, or --force"));
  }
  for (const ShapesPart part : {ShapesPart::kTrain, ShapesPart::kVal}) {
    for (size_t shape = 0; shape < ShapeClasses().size(); ++shape) {
      const std::string folder =
          ClassFolder(options, part, static_cast<int>(shape));
      std::filesystem::create_directories(folder, error);
      if (error) {
        return ErrnoStatus(
            error.value(),
            absl::StrCat("making folder ", EscapeForMessage(folder)));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ShapesOptions::Validate() const {
  constexpr int kMost = 1000000;
  if (out.empty()) {
    return absl::InvalidArgumentError("--out is required: a folder to make");
  }
  for (const auto& [name, value] :
       {std::pair("train_per_class", train_per_class),
        std::pair("val_per_class", val_per_class)}) {
    if (value < 0 || value > kMost) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " is in [0, ", kMost, "], not ", value));
    }
  }
  if (quality < 1 || quality > 100) {
    return absl::InvalidArgumentError(
        absl::StrCat("--quality is in [1, 100], not ", quality));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ShapeJpeg(const ShapesOptions& options,
                                      ShapesPart part, int shape, int number) {
  PhiloxGenerator generator(
      options.seed, static_cast<int64_t>(part),
      static_cast<uint64_t>(shape) << 32 | static_cast<uint32_t>(number));
  JpegEncoding encoding;
  encoding.quality = options.quality;
  // 4:4:4, 4:2:2, 4:2:0.
  const int64_t sampling = generator.RandInt(3);
  encoding.horizontal_subsampling = sampling >= 1 ? 2 : 1;
  encoding.vertical_subsampling = sampling >= 2 ? 2 : 1;
  encoding.progressive = generator.RandInt(6) == 0;
  const bool gray = generator.RandInt(20) == 0;
  // A use of its own: another kind of file shows the same picture.
  generator.StartUse(1);
  cv::Mat picture = DrawShapePicture(shape, generator);
  if (gray) cv::cvtColor(picture, picture, cv::COLOR_RGB2GRAY);
  return EncodeJpeg(picture, encoding);
}

absl::Status WriteShapesDataset(const ShapesOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_RETURN_IF_ERROR(MakeFolders(options));
  std::vector<Item> items;
  for (size_t shape = 0; shape < ShapeClasses().size(); ++shape) {
    for (int n = 0; n < options.train_per_class; ++n) {
      items.push_back({ShapesPart::kTrain, static_cast<int>(shape), n});
    }
    for (int n = 0; n < options.val_per_class; ++n) {
      items.push_back({ShapesPart::kVal, static_cast<int>(shape), n});
    }
  }
  Mutex mutex;
  absl::Status first_error;
  const auto write_item = [&](int64_t i) {
    const Item& item = items[static_cast<size_t>(i)];
    {
      MutexLock lock(&mutex);
      if (!first_error.ok()) return;
    }
    const std::string path =
        absl::StrCat(ClassFolder(options, item.part, item.shape),
                     absl::StrFormat("/%04d.jpg", item.number));
    absl::StatusOr<std::string> jpeg =
        ShapeJpeg(options, item.part, item.shape, item.number);
    const absl::Status status =
        jpeg.ok() ? WriteFile(path, *jpeg) : jpeg.status();
    MutexLock lock(&mutex);
    first_error.Update(status);
  };
  ThreadPool pool(AllowedCpus(), "shapes");
  pool.ParallelFor(static_cast<int64_t>(items.size()), write_item);
  return first_error;
}

}  // namespace millrace::tools
