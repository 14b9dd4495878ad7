#include "augment/resample.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"

namespace millrace::augment {
namespace {

using Filter = ResampleScratch::Filter;

constexpr int kFractionBits = 22;
constexpr int32_t kHalf = 1 << (kFractionBits - 1);

uint8_t ToByte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

double Triangle(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

// The order of operations is Pillow's: each rounds.
void MakeFilter(int in_size, int out_size, std::vector<double>* exact,
                Filter* filter) {
  const double scale = static_cast<double>(in_size) / out_size;
  const double filter_scale = std::max(scale, 1.0);
  const double support = filter_scale;
  const double inverse = 1 / filter_scale;
  filter->stride = static_cast<int>(std::ceil(support)) * 2 + 1;
  filter->first.resize(out_size);
  filter->count.resize(out_size);
  filter->weights.resize(static_cast<size_t>(out_size) * filter->stride);
  exact->resize(filter->stride);
  for (int i = 0; i < out_size; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(center - support + 0.5));
    const int last =
        std::min(in_size, static_cast<int>(center + support + 0.5));
    const int count = last - first;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      (*exact)[k] = Triangle((k + first - center + 0.5) * inverse);
      sum += (*exact)[k];
    }
    int32_t* weights =
        &filter->weights[static_cast<size_t>(i) * filter->stride];
    for (int k = 0; k < count; ++k) {
      const double weight = sum != 0 ? (*exact)[k] / sum : (*exact)[k];
      // The triangle has no negative weights, so this rounds half away from 0.
      weights[k] = static_cast<int32_t>(0.5 + weight * (1 << kFractionBits));
    }
    filter->first[i] = first;
    filter->count[i] = count;
  }
}

template <int kChannels>
void ResampleRow(const uint8_t* in, const Filter& filter, int width,
                 uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    const int32_t* weights =
        &filter.weights[static_cast<size_t>(x) * filter.stride];
    const uint8_t* pixel = in + filter.first[x] * kChannels;
    int32_t sums[kChannels];
    std::fill_n(sums, kChannels, kHalf);
    for (int k = 0; k < filter.count[x]; ++k) {
      const int32_t weight = weights[k];
      for (int c = 0; c < kChannels; ++c) sums[c] += pixel[c] * weight;
      pixel += kChannels;
    }
    for (int c = 0; c < kChannels; ++c) *out++ = ToByte(sums[c]);
  }
}

void ResampleHorizontally(const ConstImageView& source, const Filter& filter,
                          const ImageView& target) {
  for (int y = 0; y < target.height; ++y) {
    if (target.channels == 3) {
      ResampleRow<3>(source.row(y), filter, target.width, target.row(y));
    } else {
      ResampleRow<1>(source.row(y), filter, target.width, target.row(y));
    }
  }
}

void ResampleVertically(const ConstImageView& source, const Filter& filter,
                        const ImageView& target, std::vector<int32_t>* sums) {
  const int bytes = target.width * target.channels;
  sums->resize(bytes);
  int32_t* sum = sums->data();
  for (int y = 0; y < target.height; ++y) {
    std::fill_n(sum, bytes, kHalf);
    const int32_t* weights =
        &filter.weights[static_cast<size_t>(y) * filter.stride];
    for (int k = 0; k < filter.count[y]; ++k) {
      const uint8_t* in = source.row(filter.first[y] + k);
      const int32_t weight = weights[k];
      for (int i = 0; i < bytes; ++i) sum[i] += in[i] * weight;
    }
    uint8_t* out = target.row(y);
    for (int i = 0; i < bytes; ++i) out[i] = ToByte(sum[i]);
  }
}

}  // namespace

int64_t ResampleScratch::ByteCount() const {
  int64_t bytes = between_.capacity() + sums_.capacity() * sizeof(int32_t) +
                  exact_weights_.capacity() * sizeof(double);
  for (const Filter* filter : {&horizontal_, &vertical_}) {
    bytes +=
        (filter->first.capacity() + filter->count.capacity()) * sizeof(int) +
        filter->weights.capacity() * sizeof(int32_t);
  }
  return bytes;
}

absl::Status Resample(const ConstImageView& source, const ImageView& target,
                      ResampleScratch* scratch) {
  const bool horizontal = source.width != target.width;
  const bool vertical = source.height != target.height;
  if (horizontal) {
    MakeFilter(source.width, target.width, &scratch->exact_weights_,
               &scratch->horizontal_);
  }
  if (vertical) {
    MakeFilter(source.height, target.height, &scratch->exact_weights_,
               &scratch->vertical_);
  }
  if (!horizontal && !vertical) {
    CopyImage(source, target);
  } else if (!vertical) {
    ResampleHorizontally(source, scratch->horizontal_, target);
  } else if (!horizontal) {
    ResampleVertically(source, scratch->vertical_, target, &scratch->sums_);
  } else {
    const int64_t rows_less = int64_t{source.height} - target.height;
    const int64_t columns_less = int64_t{source.width} - target.width;
    if (rows_less > 0 && rows_less > 2 * columns_less) {
      MILLRACE_ASSIGN_OR_RETURN(
          const ImageView between,
          scratch->between_.Allocate(target.height, source.width,
                                     source.channels));
      ResampleVertically(source, scratch->vertical_, between, &scratch->sums_);
      ResampleHorizontally(between, scratch->horizontal_, target);
    } else {
      MILLRACE_ASSIGN_OR_RETURN(
          const ImageView between,
          scratch->between_.Allocate(source.height, target.width,
                                     source.channels));
      ResampleHorizontally(source, scratch->horizontal_, between);
      ResampleVertically(between, scratch->vertical_, target, &scratch->sums_);
    }
  }
  return absl::OkStatus();
}

}  // namespace millrace::augment
