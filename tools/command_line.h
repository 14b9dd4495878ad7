#ifndef MILLRACE_TOOLS_COMMAND_LINE_H_
#define MILLRACE_TOOLS_COMMAND_LINE_H_

// What every tool's main() does with its arguments and its end: absl flags with
// the exit codes of base/exit_code.h (absl's own parser exits with 1), a help
// text of the tool's flags alone, and paths as the user meant them.
//
//   ABSL_FLAG(int, epochs, 10, "Passes over the training set, > 0.");
//
//   int main(int argc, char** argv) {
//     millrace::tools::ParseCommandLine(
//         argc, argv, "Trains a model.\n\n  train --data=DIR",
//         {.groups = {{"Training", {"epochs"}}}});
//     return millrace::tools::ExitWith(millrace::tools::Run(...));
//   }

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace millrace::tools {

// Flags that --help shows together, in this order.
struct FlagGroup {
  std::string title;
  std::vector<std::string> flags;
};

struct CommandLineOptions {
  // Flags that no group names follow in a last one, sorted by name.
  std::vector<FlagGroup> groups = {};
  // Arguments that are not flags, at least and at most. More or fewer are a
  // usage error: `data=DIR` without its dashes must not pass unseen.
  int min_positional = 0;
  int max_positional = 0;
};

// Sets the absl flags of this program from argv[1..argc) and returns the
// arguments that are not flags, in their order.
//
// Takes --name=value, --name value, --name and --noname for booleans, each also
// with one dash; everything after `--` is positional. The last of a repeated
// flag counts. Ends the process with code 0 after printing the help to standard
// output for --help or -h, and with code 2 after printing one line to standard
// error for an unknown flag (naming the nearest), a value that does not parse,
// or the wrong number of positional arguments.
//
// `usage` says what the tool does, with an example, in a few lines.
std::vector<std::string> ParseCommandLine(
    int argc, char** argv, absl::string_view usage,
    const CommandLineOptions& options = {});

// The same without ending the process or printing.
struct ParsedCommandLine {
  bool help = false;
  std::vector<std::string> positional;
};
absl::StatusOr<ParsedCommandLine> ParseArguments(
    absl::Span<const std::string> arguments, const CommandLineOptions& options);

// The text of --help, for `program` (its last path component is shown).
std::string HelpText(absl::string_view program, absl::string_view usage,
                     const CommandLineOptions& options);

// Where the user stood when typing `path`: `bazel run` starts tools elsewhere
// and keeps that folder in BUILD_WORKING_DIRECTORY. Absolute and empty paths,
// and all paths outside of `bazel run`, stay as they are.
std::string ResolvePath(absl::string_view path);

// ResolvePath() of the path in a data set's "SCHEME:PATH" or plain path.
std::string ResolveDatasetUri(absl::string_view uri);

// Ends a main(): logs the message of a `status` that is not OK as an error,
// reports it to the program that started this one (distributed/exit_status.h),
// and gives the exit code that the status carries or means.
int ExitWith(const absl::Status& status);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_COMMAND_LINE_H_
