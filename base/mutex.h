#ifndef MILLRACE_BASE_MUTEX_H_
#define MILLRACE_BASE_MUTEX_H_

// A mutex and a condition variable with Clang's thread-safety annotations.
//
// They are the standard library's own underneath, since ThreadSanitizer follows
// pthreads but reports every use of an uninstrumented absl::Mutex (such as a
// distribution's package) as a race. `bazel build --config=tsa` checks the
// annotations.

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace millrace {

// Thread-safe.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

  // Tells the static analysis, without checking, that the mutex is held.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex for the life of a scope.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Waiting returns early now and then: always wait in a loop that tests the
// condition.
//
//   MutexLock lock(&mutex_);
//   while (queue_.empty()) not_empty_.Wait(&mutex_);
//
// Thread-safe.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    cond_.wait(lock);
    lock.release();
  }

  // Returns false if `timeout` passed, by the monotonic clock: a step of the
  // machine's date changes nothing. Longer than 100 years is for ever.
  bool WaitFor(Mutex* mutex, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (timeout > absl::Hours(24 * 365 * 100)) {
      Wait(mutex);
      return true;
    }
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const std::cv_status result =
        cond_.wait_for(lock, absl::ToChronoNanoseconds(timeout));
    lock.release();
    return result == std::cv_status::no_timeout;
  }

  void Signal() { cond_.notify_one(); }
  void SignalAll() { cond_.notify_all(); }

 private:
  std::condition_variable cond_;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_MUTEX_H_
