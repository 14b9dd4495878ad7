#ifndef MILLRACE_TESTS_SUPPORT_RANK_THREADS_H_
#define MILLRACE_TESTS_SUPPORT_RANK_THREADS_H_

// A job of several ranks inside a test: one thread a rank.

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "distributed/communicator_threads.h"

namespace millrace {

// Calls body(communicator) for each of `size` ranks at the same time, each on a
// thread of its own, and returns when all have returned. gtest's EXPECT and
// ASSERT work inside. A rank that returns without Close() makes the others fail
// if they still wait for it.
inline void RunRanks(
    int size, const std::function<void(distributed::Communicator&)>& body) {
  std::vector<std::unique_ptr<distributed::Communicator>> communicators =
      distributed::MakeThreadCommunicators(size);
  std::vector<std::thread> threads;
  for (auto& communicator : communicators) {
    threads.emplace_back([&body, &communicator] {
      body(*communicator);
      communicator.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace millrace

#endif  // MILLRACE_TESTS_SUPPORT_RANK_THREADS_H_
