#include "base/buffer_pool.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace {
namespace {

using testing::HasSubstr;

// Counts, and fails once `left` allocations were made.
class CountingAllocator : public HostAllocator {
 public:
  explicit CountingAllocator(int left = 1 << 30) : left_(left) {}
  ~CountingAllocator() override { EXPECT_EQ(live, 0); }

  absl::StatusOr<void*> Allocate(size_t bytes) override {
    if (left_-- <= 0) return absl::ResourceExhaustedError("no more pages");
    ++allocations;
    ++live;
    return HostAllocator::Plain()->Allocate(bytes);
  }
  void Free(void* data, size_t bytes) override {
    --live;
    HostAllocator::Plain()->Free(data, bytes);
  }

  std::atomic<int> allocations = 0;
  std::atomic<int> live = 0;

 private:
  std::atomic<int> left_;
};

TEST(PlainAllocatorTest, AlignsAndServesAnySize) {
  for (const size_t bytes : {1, 63, 64, 65, 1000000}) {
    ASSERT_OK_AND_ASSIGN(void* data, HostAllocator::Plain()->Allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, 1, bytes);
    HostAllocator::Plain()->Free(data, bytes);
  }
}

TEST(PlainAllocatorTest, RefusesMoreThanThereIs) {
  for (const size_t bytes : {SIZE_MAX / 4, SIZE_MAX - 1, SIZE_MAX}) {
    EXPECT_THAT(
        HostAllocator::Plain()->Allocate(bytes),
        StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("no memory")));
  }
}

TEST(BufferPoolTest, AllocatesNothingAfterWarmUp) {
  CountingAllocator allocator;
  BufferPool pool(&allocator, 1000);
  EXPECT_EQ(pool.buffer_bytes(), 1000u);
  for (int step = 0; step < 1000; ++step) {
    std::vector<Buffer> held;
    for (int i = 0; i < 4; ++i) {
      ASSERT_OK_AND_ASSIGN(Buffer buffer, pool.Take());
      EXPECT_EQ(buffer.size(), 1000u);
      std::memset(buffer.data(), step, buffer.size());
      held.push_back(std::move(buffer));
    }
  }
  EXPECT_EQ(allocator.allocations, 4);
  EXPECT_EQ(pool.allocated(), 4);
}

TEST(BufferPoolTest, NeverLendsABufferTwice) {
  CountingAllocator allocator;
  BufferPool pool(&allocator, 8);
  ASSERT_OK_AND_ASSIGN(Buffer first, pool.Take());
  ASSERT_OK_AND_ASSIGN(Buffer second, pool.Take());
  EXPECT_NE(first.data(), second.data());
}

TEST(BufferPoolTest, PassesTheAllocatorsErrorOnAndStaysUsable) {
  CountingAllocator allocator(/*left=*/1);
  BufferPool pool(&allocator, 8);
  {
    ASSERT_OK_AND_ASSIGN(Buffer only, pool.Take());
    EXPECT_THAT(pool.Take(), StatusIs(absl::StatusCode::kResourceExhausted,
                                      "no more pages"));
    EXPECT_EQ(pool.allocated(), 1);
  }
  EXPECT_OK(pool.Take());
}

TEST(BufferTest, MovedFromAndDefaultBuffersAreEmpty) {
  CountingAllocator allocator;
  BufferPool pool(&allocator, 8);
  Buffer empty;
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.size(), 0u);
  ASSERT_OK_AND_ASSIGN(Buffer from, pool.Take());
  uint8_t* const data = from.data();
  Buffer to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(from.data(), nullptr);
  EXPECT_EQ(from.size(), 0u);
}

TEST(BufferTest, AssignmentReturnsTheOldBufferAtOnce) {
  CountingAllocator allocator;
  BufferPool pool(&allocator, 8);
  ASSERT_OK_AND_ASSIGN(Buffer a, pool.Take());
  ASSERT_OK_AND_ASSIGN(Buffer b, pool.Take());
  uint8_t* const old = a.data();
  a = std::move(b);
  EXPECT_EQ(b.data(), nullptr);
  ASSERT_OK_AND_ASSIGN(Buffer c, pool.Take());
  EXPECT_EQ(c.data(), old);
  EXPECT_EQ(pool.allocated(), 2);
  Buffer& alias = a;
  a = std::move(alias);
  EXPECT_NE(a.data(), nullptr);
}

TEST(BufferPoolTest, ServesManyThreads) {
  CountingAllocator allocator;
  BufferPool pool(&allocator, 64);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 1000; ++i) {
        absl::StatusOr<Buffer> buffer = pool.Take();
        ASSERT_OK(buffer);
        std::memset(buffer->data(), t, buffer->size());
        for (size_t b = 0; b < buffer->size(); ++b) {
          ASSERT_EQ(buffer->data()[b], t);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.allocated(), 4);
}

}  // namespace
}  // namespace millrace
