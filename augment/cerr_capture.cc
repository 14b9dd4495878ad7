#include "augment/cerr_capture.h"

#include <iostream>
#include <streambuf>

namespace millrace::augment {
namespace {

// Where the calling thread's output goes; null for the usual place.
thread_local std::string* captured = nullptr;

// Has no buffer, so that each write passes through the functions below.
class ThreadFilter : public std::streambuf {
 public:
  explicit ThreadFilter(std::streambuf* target) : target_(target) {}

 protected:
  int_type overflow(int_type c) override {
    if (captured == nullptr)
      return target_->sputc(traits_type::to_char_type(c));
    captured->push_back(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (captured == nullptr) return target_->sputn(text, size);
    captured->append(text, static_cast<size_t>(size));
    return size;
  }

  int sync() override { return captured == nullptr ? target_->pubsync() : 0; }

 private:
  std::streambuf* target_;
};

}  // namespace

CerrCapture::CerrCapture() {
  // Never destroyed: std::cerr outlives everything.
  static const ThreadFilter* const filter = [] {
    auto* made = new ThreadFilter(std::cerr.rdbuf());
    std::cerr.rdbuf(made);
    return made;
  }();
  static_cast<void>(filter);
  captured = &text_;
}

CerrCapture::~CerrCapture() { captured = nullptr; }

}  // namespace millrace::augment
