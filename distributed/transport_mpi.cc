#include "distributed/transport_mpi.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"

namespace millrace::distributed {
namespace {

// Elements of one MPI call: far below MPI's 2^31, and small enough that the
// parts of a large sum follow each other through the network.
constexpr int64_t kSumElements = int64_t{4} << 20;
constexpr int64_t kBroadcastBytes = int64_t{64} << 20;

// OK for MPI_SUCCESS. Unavailable otherwise: what fails inside MPI is the
// network or a peer.
absl::Status MpiStatus(int rc, absl::string_view what) {
  if (rc == MPI_SUCCESS) return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(rc, text, &length) != MPI_SUCCESS) length = 0;
  return absl::UnavailableError(absl::StrCat(what, ": MPI error ", rc, ": ",
                                             absl::string_view(text, length)));
}

MPI_Datatype DatatypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    default:
      return MPI_INT64_T;
  }
}

// MPI requests that are through together.
class MpiRequest : public Transport::Request {
 public:
  MpiRequest(std::string what, std::vector<MPI_Request> requests)
      : what_(std::move(what)), requests_(std::move(requests)) {}

  // Requests that are not through can't be freed: MPI still writes.
  ~MpiRequest() override = default;

  absl::StatusOr<bool> Test() override {
    int done = 0;
    MILLRACE_RETURN_IF_ERROR(
        MpiStatus(MPI_Testall(static_cast<int>(requests_.size()),
                              requests_.data(), &done, MPI_STATUSES_IGNORE),
                  what_));
    return done != 0;
  }

 private:
  const std::string what_;
  std::vector<MPI_Request> requests_;
};

class MpiTransport : public Transport {
 public:
  // Makes the communicators; a collective.
  static absl::StatusOr<std::unique_ptr<Transport>> Create();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }

  absl::StatusOr<std::unique_ptr<Request>> StartBarrier() override;
  absl::StatusOr<std::unique_ptr<Request>> StartAllGather(
      const char* mine, char* all, absl::Span<const int64_t> sizes) override;
  absl::StatusOr<std::unique_ptr<Request>> StartBroadcast(char* bytes,
                                                          int64_t size,
                                                          int root) override;
  absl::StatusOr<std::unique_ptr<Request>> StartSum(
      const TensorView& tensor) override;
  absl::Status Send(int to, const ControlMessage& message) override;
  absl::StatusOr<bool> SendsAreThrough() override;
  absl::StatusOr<std::optional<ControlMessage>> Receive() override;
  absl::Status Finalize() override;

 private:
  struct Outgoing {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  MpiTransport() : incoming_(ControlMessage::kMaxBytes) {}

  absl::Status ReadPlace();
  absl::Status MakeCommunicators();
  // Waits in the background for the next message.
  absl::Status PostReceive();

  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  // Apart, so that their traffic never waits for each other or matches another
  // kind's.
  MPI_Comm collectives_ = MPI_COMM_NULL;
  MPI_Comm sums_ = MPI_COMM_NULL;
  MPI_Comm control_ = MPI_COMM_NULL;
  // Buffers stay where they are while MPI sends them.
  std::deque<Outgoing> outgoing_;
  std::vector<char> incoming_;
  MPI_Request receive_ = MPI_REQUEST_NULL;
};

absl::StatusOr<std::unique_ptr<Transport>> MpiTransport::Create() {
  std::unique_ptr<MpiTransport> transport(new MpiTransport);
  MILLRACE_RETURN_IF_ERROR(transport->MakeCommunicators());
  MILLRACE_RETURN_IF_ERROR(transport->ReadPlace());
  MILLRACE_RETURN_IF_ERROR(transport->PostReceive());
  return transport;
}

absl::Status MpiTransport::MakeCommunicators() {
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
                "MPI_Comm_set_errhandler"));
  // The others inherit it.
  for (MPI_Comm* comm : {&collectives_, &sums_, &control_}) {
    MILLRACE_RETURN_IF_ERROR(
        MpiStatus(MPI_Comm_dup(MPI_COMM_WORLD, comm), "MPI_Comm_dup"));
  }
  return absl::OkStatus();
}

absl::Status MpiTransport::ReadPlace() {
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank"));
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size"));
  MPI_Comm local = MPI_COMM_NULL;
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED,
                                    /*key=*/0, MPI_INFO_NULL, &local),
                "MPI_Comm_split_type"));
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_rank(local, &local_rank_), "MPI_Comm_rank"));
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_size(local, &local_size_), "MPI_Comm_size"));
  return MpiStatus(MPI_Comm_free(&local), "MPI_Comm_free");
}

absl::StatusOr<std::unique_ptr<Transport::Request>>
MpiTransport::StartBarrier() {
  std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Ibarrier(collectives_, &requests[0]), "MPI_Ibarrier"));
  return std::make_unique<MpiRequest>("MPI_Ibarrier", std::move(requests));
}

