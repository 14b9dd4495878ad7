#ifndef MILLRACE_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define MILLRACE_TESTS_SUPPORT_STATUS_MATCHERS_H_

// Matchers and macros for absl::Status and absl::StatusOr in tests.
//
//   ASSERT_OK_AND_ASSIGN(auto dataset, OpenDataset(path));
//   EXPECT_THAT(dataset->Read(99, &sample),
//               StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("99")));

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace {
namespace status_matchers_internal {

inline const absl::Status& ToStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

}  // namespace status_matchers_internal

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  const absl::Status& status = status_matchers_internal::ToStatus(arg);
  *result_listener << status.ToString();
  return status.ok();
}

// A StatusOr whose value matches.
MATCHER_P(IsOkAndHolds, value_matcher, "is OK with a matching value") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return testing::ExplainMatchResult(value_matcher, *arg, result_listener);
}

MATCHER_P2(StatusIs, code, message_matcher, "has a matching code and message") {
  const absl::Status& status = status_matchers_internal::ToStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         testing::ExplainMatchResult(
             message_matcher, std::string(status.message()), result_listener);
}

MATCHER_P(StatusIs, code, "has a matching code") {
  const absl::Status& status = status_matchers_internal::ToStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code;
}

}  // namespace millrace

#define EXPECT_OK(expr) EXPECT_THAT((expr), ::millrace::IsOk())
#define ASSERT_OK(expr) ASSERT_THAT((expr), ::millrace::IsOk())

// Several statements: use it inside braces.
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  ASSERT_OK_AND_ASSIGN_IMPL_(           \
      MILLRACE_TEST_CONCAT_(millrace_status_or_, __LINE__), lhs, expr)
#define ASSERT_OK_AND_ASSIGN_IMPL_(result, lhs, expr) \
  auto result = (expr);                               \
  ASSERT_OK(result);                                  \
  lhs = *std::move(result)
#define MILLRACE_TEST_CONCAT_IMPL_(a, b) a##b
#define MILLRACE_TEST_CONCAT_(a, b) MILLRACE_TEST_CONCAT_IMPL_(a, b)

#endif  // MILLRACE_TESTS_SUPPORT_STATUS_MATCHERS_H_
