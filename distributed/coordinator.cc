#include "distributed/coordinator.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "distributed/disagreement.h"

namespace millrace::distributed {
namespace {

// Fields that a disagreement spells out.
constexpr size_t kMaxFieldsNamed = 5;

std::string Encode(const Terms& terms) {
  std::string bytes;
  for (const auto& [name, value] : terms) {
    absl::StrAppend(&bytes, name.size(), " ", value.size(), " ", name, value);
  }
  return bytes;
}

// Reads "NUMBER " off the front of `bytes`; false if it is not there.
bool ReadSize(absl::string_view* bytes, size_t* size) {
  const size_t blank = bytes->find(' ');
  if (blank == absl::string_view::npos ||
      !absl::SimpleAtoi(bytes->substr(0, blank), size)) {
    return false;
  }
  bytes->remove_prefix(blank + 1);
  return true;
}

absl::StatusOr<Terms> Decode(absl::string_view bytes) {
  Terms terms;
  while (!bytes.empty()) {
    size_t name = 0;
    size_t value = 0;
    if (!ReadSize(&bytes, &name) || !ReadSize(&bytes, &value) ||
        name > bytes.size() || value > bytes.size() - name) {
      return absl::DataLossError("a rank's terms can't be read");
    }
    terms.emplace_back(bytes.substr(0, name), bytes.substr(name, value));
    bytes.remove_prefix(name + value);
  }
  return terms;
}

// Every field of any rank once, in the order of the first rank that has it.
std::vector<std::string> FieldNames(const std::vector<Terms>& terms_of) {
  std::vector<std::string> names;
  for (const Terms& terms : terms_of) {
    for (const auto& term : terms) {
      if (std::find(names.begin(), names.end(), term.first) == names.end()) {
        names.push_back(term.first);
      }
    }
  }
  return names;
}

std::string ValueOf(const Terms& terms, const std::string& name) {
  for (const auto& term : terms) {
    if (term.first == name) return term.second;
  }
  return "(nothing)";
}

std::string DescribeDifferences(const std::vector<Terms>& terms_of) {
  std::vector<std::string> fields;
  for (const std::string& name : FieldNames(terms_of)) {
    std::vector<RankValue> values;
    for (size_t rank = 0; rank < terms_of.size(); ++rank) {
      values.push_back({static_cast<int>(rank), ValueOf(terms_of[rank], name)});
    }
    std::string difference = DescribeDifference(name, values);
    if (!difference.empty()) fields.push_back(std::move(difference));
  }
  // Equal values of every name, and yet other bytes.
  if (fields.empty()) return "the order of the fields";
  if (fields.size() > kMaxFieldsNamed) {
    const size_t more = fields.size() - kMaxFieldsNamed;
    fields.resize(kMaxFieldsNamed);
    fields.push_back(absl::StrCat(more, " more"));
  }
  return absl::StrJoin(fields, "; and on ");
}

}  // namespace

Coordinator::Coordinator(Communicator* communicator, absl::Duration timeout)
    : communicator_(communicator), timeout_(timeout) {}

absl::Status Coordinator::Agree(const std::string& what, const Terms& terms) {
  // Hashes first: with thousands of ranks the terms of all would be megabytes,
  // and they are almost always equal.
  const std::string bytes = Encode(terms);
  MILLRACE_ASSIGN_OR_RETURN(
      const std::vector<std::string> hashes,
      communicator_->AllGather(HashBytes(bytes).ToHex(), timeout_));
  if (std::all_of(hashes.begin(), hashes.end(),
                  [&](const std::string& hash) { return hash == hashes[0]; })) {
    return absl::OkStatus();
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> all_bytes,
                            communicator_->AllGather(bytes, timeout_));
  std::vector<Terms> terms_of;
  for (const std::string& encoded : all_bytes) {
    MILLRACE_ASSIGN_OR_RETURN(Terms decoded, Decode(encoded));
    terms_of.push_back(std::move(decoded));
  }
  return DisagreementError(what, DescribeDifferences(terms_of));
}

absl::StatusOr<uint64_t> Coordinator::AgreeOnSeed(
    std::optional<uint64_t> seed) {
  // A rank without one offers a draw of its own; only rank 0's may be taken.
  // 32 bits: easy to type again, and all that PyTorch's generator looks at.
  const uint64_t offer = seed.has_value() ? *seed : std::random_device()();
  const std::string bytes =
      absl::StrCat(seed.has_value() ? "user " : "draw ", offer);
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> offers,
                            communicator_->AllGather(bytes, timeout_));
  std::vector<RankValue> given;
  for (size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].compare(0, 5, "user ") == 0) {
      given.push_back({static_cast<int>(rank), offers[rank].substr(5)});
    }
  }
  const std::string difference = DescribeDifference("seed", given);
  if (!difference.empty()) return DisagreementError("start", difference);
  const std::string agreed =
      given.empty() ? offers[0].substr(5) : given[0].value;
  uint64_t value = 0;
  if (!absl::SimpleAtoi(agreed, &value)) {
    return absl::DataLossError("a rank's seed can't be read");
  }
  return value;
}

}  // namespace millrace::distributed
