#include "augment/transforms.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

constexpr int kMaxSize = 65535;

absl::Status OutOfRange(absl::string_view transform, absl::string_view argument,
                        double value, absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(transform, ": ", argument, " is ", value, ", want ", range));
}

// `width` may be 0, where it says something of its own.
absl::Status CheckSize(absl::string_view transform, int size, int width) {
  if (size < 1 || size > kMaxSize) {
    return OutOfRange(transform, "size", size, "1 to 65535");
  }
  if (width < 0 || width > kMaxSize) {
    return OutOfRange(transform, "width", width, "0 to 65535");
  }
  return absl::OkStatus();
}

// The comparison is false for NaN too.
absl::Status CheckRange(absl::string_view transform, absl::string_view argument,
                        double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return OutOfRange(transform, argument, value,
                    absl::StrCat(low, " to ", high));
}

absl::Status Check(const Resize& t) {
  return CheckSize("Resize", t.size, t.width);
}

absl::Status Check(const CenterCrop& t) {
  return CheckSize("CenterCrop", t.size, t.width);
}

absl::Status Check(const RandomResizedCrop& t) {
  constexpr absl::string_view kName = "RandomResizedCrop";
  MILLRACE_RETURN_IF_ERROR(CheckSize(kName, t.size, t.width));
  if (!(t.scale.first > 0 && t.scale.first <= t.scale.second &&
        t.scale.second <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat(kName, ": scale is (", t.scale.first, ", ", t.scale.second,
                     "), want 0 < low <= high <= 1"));
  }
  constexpr double kMinRatio = 1e-4;
  constexpr double kMaxRatio = 1e4;
  if (!(t.ratio.first >= kMinRatio && t.ratio.first <= t.ratio.second &&
        t.ratio.second <= kMaxRatio)) {
    return absl::InvalidArgumentError(
        absl::StrCat(kName, ": ratio is (", t.ratio.first, ", ", t.ratio.second,
                     "), want 1e-4 <= low <= high <= 1e4"));
  }
  return absl::OkStatus();
}

absl::Status Check(const RandomHorizontalFlip& t) {
  return CheckRange("RandomHorizontalFlip", "p", t.p, 0, 1);
}

absl::Status Check(const RandomRotation& t) {
  return CheckRange("RandomRotation", "degrees", t.degrees, 0, 36000);
}

absl::Status Check(const ColorJitter& t) {
  constexpr absl::string_view kName = "ColorJitter";
  constexpr double kMax = 1000;
  MILLRACE_RETURN_IF_ERROR(
      CheckRange(kName, "brightness", t.brightness, 0, kMax));
  MILLRACE_RETURN_IF_ERROR(CheckRange(kName, "contrast", t.contrast, 0, kMax));
  MILLRACE_RETURN_IF_ERROR(
      CheckRange(kName, "saturation", t.saturation, 0, kMax));
  return CheckRange(kName, "hue", t.hue, 0, 0.5);
}

absl::Status Check(const ToTensor&) { return absl::OkStatus(); }

