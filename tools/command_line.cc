#include "tools/command_line.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "distributed/exit_status.h"

namespace millrace::tools {
namespace {

// Names of the flags that this program's own files define: libraries, absl
// among them, bring flags that mean nothing to a user.
std::set<std::string> OwnFlags() {
  std::set<std::string> names;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (!flag->IsRetired() && !absl::StrContains(flag->Filename(), "absl/")) {
      names.insert(std::string(name));
    }
  }
  return names;
}

// Insertions, deletions and replacements between `a` and `b`.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

absl::Status UnknownFlag(absl::string_view argument, absl::string_view name) {
  std::string nearest;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& known : OwnFlags()) {
    if (const size_t distance = EditDistance(name, known); distance < least) {
      least = distance;
      nearest = known;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", EscapeForMessage(argument),
      nearest.empty() ? "" : absl::StrCat("; did you mean --", nearest, "?"),
      " (--help lists all)"));
}

// Handles arguments[i], which starts with a dash, and returns how many
// arguments it took: 1, or 2 with its value.
absl::StatusOr<int> ParseFlag(absl::Span<const std::string> arguments,
                              size_t i) {
  absl::string_view text = arguments[i];
  text.remove_prefix(absl::StartsWith(text, "--") ? 2 : 1);
  const size_t equals = text.find('=');
  const bool has_value = equals != absl::string_view::npos;
  const absl::string_view name = text.substr(0, equals);
  std::string value(has_value ? text.substr(equals + 1) : "");
  int taken = 1;
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (flag == nullptr && !has_value && absl::StartsWith(name, "no")) {
    absl::CommandLineFlag* base = absl::FindCommandLineFlag(name.substr(2));
    if (base != nullptr && base->IsOfType<bool>()) {
      flag = base;
      value = "false";
    }
  } else if (flag != nullptr && !has_value) {
    if (flag->IsOfType<bool>()) {
      value = "true";
    } else if (i + 1 < arguments.size()) {
      value = arguments[i + 1];
      taken = 2;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("flag --", name, " needs a value"));
    }
  }
  if (flag == nullptr || flag->IsRetired()) {
    return UnknownFlag(arguments[i], name);
  }
  if (std::string error; !flag->ParseFrom(value, &error)) {
    // absl's text ends with a line end now and then.
    return absl::InvalidArgumentError(absl::StrCat(
        "flag --", flag->Name(), "=", EscapeForMessage(value), ": ",
        absl::StrReplaceAll(std::string(absl::StripAsciiWhitespace(error)),
                            {{"\n", "; "}})));
  }
  return taken;
}

// Words of `text` in lines of at most 80 columns, each indented by `indent`.
std::string Wrapped(absl::string_view text, size_t indent) {
  const std::string margin(indent, ' ');
  std::string result, line;
  for (absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > 80) {
      absl::StrAppend(&result, margin, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  if (!line.empty()) absl::StrAppend(&result, margin, line, "\n");
  return result;
}

std::string DescribeFlag(absl::string_view name) {
  const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (flag == nullptr) return "";
  return absl::StrCat("  --", name, "=", flag->DefaultValue(), "\n",
                      Wrapped(flag->Help(), 6));
}

}  // namespace

absl::StatusOr<ParsedCommandLine> ParseArguments(
    absl::Span<const std::string> arguments,
    const CommandLineOptions& options) {
  ParsedCommandLine parsed;
  for (size_t i = 0; i < arguments.size();) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      parsed.positional.insert(parsed.positional.end(),
                               arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      parsed.positional.push_back(argument);
      ++i;
    } else if (argument == "--help" || argument == "-help" ||
               argument == "-h") {
      parsed.help = true;
      return parsed;
    } else {
      MILLRACE_ASSIGN_OR_RETURN(const int taken, ParseFlag(arguments, i));
      i += static_cast<size_t>(taken);
    }
  }
  const int count = static_cast<int>(parsed.positional.size());
  if (count > options.max_positional) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument ",
        EscapeForMessage(parsed.positional[options.max_positional]),
        ": flags start with --"));
  }
  if (count < options.min_positional) {
    return absl::InvalidArgumentError(
        absl::StrCat("want at least ", options.min_positional,
                     " arguments besides flags, got ", count));
  }
  return parsed;
}

std::string HelpText(absl::string_view program, absl::string_view usage,
                     const CommandLineOptions& options) {
  const absl::string_view base = program.substr(program.rfind('/') + 1);
  std::string text = absl::StrCat(base, ": ", usage, "\n");
  std::set<std::string> others = OwnFlags();
  for (const FlagGroup& group : options.groups) {
    absl::StrAppend(&text, "\n", group.title, ":\n");
    for (const std::string& name : group.flags) {
      text += DescribeFlag(name);
      others.erase(name);
    }
  }
  if (!others.empty()) {
    absl::StrAppend(&text, options.groups.empty() ? "\nFlags" : "\nOther",
                    ":\n");
    for (const std::string& name : others) text += DescribeFlag(name);
  }
  return text;
}

std::vector<std::string> ParseCommandLine(int argc, char** argv,
                                          absl::string_view usage,
                                          const CommandLineOptions& options) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1),
                                           argv + argc);
  absl::StatusOr<ParsedCommandLine> parsed = ParseArguments(arguments, options);
  if (!parsed.ok()) std::exit(ExitWith(parsed.status()));
  if (parsed->help) {
    std::fputs(HelpText(argc > 0 ? argv[0] : "", usage, options).c_str(),
               stdout);
    std::exit(static_cast<int>(ExitCode::kDone));
  }
  return std::move(parsed->positional);
}

std::string ResolvePath(absl::string_view path) {
  const char* const folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder == nullptr || path.empty() || path[0] == '/') {
    return std::string(path);
  }
  return absl::StrCat(folder, "/", path);
}

std::string ResolveDatasetUri(absl::string_view uri) {
  size_t scheme = 0;
  while (scheme < uri.size() && absl::ascii_islower(uri[scheme])) ++scheme;
  if (scheme == 0 || scheme == uri.size() || uri[scheme] != ':') {
    return ResolvePath(uri);
  }
  return absl::StrCat(uri.substr(0, scheme + 1),
                      ResolvePath(uri.substr(scheme + 1)));
}

int ExitWith(const absl::Status& status) {
  if (!status.ok()) MILLRACE_LOG(kError) << status.message();
  distributed::ReportExitStatus(status);
  return static_cast<int>(ExitCodeOf(status));
}

}  // namespace millrace::tools