absl::StatusOr<std::unique_ptr<Transport::Request>>
MpiTransport::StartAllGather(const char* mine, char* all,
                             absl::Span<const int64_t> sizes) {
  // One array for both, kept as long as the request: MPI need not copy them.
  auto counts = std::make_unique<std::vector<int>>(2 * size_);
  int offset = 0;
  for (int r = 0; r < size_; ++r) {
    (*counts)[r] = static_cast<int>(sizes[r]);
    (*counts)[size_ + r] = offset;
    offset += static_cast<int>(sizes[r]);
  }
  class AllGatherRequest : public MpiRequest {
   public:
    AllGatherRequest(std::vector<MPI_Request> requests,
                     std::unique_ptr<std::vector<int>> counts)
        : MpiRequest("MPI_Iallgatherv", std::move(requests)),
          counts_(std::move(counts)) {}

   private:
    const std::unique_ptr<std::vector<int>> counts_;
  };
  std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Iallgatherv(mine, static_cast<int>(sizes[rank_]), MPI_BYTE,
                                all, counts->data(), counts->data() + size_,
                                MPI_BYTE, collectives_, &requests[0]),
                "MPI_Iallgatherv"));
  return std::make_unique<AllGatherRequest>(std::move(requests),
                                            std::move(counts));
}

absl::StatusOr<std::unique_ptr<Transport::Request>>
MpiTransport::StartBroadcast(char* bytes, int64_t size, int root) {
  std::vector<MPI_Request> requests;
  for (int64_t begin = 0; begin < size; begin += kBroadcastBytes) {
    const int count = static_cast<int>(std::min(kBroadcastBytes, size - begin));
    requests.push_back(MPI_REQUEST_NULL);
    MILLRACE_RETURN_IF_ERROR(
        MpiStatus(MPI_Ibcast(bytes + begin, count, MPI_BYTE, root, collectives_,
                             &requests.back()),
                  "MPI_Ibcast"));
  }
  return std::make_unique<MpiRequest>("MPI_Ibcast", std::move(requests));
}

absl::StatusOr<std::unique_ptr<Transport::Request>> MpiTransport::StartSum(
    const TensorView& tensor) {
  const int64_t elements = ElementCount(tensor.shape);
  std::vector<MPI_Request> requests;
  for (int64_t begin = 0; begin < elements; begin += kSumElements) {
    const int count =
        static_cast<int>(std::min(kSumElements, elements - begin));
    char* part = tensor.As<char>() + begin * ByteSize(tensor.dtype);
    requests.push_back(MPI_REQUEST_NULL);
    MILLRACE_RETURN_IF_ERROR(MpiStatus(
        MPI_Iallreduce(MPI_IN_PLACE, part, count, DatatypeOf(tensor.dtype),
                       MPI_SUM, sums_, &requests.back()),
        "MPI_Iallreduce"));
  }
  return std::make_unique<MpiRequest>("MPI_Iallreduce", std::move(requests));
}

absl::Status MpiTransport::Send(int to, const ControlMessage& message) {
  outgoing_.emplace_back();
  Outgoing& outgoing = outgoing_.back();
  outgoing.bytes = message.bytes;
  return MpiStatus(
      MPI_Isend(outgoing.bytes.data(), static_cast<int>(outgoing.bytes.size()),
                MPI_BYTE, to, message.kind, control_, &outgoing.request),
      "MPI_Isend");
}

absl::StatusOr<bool> MpiTransport::SendsAreThrough() {
  for (Outgoing& outgoing : outgoing_) {
    int done = 0;
    MILLRACE_RETURN_IF_ERROR(MpiStatus(
        MPI_Test(&outgoing.request, &done, MPI_STATUS_IGNORE), "MPI_Isend"));
    if (!done) return false;
  }
  outgoing_.clear();
  return true;
}

absl::Status MpiTransport::PostReceive() {
  return MpiStatus(
      MPI_Irecv(incoming_.data(), static_cast<int>(incoming_.size()), MPI_BYTE,
                MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &receive_),
      "MPI_Irecv");
}

absl::StatusOr<std::optional<ControlMessage>> MpiTransport::Receive() {
  int done = 0;
  MPI_Status status;
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Test(&receive_, &done, &status), "MPI_Irecv"));
  if (!done) return std::optional<ControlMessage>();
  int count = 0;
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count"));
  ControlMessage message = {status.MPI_SOURCE, status.MPI_TAG,
                            std::string(incoming_.data(), count)};
  MILLRACE_RETURN_IF_ERROR(PostReceive());
  return std::optional<ControlMessage>(std::move(message));
}

absl::Status MpiTransport::Finalize() {
  // The communicators are not freed one by one: after a failure collectives may
  // be left in them, and MPI_Finalize takes all with it.
  MILLRACE_RETURN_IF_ERROR(MpiStatus(MPI_Cancel(&receive_), "MPI_Cancel"));
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Wait(&receive_, MPI_STATUS_IGNORE), "MPI_Wait"));
  return MpiStatus(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> JoinMpi() {
  int initialized = 0;
  MILLRACE_RETURN_IF_ERROR(
      MpiStatus(MPI_Initialized(&initialized), "MPI_Initialized"));
  if (initialized) {
    return absl::FailedPreconditionError(
        "MPI was initialised by somebody else in this process");
  }
  // The thread that initialises it is the only one to call it.
  int provided = MPI_THREAD_SINGLE;
  MILLRACE_RETURN_IF_ERROR(MpiStatus(
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided),
      "MPI_Init_thread"));
  if (provided < MPI_THREAD_FUNNELED) {
    return absl::FailedPreconditionError(
        "this MPI library can't be used in a program with threads");
  }
  return MpiTransport::Create();
}

std::string MpiLibraryVersion() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";
  // The first part, before package and date.
  const absl::string_view version(text, length);
  return std::string(version.substr(0, version.find_first_of(",\n")));
}

}  // namespace millrace::distributed
