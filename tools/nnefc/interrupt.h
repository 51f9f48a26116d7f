#pragma once

namespace nnefc::cli {

// Removes what is being written when the program is interrupted (INT, TERM,
// HUP), then ends it by that signal. To be called before any thread is made.
void RemoveFilesWhenInterrupted();

}  // namespace nnefc::cli