absl::Status Check(const Normalize& t) {
  for (int c = 0; c < 3; ++c) {
    if (!std::isfinite(t.mean[c])) {
      return OutOfRange("Normalize", absl::StrCat("mean[", c, "]"), t.mean[c],
                        "a number");
    }
    if (!(t.std[c] > 0) || !std::isfinite(t.std[c])) {
      return OutOfRange("Normalize", absl::StrCat("std[", c, "]"), t.std[c],
                        "more than 0");
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const Custom& t) {
  if (t.name.empty()) {
    return absl::InvalidArgumentError("Custom: name is empty");
  }
  if (t.apply == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("Custom ", t.name, ": apply is empty"));
  }
  return absl::OkStatus();
}

std::string Call(absl::string_view name,
                 const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::string(name);
  return absl::StrCat(name, "(", absl::StrJoin(arguments, ", "), ")");
}

std::vector<std::string> SizeArguments(int size, int width) {
  std::vector<std::string> arguments = {absl::StrCat(size)};
  if (width != 0) arguments.push_back(absl::StrCat(width));
  return arguments;
}

std::string Tuple(absl::string_view name, std::pair<double, double> value) {
  return absl::StrCat(name, "=(", value.first, ", ", value.second, ")");
}

std::string Text(const Resize& t) {
  return Call("Resize", SizeArguments(t.size, t.width));
}

std::string Text(const CenterCrop& t) {
  return Call("CenterCrop", SizeArguments(t.size, t.width));
}

std::string Text(const RandomResizedCrop& t) {
  const RandomResizedCrop defaults;
  std::vector<std::string> arguments = SizeArguments(t.size, t.width);
  if (t.scale != defaults.scale) arguments.push_back(Tuple("scale", t.scale));
  if (t.ratio != defaults.ratio) arguments.push_back(Tuple("ratio", t.ratio));
  return Call("RandomResizedCrop", arguments);
}

std::string Text(const RandomHorizontalFlip& t) {
  std::vector<std::string> arguments;
  if (t.p != RandomHorizontalFlip().p) arguments.push_back(absl::StrCat(t.p));
  return Call("RandomHorizontalFlip", arguments);
}

std::string Text(const RandomRotation& t) {
  return Call("RandomRotation", {absl::StrCat(t.degrees)});
}

std::string Text(const ColorJitter& t) {
  std::vector<std::string> arguments;
  for (const double value : {t.brightness, t.contrast, t.saturation, t.hue}) {
    arguments.push_back(absl::StrCat(value));
  }
  while (!arguments.empty() && arguments.back() == "0") arguments.pop_back();
  return Call("ColorJitter", arguments);
}

std::string Text(const ToTensor&) { return "ToTensor"; }

std::string Text(const Normalize& t) {
  const Normalize imagenet;
  if (t.mean == imagenet.mean && t.std == imagenet.std) {
    return "Normalize(imagenet)";
  }
  return absl::StrCat("Normalize(mean=(", absl::StrJoin(t.mean, ", "),
                      "), std=(", absl::StrJoin(t.std, ", "), "))");
}

std::string Text(const Custom& t) { return t.name; }

void AddNumbers(std::initializer_list<double> values, Hasher* hasher) {
  for (const double value : values) {
    int64_t bits = 0;
    static_assert(sizeof(bits) == sizeof(value));
    std::memcpy(&bits, &value, sizeof(bits));
    hasher->AddInt(bits);
  }
}

void Add(const Resize& t, Hasher* hasher) {
  hasher->AddInt(t.size).AddInt(t.width);
}

void Add(const CenterCrop& t, Hasher* hasher) {
  hasher->AddInt(t.size).AddInt(t.width);
}

void Add(const RandomResizedCrop& t, Hasher* hasher) {
  hasher->AddInt(t.size).AddInt(t.width);
  AddNumbers({t.scale.first, t.scale.second, t.ratio.first, t.ratio.second},
             hasher);
}

void Add(const RandomHorizontalFlip& t, Hasher* hasher) {
  AddNumbers({t.p}, hasher);
}

void Add(const RandomRotation& t, Hasher* hasher) {
  AddNumbers({t.degrees}, hasher);
}

void Add(const ColorJitter& t, Hasher* hasher) {
  AddNumbers({t.brightness, t.contrast, t.saturation, t.hue}, hasher);
}

void Add(const ToTensor&, Hasher*) {}

void Add(const Normalize& t, Hasher* hasher) {
  AddNumbers({t.mean[0], t.mean[1], t.mean[2], t.std[0], t.std[1], t.std[2]},
             hasher);
}

void Add(const Custom& t, Hasher* hasher) { hasher->AddString(t.name); }

}  // namespace

absl::Status Validate(const Transform& transform) {
  return std::visit([](const auto& t) { return Check(t); }, transform);
}

std::string ToString(const Transform& transform) {
  return std::visit([](const auto& t) { return Text(t); }, transform);
}

void AddToHash(const Transform& transform, Hasher* hasher) {
  // The place in the variant stands for the kind: append new ones at its end.
  hasher->AddInt(static_cast<int64_t>(transform.index()));
  std::visit([hasher](const auto& t) { Add(t, hasher); }, transform);
}

}  // namespace millrace::augment
