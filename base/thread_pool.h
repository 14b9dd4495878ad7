#ifndef MILLRACE_BASE_THREAD_POOL_H_
#define MILLRACE_BASE_THREAD_POOL_H_

// A fixed number of threads that run what they are given, in order of arrival.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/mutex.h"

namespace millrace {

// Thread-safe.
class ThreadPool {
 public:
  // Starts `threads` threads (at least 1), named `name` for debuggers and
  // profilers (15 characters are kept).
  ThreadPool(int threads, absl::string_view name);

  // Drops tasks that have not started, waits for those that have, and joins.
  ~ThreadPool();

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return static_cast<int>(threads_.size()); }

  // Runs `task` on some thread of the pool. Never blocks. A task may schedule
  // further ones, but must not wait for them.
  void Schedule(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls body(i) for each i in [0, count), on the pool's threads and the
  // calling one, and returns when all calls have returned. Not from a task of
  // the pool itself. Other tasks of the pool do not delay its return beyond the
  // calls they hold up.
  void ParallelFor(int64_t count, const std::function<void(int64_t)>& body)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void RunTasks() ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// Names the calling thread for debuggers and profilers.
void SetThreadName(absl::string_view name);

}  // namespace millrace

#endif  // MILLRACE_BASE_THREAD_POOL_H_
