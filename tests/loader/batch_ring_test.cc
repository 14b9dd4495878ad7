#include "loader/batch_ring.h"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A ring whose slots hold `sizes[step]` samples and no bytes.
class Ring {
 public:
  Ring(std::vector<int64_t> sizes, int64_t depth, bool cross_epochs = true)
      : sizes_(std::move(sizes)),
        layout_({}, {DType::kInt64, 1}, 16),
        pool_(std::make_shared<SlotPool>(HostAllocator::Plain(),
                                         layout_.bytes(), depth + 2, 1 << 20)),
        ring_(
            {depth, static_cast<int64_t>(sizes_.size()), cross_epochs},
            [this](BatchId id) { return Open(id); },
            [this](BatchSlot* slot) {
              // Several threads may complete slots at once.
              MutexLock lock(&mutex_);
              completed_.push_back({slot->epoch(), slot->step()});
              return complete_status_;
            }) {}

  BatchRing& operator*() { return ring_; }
  BatchRing* operator->() { return &ring_; }

  // Finishes everything that is given out without blocking; in the order given.
  std::vector<std::pair<int64_t, int64_t>> FinishAll() {
    std::vector<std::pair<int64_t, int64_t>> made;
    while (auto task = ring_.TakeTask(false)) {
      made.push_back({task->slot->step(), task->i});
      ring_.FinishTask(*task, absl::OkStatus());
    }
    return made;
  }

  void set_open_status(absl::Status status) { open_status_ = status; }
  void set_complete_status(absl::Status status) { complete_status_ = status; }
  const std::vector<BatchId>& opened() const { return opened_; }
  const std::vector<BatchId>& completed() const { return completed_; }

 private:
  absl::StatusOr<std::shared_ptr<BatchSlot>> Open(BatchId id) {
    opened_.push_back(id);
    if (!open_status_.ok()) return open_status_;
    auto buffer = pool_->Take();
    if (!buffer.ok()) return buffer.status();
    return std::make_shared<BatchSlot>(
        pool_, *std::move(buffer), layout_, id.epoch, id.step,
        std::vector<distributed::SampleRef>(sizes_[id.step]));
  }

  std::vector<int64_t> sizes_;
  SlotLayout layout_;
  std::shared_ptr<SlotPool> pool_;
  absl::Status open_status_;
  absl::Status complete_status_;
  std::vector<BatchId> opened_;
  Mutex mutex_;
  std::vector<BatchId> completed_;
  BatchRing ring_;
};

TEST(BatchRingTest, GivesOutSamplesInOrderUpToItsDepth) {
  Ring ring({2, 3, 2}, /*depth=*/2);
  using P = std::pair<int64_t, int64_t>;
  EXPECT_THAT(ring.FinishAll(),
              ElementsAre(P(0, 0), P(0, 1), P(1, 0), P(1, 1), P(1, 2)));
  EXPECT_TRUE(ring->WaitReady(absl::ZeroDuration()));
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->step(), 0);
  // One taken makes room for one more.
  EXPECT_THAT(ring.FinishAll(), ElementsAre(P(2, 0), P(2, 1)));
}

TEST(BatchRingTest, DeliversInOrderWhicheverIsDoneFirst) {
  Ring ring({1, 1}, 2);
  auto first = ring->TakeTask(false);
  auto second = ring->TakeTask(false);
  ASSERT_TRUE(first && second);
  EXPECT_LT(first->ticket, second->ticket);
  ring->FinishTask(*second, absl::OkStatus());
  EXPECT_FALSE(ring->WaitReady(absl::ZeroDuration()));
  ring->FinishTask(*first, absl::OkStatus());
  ASSERT_TRUE(ring->WaitReady(absl::ZeroDuration()));
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->step(), 0);
  ASSERT_TRUE(ring->WaitReady(absl::ZeroDuration()));
  ASSERT_OK_AND_ASSIGN(slot, ring->Take());
  EXPECT_EQ(slot->step(), 1);
}

TEST(BatchRingTest, GoesOnWithTheNextEpoch) {
  Ring ring({1, 1}, 3);
  ring.FinishAll();
  EXPECT_THAT(ring.opened(),
              ElementsAre(BatchId{0, 0}, BatchId{0, 1}, BatchId{1, 0}));
}

TEST(BatchRingTest, StaysInItsEpochWhenToldSo) {
  Ring ring({1, 1}, 3, /*cross_epochs=*/false);
  ring.FinishAll();
  ASSERT_OK(ring->Take());
  ASSERT_OK(ring->Take());
  ring.FinishAll();
  EXPECT_THAT(ring.opened(), ElementsAre(BatchId{0, 0}, BatchId{0, 1}));
  ring->Seek({1, 0});
  ring.FinishAll();
  EXPECT_THAT(ring.opened(), ElementsAre(BatchId{0, 0}, BatchId{0, 1},
                                         BatchId{1, 0}, BatchId{1, 1}));
}

