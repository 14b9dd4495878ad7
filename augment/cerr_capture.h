#ifndef MILLRACE_AUGMENT_CERR_CAPTURE_H_
#define MILLRACE_AUGMENT_CERR_CAPTURE_H_

#include <string>

namespace millrace::augment {

// Keeps what the calling thread writes to std::cerr, instead of writing it:
// OpenCV reports broken images there, and gives no other reason. Other threads'
// lines pass. Does nothing for what is written to the file descriptor.
//
// The first one ever made puts a stream buffer of ours before that of
// std::cerr, for good.
//
// Confined to one thread; not nested.
class CerrCapture {
 public:
  CerrCapture();
  ~CerrCapture();
  CerrCapture(const CerrCapture&) = delete;
  CerrCapture& operator=(const CerrCapture&) = delete;

  // What was written so far.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_CERR_CAPTURE_H_
