#include "augment/opencv_setup.h"

#include "augment/cerr_capture.h"
#include "opencv2/core.hpp"
#include "opencv2/core/utils/logger.hpp"

namespace millrace::augment {

void SetUpOpencv() {
  static const bool done = [] {
    cv::setNumThreads(1);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    // Its stream buffer is put in place now, before worker threads run that
    // might write to std::cerr meanwhile.
    const CerrCapture first;
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace millrace::augment
