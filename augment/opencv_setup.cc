#include "augment/opencv_setup.h"

#include "opencv2/core.hpp"
#include "opencv2/core/utils/logger.hpp"

namespace millrace::augment {

void SetUpOpencv() {
  static const bool done = [] {
    cv::setNumThreads(1);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace millrace::augment