TEST(BatchRingTest, AnEmptyBatchIsCompleteAtOnce) {
  Ring ring({0, 1}, 1);
  EXPECT_TRUE(ring.FinishAll().empty());
  ASSERT_TRUE(ring->WaitReady(absl::ZeroDuration()));
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->size(), 0);
  EXPECT_THAT(ring.completed(), ElementsAre(BatchId{0, 0}));
}

TEST(BatchRingTest, TheErrorIsTheFirstSamplesAndTheBatchIsPassed) {
  Ring ring({3, 1}, 2);
  auto a = ring->TakeTask(false), b = ring->TakeTask(false),
       c = ring->TakeTask(false);
  ring->FinishTask(*c, absl::DataLossError("third"));
  ring->FinishTask(*a, absl::OkStatus());
  ring->FinishTask(*b, absl::DataLossError("second"));
  ASSERT_TRUE(ring->WaitReady(absl::ZeroDuration()));
  EXPECT_THAT(ring->Take(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("second")));
  EXPECT_EQ(ring->front(), (BatchId{0, 1}));
  ring.FinishAll();
  EXPECT_TRUE(ring.completed().size() >= 1);
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->step(), 1);
}

TEST(BatchRingTest, AnErrorOfCompletingIsDelivered) {
  Ring ring({1}, 1);
  ring.set_complete_status(absl::InvalidArgumentError("collate"));
  ring.FinishAll();
  EXPECT_THAT(ring->Take(), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("collate")));
}

TEST(BatchRingTest, AFailedOpeningIsTriedAgainForTheSameBatch) {
  Ring ring({1, 1}, 1);
  ring.set_open_status(absl::ResourceExhaustedError("no memory"));
  EXPECT_TRUE(ring.FinishAll().empty());
  EXPECT_THAT(ring->Take(), StatusIs(absl::StatusCode::kResourceExhausted,
                                     HasSubstr("no memory")));
  EXPECT_EQ(ring->front(), (BatchId{0, 0}));
  ring.set_open_status(absl::OkStatus());
  ring.FinishAll();
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->step(), 0);
}

TEST(BatchRingTest, SeekKeepsWhatIsMadeForTheTarget) {
  Ring ring({1, 1}, 3);
  ring.FinishAll();  // (0, 0), (0, 1), (1, 0)
  ring->Seek({1, 0});
  EXPECT_TRUE(ring->WaitReady(absl::ZeroDuration()));
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->epoch(), 1);
  ring.FinishAll();
  EXPECT_THAT(ring.opened(),
              ElementsAre(BatchId{0, 0}, BatchId{0, 1}, BatchId{1, 0},
                          BatchId{1, 1}, BatchId{2, 0}, BatchId{2, 1}));
}

TEST(BatchRingTest, SeekDropsWhatIsInTheMaking) {
  Ring ring({2, 2}, 2);
  auto old = ring->TakeTask(false);
  ring->Seek({5, 1});
  // The old task's slot lives on with it, and finishing it harms nobody.
  EXPECT_EQ(old->slot->epoch(), 0);
  ring->FinishTask(*old, absl::DataLossError("late"));
  ring.FinishAll();
  ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
  EXPECT_EQ(slot->epoch(), 5);
  EXPECT_EQ(slot->step(), 1);
}

TEST(BatchRingTest, StopEndsWorkersThatWait) {
  Ring ring({1}, 1);
  ring.FinishAll();
  std::thread worker(
      [&] { EXPECT_FALSE(ring->TakeTask(/*block=*/true).has_value()); });
  ring->Stop();
  worker.join();
  EXPECT_FALSE(ring->TakeTask(false).has_value());
  ring->Resume();
  ASSERT_OK(ring->Take());
  EXPECT_TRUE(ring->TakeTask(false).has_value());
}

TEST(BatchRingTest, ManyWorkersMakeEachSampleOnceAndInOrderOfDelivery) {
  constexpr int kWorkers = 6;
  constexpr int kBatches = 300;
  Ring ring({3, 0, 5, 1}, 4);
  std::atomic<int> made = 0;
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&] {
      while (auto task = ring->TakeTask(true)) {
        ++made;
        ring->FinishTask(*task, absl::OkStatus());
      }
    });
  }
  int expected = 0;
  for (int i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(ring->WaitReady(absl::InfiniteDuration()));
    ASSERT_OK_AND_ASSIGN(auto slot, ring->Take());
    ASSERT_EQ(slot->epoch(), i / 4);
    ASSERT_EQ(slot->step(), i % 4);
    expected += static_cast<int>(slot->size());
  }
  ring->Stop();
  for (std::thread& worker : workers) worker.join();
  // Beyond what was delivered, at most what a full ring holds.
  EXPECT_GE(made, expected);
  EXPECT_LE(made, expected + 4 * 5);
}

}  // namespace
}  // namespace millrace::loader
