// The Python binding of the command line.

#include "tools/nnefc/program.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "tools/python/binding/transform.h"

namespace nnefc::python {

namespace {

// Runs the command line without the GIL; only transformations in Python acquire it. Arguments may contain
// arbitrary bytes.
int RunProgram(const std::vector<nanobind::bytes>& given) {
  std::vector<std::string> words;
  words.reserve(given.size());
  for (const nanobind::bytes& word : given) words.emplace_back(word.c_str(), word.size());
  const nanobind::gil_scoped_release released;
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cli::RunProgram(static_cast<int>(words.size()), pointers.data());
}

}  // namespace

void BindProgram(nanobind::module_& module) {
  module.def("run_program", &RunProgram, nanobind::arg("words"));
}

}  // namespace nnefc::python
