#include "base/scratch_buffer.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "gtest/gtest.h"

namespace millrace {
namespace {

TEST(ScratchBufferTest, HoldsWhatItWasAskedFor) {
  ScratchBuffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.capacity(), 0);
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{1} << 20,
        (size_t{1} << 20) + 1, size_t{9} << 20}) {
    char* const data = buffer.Reserve(size);
    ASSERT_NE(data, nullptr) << size;
    EXPECT_EQ(buffer.data(), data);
    EXPECT_GE(buffer.capacity(), size);
    std::memset(data, 0x5a, size);
  }
}

TEST(ScratchBufferTest, KeepsItsMemoryForSmallerSizes) {
  for (const size_t size : {size_t{10'000}, size_t{3} << 20}) {
    ScratchBuffer buffer;
    char* const data = buffer.Reserve(size);
    const size_t capacity = buffer.capacity();
    EXPECT_EQ(buffer.Reserve(size), data);
    EXPECT_EQ(buffer.Reserve(0), data);
    EXPECT_EQ(buffer.Reserve(capacity), data);
    EXPECT_EQ(buffer.capacity(), capacity);
  }
}

TEST(ScratchBufferTest, FreedItIsEmptyAndCanBeUsedAgain) {
  for (const size_t size : {size_t{10'000}, size_t{3} << 20}) {
    ScratchBuffer buffer;
    ASSERT_NE(buffer.Reserve(size), nullptr);
    buffer.Free();
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(buffer.capacity(), 0);
    buffer.Free();
    EXPECT_NE(buffer.Reserve(size), nullptr);
  }
}

TEST(ScratchBufferTest, WithoutMemoryItIsEmpty) {
  for (const size_t size : {size_t{PTRDIFF_MAX}, SIZE_MAX, SIZE_MAX / 4}) {
    ScratchBuffer buffer;
    ASSERT_NE(buffer.Reserve(size_t{3} << 20), nullptr);
    EXPECT_EQ(buffer.Reserve(size), nullptr) << size;
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(buffer.capacity(), 0);
    EXPECT_NE(buffer.Reserve(100), nullptr);
  }
}

}  // namespace
}  // namespace millrace
