// Starts a program on the ranks of a job, and exits with the code of the cause
// if it fails. `launch --help` shows how.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "distributed/exit_status.h"
#include "tools/child_process.h"
#include "tools/command_line.h"
#include "tools/rank_process.h"

ABSL_FLAG(int, n, 1, "Ranks to start. 1 runs the program itself, without MPI.");
ABSL_FLAG(std::string, hosts, "",
          "Where: host1:4,host2:4 (ranks on each). Default: this machine.");
ABSL_FLAG(std::string, hostfile, "", "The same as a file for mpirun.");
ABSL_FLAG(bool, oversubscribe, false, "Allow more ranks than there are cores.");
ABSL_FLAG(std::string, mpirun, "mpirun", "The mpirun program.");
ABSL_FLAG(std::string, mpirun_args, "",
          "Further arguments for mpirun, separated by blanks.");

namespace millrace::tools {
namespace {

constexpr char kUsage[] =
    "Runs a program on several ranks and exits with the code of the cause if\n"
    "it fails: 2 usage, 3 data, 4 storage, 5 communication or a lost rank,\n"
    "6 resources. INT and TERM go to one rank, which stops the others in good\n"
    "order; a second one ends all ranks at once.\n\n"
    "  launch -n 4 bazel-bin/tools/train --data=DIR";

// First argument of the copy of this program that runs each rank's program.
constexpr char kAsRank[] = "--as_rank";

// How long a signal waits for rank 0 to be ready to take it.
constexpr absl::Duration kReadyLimit = absl::Seconds(5);

// A folder that only this job uses, removed at the end.
class ScratchFolder {
 public:
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Create() {
    const char* base = std::getenv("TMPDIR");
    std::string path = absl::StrCat(
        base == nullptr || *base == '\0' ? "/tmp" : base, "/millrace.XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return ErrnoStatus(errno, absl::StrCat("create ", path));
    }
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(path));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string Join(absl::string_view name) const {
    return absl::StrCat(path_, "/", name);
  }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// Index in argv of the program to run: the first argument that is neither a
// flag nor a flag's value. argc if there is none.
int FindProgram(int argc, char** argv) {
  int i = 1;
  while (i < argc && argv[i][0] == '-') {
    const absl::string_view argument = argv[i++];
    if (argument == "--") break;
    const absl::string_view name =
        absl::StripPrefix(absl::StripPrefix(argument, "-"), "-");
    const bool alone = absl::StrContains(argument, '=') || name == "help" ||
                       name == "h" || absl::EndsWith(name, "oversubscribe");
    if (!alone) ++i;
  }
  return std::min(i, argc);
}

std::vector<std::string> MpirunCommand(
    const std::string& status_file, const std::string& ready_file,
    const std::vector<std::string>& program) {
  std::vector<std::string> command = {absl::GetFlag(FLAGS_mpirun), "-n",
                                      absl::StrCat(absl::GetFlag(FLAGS_n))};
  const auto add = [&command](const std::vector<std::string>& arguments) {
    command.insert(command.end(), arguments.begin(), arguments.end());
  };
  if (const std::string hosts = absl::GetFlag(FLAGS_hosts); !hosts.empty()) {
    add({"--host", hosts});
  }
  if (const std::string file = absl::GetFlag(FLAGS_hostfile); !file.empty()) {
    add({"--hostfile", file});
  }
  if (absl::GetFlag(FLAGS_oversubscribe)) add({"--oversubscribe"});
  const std::string more = absl::GetFlag(FLAGS_mpirun_args);
  // mpirun's default binds all threads of a rank to one core where there are
  // one or two ranks.
  if (!absl::StrContains(more, "-bind-to")) add({"--bind-to", "none"});
  add(absl::StrSplit(more, ' ', absl::SkipEmpty()));
  setenv(distributed::kStatusFileVariable, status_file.c_str(), 1);
  add({"-x", distributed::kStatusFileVariable});
  std::error_code ignored;
  add({std::filesystem::read_symlink("/proc/self/exe", ignored).string(),
       kAsRank, ready_file});
  add(program);
  return command;
}

// Passes signals on to mpirun: one to a single rank, the second to end all.
class SignalRelay {
 public:
  explicit SignalRelay(std::string ready_file)
      : ready_file_(std::move(ready_file)), started_(Clock::Real()->Now()) {}

