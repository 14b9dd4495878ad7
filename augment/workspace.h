#ifndef MILLRACE_AUGMENT_WORKSPACE_H_
#define MILLRACE_AUGMENT_WORKSPACE_H_

#include <cstdint>
#include <memory>

namespace millrace::augment {

// Scratch memory of one thread that runs pipelines: decoders, decoded rows,
// intermediate images. It grows to what the largest image needs and stays.
//
// Confined to one thread.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  // Nanoseconds, by the monotonic clock, that decoding took, and everything
  // after it, since the last TakeTimes(). Images that failed count up to where
  // they did.
  struct Times {
    int64_t decode_ns = 0;
    int64_t transform_ns = 0;
  };
  Times TakeTimes();

  // Bytes it holds.
  int64_t ByteCount() const;

 private:
  friend class Pipeline;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_WORKSPACE_H_
