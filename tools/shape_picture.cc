#include "tools/shape_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "opencv2/imgproc.hpp"

namespace millrace::tools {
namespace {

using Contour = std::vector<cv::Point2f>;
// Contours within the unit circle; where two overlap there is a hole.
using Outline = std::vector<Contour>;

constexpr float kPi = 3.14159265f;

constexpr absl::string_view kClasses[] = {
    "arrow", "bar",  "circle", "crescent", "cross",
    "heart", "ring", "square", "star",     "triangle"};

// Corners at `radii`, taken in turn, evenly around the centre.
Contour Polygon(int corners, std::initializer_list<float> radii) {
  Contour contour;
  for (int i = 0; i < corners; ++i) {
    const float angle =
        2 * kPi * static_cast<float>(i) / static_cast<float>(corners);
    const float radius = *(radii.begin() + i % static_cast<int>(radii.size()));
    contour.emplace_back(radius * std::cos(angle), radius * std::sin(angle));
  }
  return contour;
}

// An arc of a circle around (centre, 0), both angles included.
void AppendArc(float centre, float radius, float from, float to,
               Contour& contour) {
  constexpr int kSteps = 32;
  for (int i = 0; i <= kSteps; ++i) {
    const float angle = from + (to - from) * static_cast<float>(i) / kSteps;
    contour.emplace_back(centre + radius * std::cos(angle),
                         radius * std::sin(angle));
  }
}

Contour Crescent() {
  // The unit circle without a circle of kRadius around (kShift, 0).
  constexpr float kShift = 0.55f, kRadius = 0.8f;
  const float x = (1 - kRadius * kRadius + kShift * kShift) / (2 * kShift);
  const float outer = std::acos(x);
  const float inner = std::acos((x - kShift) / kRadius);
  Contour contour;
  AppendArc(0, 1, outer, 2 * kPi - outer, contour);
  AppendArc(kShift, kRadius, 2 * kPi - inner, inner, contour);
  return contour;
}

Contour Heart() {
  Contour contour;
  for (int i = 0; i < 64; ++i) {
    const float t = 2 * kPi * static_cast<float>(i) / 64;
    contour.emplace_back(std::pow(std::sin(t), 3.0f),
                         -(13 * std::cos(t) - 5 * std::cos(2 * t) -
                           2 * std::cos(3 * t) - std::cos(4 * t)) /
                             16);
  }
  return contour;
}

Outline OutlineOf(int shape) {
  switch (shape) {
    case 0:  // Arrow.
      return {{{-1, -0.2f},
               {0.1f, -0.2f},
               {0.1f, -0.7f},
               {1, 0},
               {0.1f, 0.7f},
               {0.1f, 0.2f},
               {-1, 0.2f}}};
    case 1:  // Bar.
      return {{{-1, -0.18f}, {1, -0.18f}, {1, 0.18f}, {-1, 0.18f}}};
    case 2:  // Circle.
      return {Polygon(48, {0.9f})};
    case 3:
      return {Crescent()};
    case 4: {  // Cross.
      constexpr float kArm = 0.3f;
      return {{{-1, -kArm},
               {-kArm, -kArm},
               {-kArm, -1},
               {kArm, -1},
               {kArm, -kArm},
               {1, -kArm},
               {1, kArm},
               {kArm, kArm},
               {kArm, 1},
               {-kArm, 1},
               {-kArm, kArm},
               {-1, kArm}}};
    }
    case 5:
      return {Heart()};
    case 6:  // Ring.
      return {Polygon(48, {1}), Polygon(48, {0.6f})};
    case 7:  // Square.
      return {Polygon(4, {1})};
    case 8:  // Star.
      return {Polygon(10, {1, 0.42f})};
    default:  // Triangle.
      return {Polygon(3, {1})};
  }
}

// A colour of the picture: RGB.
using Color = cv::Scalar;

Color AnyColor(Generator& generator) {
  const double r = generator.Uniform(0, 255);
  const double g = generator.Uniform(0, 255);
  const double b = generator.Uniform(0, 255);
  return {r, g, b};
}

// A dark colour, grey or nearly so, so that what is bright stands out in a grey
// picture too.
Color BackgroundColor(Generator& generator) {
  const double luma = generator.Uniform(10, 80);
  Color color;
  for (int c = 0; c < 3; ++c) color[c] = luma * generator.Uniform(0.6f, 1.4f);
  return color;
}

// Places of the classes on the colour circle, in tenths of it: neighbours there
// are unlike in shape.
constexpr int kHuePlaces[] = {9, 4, 0, 8, 7, 3, 6, 2, 1, 5};

// A bright colour. Its hue is drawn from a part of the colour circle around the
// class's own place, wide enough to overlap with its neighbours': colour alone
// does not tell the class, but it makes a start for a network.
Color ShapeColor(int shape, Generator& generator) {
  constexpr float kTenth = 0.6f;
  float hue = kTenth * (static_cast<float>(kHuePlaces[shape]) +
                        generator.Uniform(-0.55f, 0.55f));
  if (hue < 0) hue += 6;
  const double brightness = generator.Uniform(190, 255);
  const double whiteness = generator.Uniform(0.1f, 0.4f);
  Color color;
  for (int c = 0; c < 3; ++c) {
    // Red, green and blue have their peaks a third of the circle apart.
    const float distance =
        std::abs(std::remainder(hue - 2 * static_cast<float>(c), 6.0f));
    const double pure = std::clamp(2 - distance, 0.0f, 1.0f);
    color[c] = brightness * (whiteness + (1 - whiteness) * pure);
  }
  return color;
}

// `color` with soft clouds of a neighbouring one.
cv::Mat Background(cv::Size size, const Color& color, Generator& generator) {
  cv::Mat coarse(4, 4, CV_8UC3);
  for (int y = 0; y < coarse.rows; ++y) {
    for (int x = 0; x < coarse.cols; ++x) {
      cv::Vec3b& pixel = coarse.at<cv::Vec3b>(y, x);
      for (int c = 0; c < 3; ++c) {
        pixel[c] =
            cv::saturate_cast<uchar>(color[c] + generator.Uniform(-20, 20));
      }
    }
  }
  cv::Mat picture;
  cv::resize(coarse, picture, size, 0, 0, cv::INTER_LINEAR);
  return picture;
}

struct Placement {
  cv::Point2f centre;
  float radius = 0;
};

// Up to `count` places that overlap little and lie within the picture but for a
// part of their rim. The first is always found.
std::vector<Placement> Placements(cv::Size size, int count,
                                  Generator& generator) {
  const float side = static_cast<float>(std::min(size.width, size.height));
  std::vector<Placement> placements;
  for (int attempt = 0;
       attempt < 60 && static_cast<int>(placements.size()) < count; ++attempt) {
    Placement placement;
    placement.radius = side * generator.Uniform(0.19f, 0.28f);
    const float margin = 0.8f * placement.radius;
    placement.centre.x =
        generator.Uniform(margin, static_cast<float>(size.width) - margin);
    placement.centre.y =
        generator.Uniform(margin, static_cast<float>(size.height) - margin);
    const bool is_free =
        std::none_of(placements.begin(), placements.end(),
                     [&placement](const Placement& other) {
                       return cv::norm(placement.centre - other.centre) <
                              0.9f * (placement.radius + other.radius);
                     });
    if (is_free) placements.push_back(placement);
  }
  return placements;
}

void DrawShape(int shape, const Placement& placement, const Color& color,
               Generator& generator, cv::Mat& picture) {
  constexpr int kFractionBits = 4;
  const float angle = generator.Uniform(-kPi / 5, kPi / 5);
  const float cosine = std::cos(angle), sine = std::sin(angle);
  // Stretched by up to a tenth each way before it is turned.
  const float stretch = generator.Uniform(0.9f, 1.1f);
  std::vector<std::vector<cv::Point>> contours;
  for (const Contour& contour : OutlineOf(shape)) {
    std::vector<cv::Point>& points = contours.emplace_back();
    for (const cv::Point2f& corner : contour) {
      const float x = corner.x * stretch, y = corner.y / stretch;
      const cv::Point2f turned(cosine * x - sine * y, sine * x + cosine * y);
      points.emplace_back((placement.centre + placement.radius * turned) *
                          (1 << kFractionBits));
    }
  }
  cv::fillPoly(picture, contours, color, cv::LINE_AA, kFractionBits);
}

// A thin line across the whole picture, and spots on rims, now and then.
void Occlude(const std::vector<Placement>& placements, Generator& generator,
             cv::Mat& picture) {
  const float side = static_cast<float>(std::min(picture.cols, picture.rows));
  if (generator.Rand() < 0.5f) {
    const cv::Point from(static_cast<int>(generator.RandInt(picture.cols)), 0);
    const cv::Point to(static_cast<int>(generator.RandInt(picture.cols)),
                       picture.rows - 1);
    const Color color = AnyColor(generator);
    const int thickness =
        1 + static_cast<int>(side * generator.Uniform(0, 0.02f));
    cv::line(picture, from, to, color, thickness, cv::LINE_AA);
  }
  for (const Placement& placement : placements) {
    if (generator.Rand() < 0.75f) continue;
    const float angle = generator.Uniform(0, 2 * kPi);
    const cv::Point2f rim =
        placement.centre +
        placement.radius * cv::Point2f(std::cos(angle), std::sin(angle));
    cv::circle(picture, rim, static_cast<int>(0.25f * placement.radius),
               AnyColor(generator), cv::FILLED, cv::LINE_AA);
  }
}

// Takes one word a byte: a use of PhiloxGenerator has more than the largest
// picture needs.
void AddNoise(Generator& generator, cv::Mat& picture) {
  const float strength = generator.Uniform(0, 10);
  for (int y = 0; y < picture.rows; ++y) {
    uchar* const row = picture.ptr<uchar>(y);
    for (int x = 0; x < picture.cols * 3; ++x) {
      row[x] = cv::saturate_cast<uchar>(static_cast<float>(row[x]) +
                                        generator.Uniform(-strength, strength));
    }
  }
}

}  // namespace

absl::Span<const absl::string_view> ShapeClasses() { return kClasses; }

cv::Mat DrawShapePicture(int shape, Generator& generator) {
  const int height = 80 + static_cast<int>(generator.RandInt(161));
  // Between 2:3 and 3:2.
  const int width = std::clamp(static_cast<int>(static_cast<float>(height) *
                                                generator.Uniform(0.67f, 1.5f)),
                               80, 240);
  const Color background = BackgroundColor(generator);
  cv::Mat picture = Background({width, height}, background, generator);
  // Several, so that most random crops hold a whole one.
  const int count = 2 + static_cast<int>(generator.RandInt(6));
  const std::vector<Placement> placements =
      Placements(picture.size(), count, generator);
  for (const Placement& placement : placements) {
    DrawShape(shape, placement, ShapeColor(shape, generator), generator,
              picture);
  }
  Occlude(placements, generator, picture);
  AddNoise(generator, picture);
  return picture;
}

}  // namespace millrace::tools