  void Handle(int signal, pid_t mpirun) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
        signal == SIGQUIT) {
      if (++received_ > 1) {
        kill(mpirun, SIGTERM);
        return;
      }
      waiting_ = signal == SIGINT ? kSignalForInt : kSignalForTerm;
      first_ = signal == SIGINT ? SIGINT : SIGTERM;
    }
    if (waiting_ != 0 && Ready()) {
      kill(mpirun, waiting_);
      waiting_ = 0;
    }
  }

  // INT or TERM, if this process got one; else 0.
  int received() const { return first_; }

 private:
  // Before that, the signal would end rank 0's wrapper.
  bool Ready() const {
    std::error_code ignored;
    return std::filesystem::exists(ready_file_, ignored) ||
           Clock::Real()->Now() - started_ > kReadyLimit;
  }

  const std::string ready_file_;
  const absl::Duration started_;
  int received_ = 0;
  int first_ = 0;
  int waiting_ = 0;
};

// What mpirun's own end means where no rank left word.
absl::Status StatusOfMpirun(const ChildEnd& end, int received) {
  if (received != 0) {
    return WithExitCode(
        absl::CancelledError(absl::StrCat("stopped by ", SignalName(received))),
        received == SIGINT ? ExitCode::kInterrupted : ExitCode::kTerminated);
  }
  // Ranks that ran have left word of any other code: mpirun could not start
  // them, and has said why.
  if (end.exit_code == 1) {
    return absl::InvalidArgumentError("mpirun could not start the ranks");
  }
  return StatusOfEnd(end, "mpirun", {});
}

absl::Status RunWithMpirun(const std::vector<std::string>& program) {
  if (getuid() == 0) {
    MILLRACE_LOG(kInfo) << "launch: running as root, allowing mpirun to";
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchFolder> folder,
                            ScratchFolder::Create());
  const std::string status_file = folder->Join("status");
  const std::string ready_file = folder->Join("ready");
  SignalRelay relay(ready_file);
  const absl::StatusOr<ChildEnd> end = RunChild(
      MpirunCommand(status_file, ready_file, program),
      [&relay](int signal, pid_t mpirun) { relay.Handle(signal, mpirun); });
  if (absl::IsNotFound(end.status())) {
    return WithExitCode(
        absl::NotFoundError(absl::StrCat(end.status().message(),
                                         "; install openmpi-bin, or use -n 1")),
        ExitCode::kUsage);
  }
  MILLRACE_RETURN_IF_ERROR(end.status());
  if (end->exit_code == 0) return absl::OkStatus();
  MILLRACE_ASSIGN_OR_RETURN(const std::optional<distributed::ExitStatus> status,
                            distributed::ReadExitStatus(status_file));
  if (!status.has_value()) return StatusOfMpirun(*end, relay.received());
  return WithExitCode(absl::UnknownError(status->message), status->code);
}

absl::Status Launch(const std::vector<std::string>& program) {
  const int ranks = absl::GetFlag(FLAGS_n);
  if (ranks < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("-n must be at least 1, got ", ranks));
  }
  if (program.empty()) {
    return absl::InvalidArgumentError(
        "no program to run: launch -n 4 PROGRAM ARGUMENTS");
  }
  // `bazel run` starts tools elsewhere than the user stands.
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
      folder != nullptr && chdir(folder) != 0) {
    return ErrnoStatus(errno, absl::StrCat("change to ", folder));
  }
  const bool elsewhere = !absl::GetFlag(FLAGS_hosts).empty() ||
                         !absl::GetFlag(FLAGS_hostfile).empty();
  return ranks == 1 && !elsewhere ? RunAlone(program) : RunWithMpirun(program);
}

}  // namespace
}  // namespace millrace::tools

int main(int argc, char** argv) {
  using millrace::tools::ExitWith;
  if (argc > 3 && absl::string_view(argv[1]) == millrace::tools::kAsRank) {
    return static_cast<int>(millrace::ExitCodeOf(
        millrace::tools::RunAsRank({argv + 3, argv + argc}, argv[2])));
  }
  const int program = millrace::tools::FindProgram(argc, argv);
  // A "--" that ends the flags is not one.
  const bool dashes =
      program > 1 && absl::string_view(argv[program - 1]) == "--";
  millrace::tools::ParseCommandLine(
      program - (dashes ? 1 : 0), argv, millrace::tools::kUsage,
      {.groups = {{"Ranks", {"n", "hosts", "hostfile", "oversubscribe"}},
                  {"Open MPI", {"mpirun", "mpirun_args"}}}});
  return ExitWith(millrace::tools::Launch({argv + program, argv + argc}));
}
