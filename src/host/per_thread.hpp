// SPDX-License-Identifier: Apache-2.0
// One object per thread, created on the thread's first use and deleted when the thread ends.
#pragma once
#include <pthread.h>

#include <new>

namespace ladder::host {

// Replaces thread_local, for which glibc aborts the program if it cannot allocate the record of a
// destructor. Only for objects that live as long as the program.
template <class T>
class PerThread {
 public:
  PerThread()
      : ok_(::pthread_key_create(&key_, [](void* object) { delete static_cast<T*>(object); }) ==
            0) {}
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  // Null: out of memory.
  T* get() const {
    if (!ok_) return nullptr;
    if (void* const object = ::pthread_getspecific(key_); object != nullptr)
      return static_cast<T*>(object);
    T* const object = new (std::nothrow) T;
    if (object == nullptr || ::pthread_setspecific(key_, object) == 0) return object;
    delete object;
    return nullptr;
  }

 private:
  pthread_key_t key_{};
  bool ok_;
};

}  // namespace ladder::host
