#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace millrace {

void SetThreadName(absl::string_view name) {
  pthread_setname_np(pthread_self(), std::string(name.substr(0, 15)).c_str());
}

ThreadPool::ThreadPool(int threads, absl::string_view name) {
  threads_.reserve(std::max(1, threads));
  for (int i = 0; i < std::max(1, threads); ++i) {
    threads_.emplace_back([this, name = std::string(name)] {
      SetThreadName(name);
      RunTasks();
    });
  }
}

ThreadPool::~ThreadPool() {
  // Destroyed without the lock: what tasks own may call back.
  std::deque<std::function<void()>> dropped;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  wake_.SignalAll();
  dropped.clear();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Schedule(std::function<void()> task) {
  {
    MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.Signal();
}

void ThreadPool::RunTasks() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(&mutex_);
      while (!stopping_ && tasks_.empty()) wake_.Wait(&mutex_);
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

void ThreadPool::ParallelFor(int64_t count,
                             const std::function<void(int64_t)>& body) {
  // Shared with the tasks, which may start after this call has returned: they
  // then find nothing left and touch nothing but this.
  struct Progress {
    std::atomic<int64_t> next{0};
    Mutex mutex;
    CondVar all_done;
    int64_t done ABSL_GUARDED_BY(mutex) = 0;
  };
  auto progress = std::make_shared<Progress>();
  // `body` outlives every call of it, since this waits for all of them.
  const auto work = [progress, count, &body] {
    int64_t finished = 0;
    // Relaxed: only the number matters; results are published by the mutex.
    for (int64_t i;
         (i = progress->next.fetch_add(1, std::memory_order_relaxed)) < count;
         ++finished) {
      body(i);
    }
    MutexLock lock(&progress->mutex);
    progress->done += finished;
    if (progress->done == count) progress->all_done.SignalAll();
  };
  const int64_t helpers = std::min<int64_t>(thread_count(), count - 1);
  for (int64_t i = 0; i < helpers; ++i) Schedule(work);
  work();
  MutexLock lock(&progress->mutex);
  while (progress->done < count) progress->all_done.Wait(&progress->mutex);
}

}  // namespace millrace
