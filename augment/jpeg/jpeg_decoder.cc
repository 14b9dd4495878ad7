#include "augment/jpeg/jpeg_decoder.h"

#include <setjmp.h>
#include <stdio.h>
// After <stdio.h>, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "augment/jpeg/jpeg_markers.h"
#include "augment/luminance.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

// libjpeg reports errors by a call that must not return: it jumps back to where
// the session was entered.
struct ErrorManager {
  // First, since libjpeg hands out a pointer to it.
  jpeg_error_mgr base;
  jmp_buf jump;
  // The entropy-coded data were too short for the image.
  bool starved;
};

ErrorManager* ManagerOf(j_common_ptr jpeg) {
  return reinterpret_cast<ErrorManager*>(jpeg->err);
}

[[noreturn]] void JumpOut(j_common_ptr jpeg) {
  longjmp(ManagerOf(jpeg)->jump, 1);
}

// Warnings (level -1) and traces: none is printed.
void NoteMessage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  const int code = jpeg->err->msg_code;
  if (code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC) {
    ManagerOf(jpeg)->starved = true;
  }
}

void PrintNothing(j_common_ptr) {}

// A decompressor for one image. A fresh one each time: tables that a broken
// image leaves behind would else be used for the next.
struct Session {
  Session() {
    std::memset(&jpeg, 0, sizeof(jpeg));
    jpeg.err = jpeg_std_error(&error.base);
    error.base.error_exit = JumpOut;
    error.base.emit_message = NoteMessage;
    error.base.output_message = PrintNothing;
    error.starved = false;
  }
  ~Session() { jpeg_destroy_decompress(&jpeg); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  absl::Status Failure();

  jpeg_decompress_struct jpeg;
  ErrorManager error;
};

absl::Status Session::Failure() {
  char text[JMSG_LENGTH_MAX];
  error.base.format_message(reinterpret_cast<j_common_ptr>(&jpeg), text);
  switch (error.base.msg_code) {
    case JERR_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for decoding a JPEG: ", text));
    case JERR_ARITH_NOTIMPL:
      return absl::DataLossError(
          "JPEG: arithmetic coding not supported by this libjpeg");
    default:
      return absl::DataLossError(absl::StrCat("damaged JPEG: ", text));
  }
}

// The functions that libjpeg may jump back into hold nothing that needs a
// destructor: false means that it did, and Session::Failure() says why.

bool Open(absl::string_view bytes, Session* session) {
  jpeg_decompress_struct* jpeg = &session->jpeg;
  if (setjmp(session->error.jump) != 0) return false;
  jpeg_create_decompress(jpeg);
  jpeg_mem_src(jpeg, reinterpret_cast<const unsigned char*>(bytes.data()),
               bytes.size());
  jpeg_read_header(jpeg, TRUE);
  return true;
}

// Reads all coefficients; *all_there tells whether no bit of any is missing.
bool ReadAllCoefficients(Session* session, bool* all_there) {
  jpeg_decompress_struct* jpeg = &session->jpeg;
  if (setjmp(session->error.jump) != 0) return false;
  jpeg_read_coefficients(jpeg);
  *all_there = !session->error.starved;
  if (jpeg->coef_bits == nullptr) return true;
  for (int c = 0; c < jpeg->num_components; ++c) {
    for (int k = 0; k < DCTSIZE2; ++k) {
      // The bit that the last scan of coefficient k left to be refined.
      if (jpeg->coef_bits[c][k] != 0) *all_there = false;
    }
  }
  return true;
}

bool Start(const DecodeRequest& request, Session* session) {
  jpeg_decompress_struct* jpeg = &session->jpeg;
  if (setjmp(session->error.jump) != 0) return false;
  jpeg->dct_method = JDCT_ISLOW;
  jpeg->do_fancy_upsampling = TRUE;
  jpeg->out_color_space = jpeg->num_components == 4   ? JCS_CMYK
                          : jpeg->num_components == 1 ? JCS_GRAYSCALE
                                                      : JCS_RGB;
  jpeg->scale_num = 1;
  jpeg->scale_denom = static_cast<unsigned>(request.scale);
  jpeg_start_decompress(jpeg);
  return true;
}

// Pillow's conversion: products of bytes divided by 255, rounded.
uint8_t MultiplyBytes(int a, int b) {
  const int product = a * b + 128;
  return static_cast<uint8_t>(((product >> 8) + product) >> 8);
}

// Converts `width` pixels as libjpeg gives them to those of `channels`.
void ConvertRow(const uint8_t* in, int components, int width, uint8_t* out,
                int channels) {
  if (components == channels) {
    std::memcpy(out, in, static_cast<size_t>(width) * channels);
    return;
  }
  for (int x = 0; x < width; ++x, in += components, out += channels) {
    uint8_t rgb[3] = {in[0], in[0], in[0]};
    if (components == 3) std::copy(in, in + 3, rgb);
    if (components == 4) {
      // Adobe stores 255 - ink, so the bytes are what the inks let through.
      for (int c = 0; c < 3; ++c) {
        rgb[c] =
            static_cast<uint8_t>(in[3] - MultiplyBytes(255 - in[c], in[3]));
      }
    }
    if (channels == 3) {
      std::copy(rgb, rgb + 3, out);
    } else {
      *out = Luminance(rgb[0], rgb[1], rgb[2]);
    }
  }
}

bool ReadRows(const Region& region, uint8_t* row, const ImageView& out,
              Session* session) {
  jpeg_decompress_struct* jpeg = &session->jpeg;
  if (setjmp(session->error.jump) != 0) return false;
  const int components = jpeg->output_components;
  const int bottom = region.top + region.height;
  // Rows above the region are decoded and dropped, those below never decoded.
  for (int y = 0; y < bottom; ++y) {
    const bool wanted = y >= region.top;
    const bool direct = wanted && components == out.channels &&
                        region.width == static_cast<int>(jpeg->output_width);
    JSAMPROW target = direct ? out.row(y - region.top) : row;
    jpeg_read_scanlines(jpeg, &target, 1);
    if (wanted && !direct) {
      ConvertRow(row + static_cast<size_t>(region.left) * components,
                 components, region.width, out.row(y - region.top),
                 out.channels);
    }
  }
  return true;
}

// A file without end marker is good if its entropy-coded data suffice. That
// can't be told of arithmetic coding, whose decoder reads zeros behind the end.
absl::Status CheckCoefficients(absl::string_view bytes,
                               const JpegFrame& frame) {
  const bool arithmetic = frame.sof > 0xC8;
  bool all_there = false;
  if (!arithmetic) {
    Session session;
    if (!Open(bytes, &session) || !ReadAllCoefficients(&session, &all_there)) {
      return session.Failure();
    }
  }
  if (!all_there) {
    return absl::DataLossError(
        absl::StrCat("truncated JPEG: image data end early, after ",
                     bytes.size(), " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JpegDecoder::Decode(absl::string_view bytes, const ImageHeader&,
                                 const DecodeRequest& request,
                                 const ImageView& out) {
  MILLRACE_ASSIGN_OR_RETURN(const JpegFrame frame, ReadJpegFrame(bytes));
  MILLRACE_ASSIGN_OR_RETURN(const JpegEnd end, FindJpegEnd(bytes, frame));
  if (end == JpegEnd::kNoEndMarker) {
    MILLRACE_RETURN_IF_ERROR(CheckCoefficients(bytes, frame));
  }

  Session session;
  if (!Open(bytes, &session) || !Start(request, &session)) {
    return session.Failure();
  }
  const int width = static_cast<int>(session.jpeg.output_width);
  const int height = static_cast<int>(session.jpeg.output_height);
  const Region& region = request.region;
  if (region.top + region.height > height ||
      region.left + region.width > width) {
    return absl::DataLossError(
        absl::StrCat("damaged JPEG: ", height, " x ", width,
                     " pixels when decoded, more in its header"));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const ImageView row,
      row_.Allocate(1, width, session.jpeg.output_components));
  if (!ReadRows(region, row.data, out, &session)) return session.Failure();
  return absl::OkStatus();
}

}  // namespace millrace::augment
