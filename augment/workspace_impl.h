#ifndef MILLRACE_AUGMENT_WORKSPACE_IMPL_H_
#define MILLRACE_AUGMENT_WORKSPACE_IMPL_H_

#include "augment/image_decoder.h"
#include "augment/image_stage.h"
#include "augment/jpeg/jpeg_decoder.h"
#include "augment/opencv_decoder.h"
#include "augment/pnm_decoder.h"
#include "augment/workspace.h"

namespace millrace::augment {

// What a workspace has in it; for Pipeline alone.
struct Workspace::Impl {
  ImageDecoder* DecoderOf(ImageFormat format) {
    switch (format) {
      case ImageFormat::kJpeg:
        return &jpeg;
      case ImageFormat::kPnm:
        return &pnm;
      default:
        return &opencv;
    }
  }

  JpegDecoder jpeg;
  PnmDecoder pnm;
  OpencvDecoder opencv;
  ImageStage stage;
  Times times;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_WORKSPACE_IMPL_H_
