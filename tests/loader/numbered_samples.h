#ifndef MILLRACE_TESTS_LOADER_NUMBERED_SAMPLES_H_
#define MILLRACE_TESTS_LOADER_NUMBERED_SAMPLES_H_

// A data set without images, and a transform that draws: what tests of order
// and randomness need, and nothing slower.

#include <cstdint>
#include <memory>

#include "loader/sample_transform.h"
#include "tests/support/faulty_dataset.h"

namespace millrace::loader {

// `size` samples. Sample i holds the int64 1000 + i and has the label
// i * classes / size: in class order, as converters write them.
std::shared_ptr<FaultyDataset> NumberedSamples(int64_t size,
                                               int64_t classes = 7);

// Makes one tensor, "draw": int64 [3], the sample's number and two random words
// of 32 bits.
std::shared_ptr<const SampleTransform> MakeDrawTransform();

}  // namespace millrace::loader

#endif  // MILLRACE_TESTS_LOADER_NUMBERED_SAMPLES_H_
