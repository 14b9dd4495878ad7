#ifndef MILLRACE_AUGMENT_OPENCV_SETUP_H_
#define MILLRACE_AUGMENT_OPENCV_SETUP_H_

namespace millrace::augment {

// Makes OpenCV run each call in the calling thread alone (results of its
// parallel loops may depend on their number) and keep its log to itself, and
// gets CerrCapture ready. For the whole process. Thread-safe; cheap after the
// first call.
void SetUpOpencv();

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_OPENCV_SETUP_H_
