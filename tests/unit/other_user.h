// Runs part of a test as another user, who has no more rights than others.

#ifndef TESTS_UNIT_OTHER_USER_H_
#define TESTS_UNIT_OTHER_USER_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace nnefc {

// The process is another user's while the object exists, if an administrator runs the tests.
class OtherUser {
 public:
  static constexpr uid_t kId = 65534;

  OtherUser() : is_active_(own_ == 0 && ::seteuid(kId) == 0) {}
  ~OtherUser() {
    if (is_active_ && ::seteuid(own_) != 0) std::abort();
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;

  // False if the process has the user that it had.
  bool is_active() const { return is_active_; }
  // False also if a folder above that path is closed to others, such as a private TMPDIR.
  bool Reaches(const std::filesystem::path& path) const {
    return is_active_ && ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_EACCESS) == 0;
  }

 private:
  uid_t own_ = ::geteuid();
  bool is_active_;
};

}  // namespace nnefc

#endif  // TESTS_UNIT_OTHER_USER_H_
