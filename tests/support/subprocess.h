#ifndef MILLRACE_TESTS_SUPPORT_SUBPROCESS_H_
#define MILLRACE_TESTS_SUPPORT_SUBPROCESS_H_

// Other programs, run from a test.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace millrace {

struct SubprocessResult {
  // Of exit(); -1 if a signal ended it.
  int exit_code = -1;
  // That ended it, or 0. SIGKILL if it took longer than the limit.
  int signal = 0;
  bool timed_out = false;
  // All of standard output and standard error.
  std::string out;
  std::string err;
};

struct SubprocessOptions {
  // Added to this process's environment.
  std::map<std::string, std::string> environment;
  // The program and its descendants in its process group are killed after that.
  absl::Duration limit = absl::Seconds(60);
};

// A program that runs beside the test.
//
//   Subprocess process({"/bin/cat", path});
//   const SubprocessResult result = process.Wait();
//
// Confined to one thread.
class Subprocess {
 public:
  // Starts argv[0], looked up in PATH if it has no slash, in a process group of
  // its own. Standard input is empty. A program that can't be started exits
  // with 127.
  explicit Subprocess(const std::vector<std::string>& argv,
                      const SubprocessOptions& options = {});

  // Kills it if it still runs.
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }

  // Reads until standard output has a whole line that holds `text`; false if
  // the program ends or the limit passes without one.
  bool WaitForLine(const std::string& text);

  // Reads until the end. Only once.
  SubprocessResult Wait();

 private:
  // Reads what there is, waiting for it; false at the end of both streams, or
  // past the limit.
  bool ReadSome();

  pid_t pid_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  absl::Time deadline_;
  SubprocessResult result_;
};

// Runs a program to its end.
SubprocessResult RunProcess(const std::vector<std::string>& argv,
                            const SubprocessOptions& options = {});

// The command line that runs `argv` where mpirun works, as {"mpirun", "-n",
// "3", "tests/tools/x"}. For an mpi_driver_test() of mpi_test.bzl, or any test
// with data = ["//tests/support:with_mpi.sh"].
std::vector<std::string> WithMpi(const std::vector<std::string>& argv);

}  // namespace millrace

#endif  // MILLRACE_TESTS_SUPPORT_SUBPROCESS_H_
