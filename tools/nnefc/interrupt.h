#pragma once

namespace nnefc::cli {

// Removes unfinished output files when the program receives INT, TERM or HUP, then ends it by that signal.
// Must be called before any thread is created.
void RemoveFilesWhenInterrupted();

}  // namespace nnefc::cli
