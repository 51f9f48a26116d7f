// The program `nnefc` of an installed wheel: starts the command line in the package, without Python.
//
// It is next to the Python that the wheel was installed for, or in the folder of scripts of a user or a
// prefix. The package is below the same prefix. With `--extensions`, whose folders have transformations in
// Python, and if the package is not found, `python -m nnefc` runs.
#define _GNU_SOURCE

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Below the prefix. The first is for `pip install --target`.
static const char* const kPrograms[] = {
    "nnefc/bin/nnefc",
    "lib/python3*/site-packages/nnefc/bin/nnefc",
    "lib/python3*/dist-packages/nnefc/bin/nnefc",
    "lib64/python3*/site-packages/nnefc/bin/nnefc",
    "local/lib/python3*/dist-packages/nnefc/bin/nnefc",
};

// Turns the path of a file into that of its folder.
static void RemoveName(char* path) {
  char* end = strrchr(path, '/');
  if (end != NULL) *end = '\0';
}

// Sets `program` to the command line that was installed last below the prefix. Returns 0 if there is none.
static int FindProgram(const char* prefix, char* program) {
  struct timespec newest = {0, -1};
  for (size_t i = 0; i < sizeof(kPrograms) / sizeof(kPrograms[0]); ++i) {
    char pattern[2 * PATH_MAX];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/%s", prefix, kPrograms[i]);
    if (glob(pattern, 0, NULL, &found) != 0) continue;
    for (size_t j = 0; j < found.gl_pathc; ++j) {
      struct stat status;
      if (stat(found.gl_pathv[j], &status) != 0 || strlen(found.gl_pathv[j]) >= PATH_MAX) continue;
      const struct timespec time = status.st_ctim;
      if (time.tv_sec < newest.tv_sec || (time.tv_sec == newest.tv_sec && time.tv_nsec <= newest.tv_nsec))
        continue;
      newest = time;
      strcpy(program, found.gl_pathv[j]);
    }
    globfree(&found);
  }
  return newest.tv_nsec >= 0;
}

// Runs the package in Python. `program` is the path of its command line, or empty.
static void RunPython(const char* scripts, const char* program, int argc, char** argv) {
  char** words = calloc((size_t)argc + 3, sizeof(char*));
  if (words == NULL) return;
  words[1] = "-m";
  words[2] = "nnefc";
  memcpy(words + 3, argv + 1, (size_t)argc * sizeof(char*));
  // The version is part of the path of the package: lib/python3.12/site-packages.
  char name[32] = "python3";
  const char* version = strstr(program, "/python3.");
  if (version != NULL) snprintf(name, sizeof(name), "%.*s", (int)strcspn(version + 1, "/"), version + 1);
  char path[PATH_MAX + 64];
  snprintf(path, sizeof(path), "%s/%s", scripts, name);
  words[0] = path;
  execv(path, words);
  // Another folder has the Python of a user's or a system's package.
  words[0] = name;
  execvp(name, words);
}

int main(int argc, char** argv) {
  char scripts[PATH_MAX] = "", prefix[PATH_MAX], program[PATH_MAX] = "";
  const ssize_t size = readlink("/proc/self/exe", scripts, sizeof(scripts) - 1);
  scripts[size < 0 ? 0 : size] = '\0';
  RemoveName(scripts);
  strcpy(prefix, scripts);
  RemoveName(prefix);
  const int is_found = FindProgram(prefix, program);
  int has_extensions = 0;
  for (int i = 1; i < argc; ++i)
    has_extensions |= strncmp(argv[i], "--extensions", strlen("--extensions")) == 0;
  if (is_found && !has_extensions) {
    execv(program, argv);
    perror(program);
  } else {
    RunPython(scripts, program, argc, argv);
    perror("nnefc: python3");
  }
  return 127;
}
