// SPDX-License-Identifier: Apache-2.0
// An object per thread, made at the thread's first use and deleted when the thread ends.
#pragma once
#include <pthread.h>

#include <new>

namespace ladder::host {

// Not thread_local: glibc ends the program where it has no memory to note that an object has a
// destructor. Only for objects that live as long as the program.
template <class T>
class PerThread {
 public:
  PerThread()
      : ok_(::pthread_key_create(&key_, [](void* object) { delete static_cast<T*>(object); }) ==
            0) {}
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  // Null: no memory.
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
