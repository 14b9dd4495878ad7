#ifndef MILLRACE_AUGMENT_OPENCV_SETUP_H_
#define MILLRACE_AUGMENT_OPENCV_SETUP_H_

namespace millrace::augment {

// Makes OpenCV run each call in the calling thread alone (results of its
// parallel loops may depend on their number) and keep its log to itself. For
// the whole process; what is cheap after the first call. Thread-safe.
void SetUpOpencv();

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_OPENCV_SETUP_H_
