"""A program that is linked with tools/release/old_libraries.py needs no symbol that glibc 2.28 lacks, and works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RELEASE = Path(__file__).resolve().parent.parent.parent / "tools" / "release"

# Uses what glibc 2.30 to 2.36 and the C++ libraries of GCC 9 to 12 added.
PROGRAM = r"""
#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

// Constructed before main.
static const std::string text = [] {
  std::ostringstream stream;
  stream << "constructed " << std::filesystem::exists("/");
  return stream.str();
}();

int main() {
  std::cout << text << "\n";
  double number = 0;
  const std::string digits = "1.25e3";
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  char shortest[32];
  std::cout << number << " " << std::string(shortest, std::to_chars(shortest, shortest + 32, 0.1f).ptr) << "\n";

  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  const bool is_early = condition.wait_for(lock, std::chrono::milliseconds(50), [&] { return ready; });
  const auto waited = std::chrono::steady_clock::now() - start;
  std::thread thread([&] {
    const std::lock_guard guard(mutex);
    ready = true;
    condition.notify_one();
  });
  const bool is_ready = condition.wait_for(lock, std::chrono::seconds(60), [&] { return ready; });
  lock.unlock();
  thread.join();
  std::cout << is_early << (waited >= std::chrono::milliseconds(50)) << is_ready << "\n";

  static std::once_flag once;
  for (int i = 0; i < 2; ++i) std::call_once(once, [] { std::cout << "once\n"; });
  try {
    std::cout << std::filesystem::file_size("/missing");
  } catch (const std::filesystem::filesystem_error& error) {
    std::cout << error.code().value() << "\n";
  }
  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
  }
  std::random_device random;
  std::cout << (random() != random() || random() != random()) << "\n";
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    subprocess.run([sys.executable, str(RELEASE / "old_libraries.py"), str(folder)], check=True)
    (folder / "program.cpp").write_text(PROGRAM)
    subprocess.run(["g++", "-std=c++20", "-c", "-o", str(folder / "program.o"), str(folder / "program.cpp")], check=True)
    return folder


def link(folder: Path, name: str, *options: str) -> str:
    program = str(folder / name)
    subprocess.run(["g++", *options, "-o", program, str(folder / "program.o")], check=True)
    return program


def check_versions(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RELEASE / "check_versions.py"), program], capture_output=True, text=True, check=False)


def test_the_program_needs_old_symbols_and_works(folder: Path) -> None:
    program = link(folder, "old", f"-L{folder}", "-Wl,--wrap=__libc_start_main", "-Wl,-z,defs")
    done = check_versions(program)
    assert done.returncode == 0, done.stdout
    printed = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert printed.splitlines() == ["constructed 1", "1250 0.1", "011", "once", "2", "thrown", "1"]


def test_the_check_reports_newer_symbols_and_other_libraries(folder: Path) -> None:
    done = check_versions(link(folder, "new", "-Wl,--no-as-needed", "-lz"))
    assert done.returncode == 1
    assert "needs GLIBCXX_3.4.26" in done.stdout
    assert "needs the library libz.so.1" in done.stdout
    assert "GLIBCXX_3.4.21" not in done.stdout
