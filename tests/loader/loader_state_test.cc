#include "loader/loader_state.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/exit_code.h"
#include "base/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using testing::HasSubstr;
using testing::Not;

LoaderState SomeState() {
  return {.fingerprint = HashBytes("set"),
          .dataset_size = 2062,
          .seed = 7,
          .batch_size = 64,
          .sampler = "feistel(size=2062, seed=7)",
          .tail = "drop",
          .transform = HashBytes("train"),
          .epoch = 3,
          .step = 12};
}

void ExpectEqual(const LoaderState& a, const LoaderState& b) {
  EXPECT_EQ(a.fingerprint, b.fingerprint);
  EXPECT_EQ(a.dataset_size, b.dataset_size);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.batch_size, b.batch_size);
  EXPECT_EQ(a.sampler, b.sampler);
  EXPECT_EQ(a.tail, b.tail);
  EXPECT_EQ(a.transform, b.transform);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.step, b.step);
}

TEST(LoaderStateTest, TextIsPinned) {
  EXPECT_EQ(SomeState().Serialize(),
            absl::StrCat(
                "{\"version\":1,\"fingerprint\":\"", HashBytes("set").ToHex(),
                "\",\"dataset_size\":2062,\"seed\":7,\"batch_size\":"
                "64,\"sampler\":\"feistel(size=2062, seed=7)\","
                "\"tail\":\"drop\",\"transform\":\"",
                HashBytes("train").ToHex(), "\",\"epoch\":3,\"step\":12}"));
}

TEST(LoaderStateTest, ReadsWhatItWrote) {
  ASSERT_OK_AND_ASSIGN(const LoaderState state,
                       LoaderState::Parse(SomeState().Serialize()));
  ExpectEqual(state, SomeState());
}

TEST(LoaderStateTest, KeepsLargestNumbersAndAnyBytes) {
  LoaderState state = SomeState();
  state.seed = std::numeric_limits<uint64_t>::max();
  state.dataset_size = std::numeric_limits<int64_t>::max();
  state.batch_size = std::numeric_limits<int64_t>::max();
  state.epoch = (int64_t{1} << 31) - 1;
  state.step = std::numeric_limits<int64_t>::max();
  state.sampler = std::string("a\"\\\n\x00\xff\xc3\xa9'", 9);
  const std::string text = state.Serialize();
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  ASSERT_OK_AND_ASSIGN(const LoaderState read, LoaderState::Parse(text));
  ExpectEqual(read, state);
}

TEST(LoaderStateTest, StaysBelowOneKilobyte) {
  LoaderState state = SomeState();
  state.seed = std::numeric_limits<uint64_t>::max();
  state.dataset_size = std::numeric_limits<int64_t>::max();
  state.batch_size = std::numeric_limits<int64_t>::max();
  state.epoch = (int64_t{1} << 31) - 1;
  state.step = std::numeric_limits<int64_t>::max();
  state.sampler = std::string(500, 'x');
  EXPECT_LT(state.Serialize().size(), 1000u);
}

TEST(LoaderStateTest, EveryCutIsDataLoss) {
  const std::string text = SomeState().Serialize();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(LoaderState::Parse(text.substr(0, length)),
                StatusIs(absl::StatusCode::kDataLoss))
        << length;
  }
}

TEST(LoaderStateTest, EveryFlippedByteIsReadOrDataLoss) {
  const std::string text = SomeState().Serialize();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
    const absl::StatusOr<LoaderState> state = LoaderState::Parse(damaged);
    if (!state.ok()) {
      EXPECT_THAT(state, StatusIs(absl::StatusCode::kDataLoss)) << i;
    }
  }
}

TEST(LoaderStateTest, NamesTheFieldThatIsBad) {
  struct Case {
    const char* from;
    const char* to;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"\"seed\":7,", "", "field seed is missing"},
      {"\"seed\":7,", "\"seed\":-7,", "field seed is no unsigned"},
      {"\"seed\":7,", "\"seed\":18446744073709551616,", "field seed"},
      {"\"seed\":7,", "\"seed\":\"7\",", "field seed"},
      {"\"step\":12", "\"step\":-1", "field step is -1"},
      {"\"step\":12", "\"step\":1.5", "field step is no 64-bit integer"},
      {"\"step\":12", "\"step\":9223372036854775808",
       "field step is no 64-bit integer"},
      {"\"epoch\":3", "\"epoch\":2147483648", "field epoch is 2147483648"},
      {"\"batch_size\":64", "\"batch_size\":0", "field batch_size is 0"},
      {"\"version\":1", "\"version\":2", "field version is 2"},
      {"\"tail\":\"drop\"", "\"tail\":3", "field tail is no string"},
      {"\"tail\":\"drop\"", "\"tail\":\"\\\\q\"", "field tail"},
      {"\"fingerprint\":\"", "\"fingerprint\":\"0", "field fingerprint"},
      {"\"transform\":\"", "\"transform\":\"0", "field transform"},
  };
  for (const Case& c : cases) {
    const std::string text =
        absl::StrReplaceAll(SomeState().Serialize(), {{c.from, c.to}});
    EXPECT_THAT(LoaderState::Parse(text),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(c.want)))
        << text;
  }
}

TEST(LoaderStateTest, RefusesOtherJson) {
  for (const char* text : {"", "null", "[]", "7", "\"x\"", "{}", "{\"a\":1}"}) {
    EXPECT_THAT(LoaderState::Parse(text), StatusIs(absl::StatusCode::kDataLoss))
        << text;
  }
}

TEST(LoaderStateTest, SameRunIgnoresThePosition) {
  LoaderState other = SomeState();
  other.epoch = 9;
  other.step = 0;
  EXPECT_OK(SomeState().CheckSameRun(other));
}

TEST(LoaderStateTest, AnotherRunIsNamedWithBothValues) {
  struct Case {
    std::function<void(LoaderState*)> change;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {[](LoaderState* s) { s->fingerprint = HashBytes("other"); },
       {"data set", HashBytes("set").ToHex(), HashBytes("other").ToHex()}},
      {[](LoaderState* s) { s->dataset_size = 2000; },
       {"dataset_size: saved 2062, now 2000"}},
      {[](LoaderState* s) { s->seed = 8; }, {"seed: saved 7, now 8"}},
      {[](LoaderState* s) { s->batch_size = 32; },
       {"batch_size: saved 64, now 32"}},
      {[](LoaderState* s) { s->sampler = "sequential(size=2062)"; },
       {"sampler: saved feistel(size=2062, seed=7), now "
        "sequential(size=2062)"}},
      {[](LoaderState* s) { s->tail = "pad"; }, {"tail: saved drop, now pad"}},
      {[](LoaderState* s) { s->transform = HashBytes("eval"); },
       {"transform", HashBytes("train").ToHex(), HashBytes("eval").ToHex()}},
  };
  for (const Case& c : cases) {
    LoaderState other = SomeState();
    c.change(&other);
    const absl::Status status = SomeState().CheckSameRun(other);
    for (const std::string& want : c.want) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr(want)));
    }
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
  }
}

}  // namespace
}  // namespace millrace::loader
