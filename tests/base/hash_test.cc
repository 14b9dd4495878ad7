#include "base/hash.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace {
namespace {

using testing::HasSubstr;

// XXH128 as the xxhsum tool prints it.
TEST(HashTest, IsXxh128) {
  EXPECT_EQ(HashBytes("").ToHex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(HashBytes("abc").ToHex(), "06b05ab6733a618578af5f94892f3950");
}

TEST(HashTest, HexReadsBack) {
  const Hash128 hash = {0x0123456789abcdef, 0x00000000000000ff};
  EXPECT_EQ(hash.ToHex(), "0123456789abcdef00000000000000ff");
  EXPECT_THAT(Hash128::FromHex(hash.ToHex()), IsOkAndHolds(hash));
}

TEST(HashTest, RefusesWhatIsNotAHash) {
  const std::string good = "0123456789abcdef00000000000000ff";
  for (const std::string& bad :
       {std::string(), good.substr(1), absl::StrCat(good, "0"),
        absl::StrCat("0x", good.substr(2)), absl::StrCat(" ", good.substr(1)),
        absl::StrCat("0123456789ABCDEF", good.substr(16)),
        absl::StrCat(good.substr(1), "g")}) {
    EXPECT_THAT(Hash128::FromHex(bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("32 lower-case hexadecimal digits")))
        << bad;
  }
}

TEST(HashTest, ComparesBothHalves) {
  EXPECT_TRUE((Hash128{1, 2} == Hash128{1, 2}));
  EXPECT_TRUE((Hash128{1, 2} != Hash128{1, 3}));
  EXPECT_TRUE((Hash128{1, 2} != Hash128{2, 2}));
}

TEST(HasherTest, OfBytesEqualsHashBytes) {
  std::string text;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, i);
  Hasher hasher;
  for (const char& c : text) hasher.AddBytes(&c, 1);
  EXPECT_EQ(hasher.Finish(), HashBytes(text));
}

TEST(HasherTest, StringsKeepTheirBorders) {
  EXPECT_NE(Hasher().AddString("ab").AddString("c").Finish(),
            Hasher().AddString("a").AddString("bc").Finish());
  EXPECT_NE(Hasher().AddString("").Finish(), Hasher().Finish());
}

TEST(HasherTest, IntegersAreLittleEndianWords) {
  EXPECT_EQ(Hasher().AddInt(0x0102030405060708).Finish(),
            HashBytes("\x08\x07\x06\x05\x04\x03\x02\x01"));
  EXPECT_EQ(Hasher().AddInt(-1).Finish(),
            HashBytes("\xff\xff\xff\xff\xff\xff\xff\xff"));
}

TEST(HasherTest, GoesOnAfterFinish) {
  Hasher hasher;
  hasher.AddString("a");
  const Hash128 first = hasher.Finish();
  EXPECT_EQ(hasher.Finish(), first);
  EXPECT_EQ(hasher.AddString("b").Finish(),
            Hasher().AddString("a").AddString("b").Finish());
}

TEST(HasherTest, MovesWithItsState) {
  Hasher from;
  from.AddInt(1);
  Hasher to = std::move(from);
  EXPECT_EQ(to.AddInt(2).Finish(), Hasher().AddInt(1).AddInt(2).Finish());
}

}  // namespace
}  // namespace millrace
