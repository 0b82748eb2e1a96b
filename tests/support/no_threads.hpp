// SPDX-License-Identifier: Apache-2.0
// While it exists, no thread can be started: each would get a stack larger than the address space.
#pragma once
#include <pthread.h>

#include <cstddef>

namespace ladder::test {

class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&former_);
    pthread_attr_t none;
    pthread_attr_init(&none);
    pthread_attr_setstacksize(&none, std::size_t{1} << 47);
    pthread_setattr_default_np(&none);
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&former_);
    pthread_attr_destroy(&former_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t former_;
};

}  // namespace ladder::test
