#ifndef MILLRACE_TOOLS_TRAINING_TERMINAL_H_
#define MILLRACE_TOOLS_TRAINING_TERMINAL_H_

// Whether somebody is looking.

namespace millrace::tools::training {

// Opens the terminal on which what this process writes to standard output
// appears; the caller closes it. -1 if it appears on none.
//
// Open MPI gives every rank a terminal of its own making as standard output,
// whatever becomes of the text. There it is the launcher's standard output that
// counts.
int OpenOutputTerminal();

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_TERMINAL_H_
