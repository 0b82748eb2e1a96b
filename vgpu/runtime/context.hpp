// SPDX-License-Identifier: Apache-2.0
// Contexts. Every device has a primary context, which the runtime API uses, and a program may
// create others with the driver API. Each thread has a stack of contexts; the top one is current
// and gives the thread's device. Memory, streams and modules belong to the context in which they
// were made.
#pragma once
#include <map>
#include <memory>
#include <vector>

namespace vgpu::runtime {

struct Context {
  int device = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  bool primary = false;
  unsigned retained = 0;   // of a primary context, by cuDevicePrimaryCtxRetain
  bool used = false;       // of a primary context, by the runtime API
  bool destroyed = false;  // kept, because a thread's stack may still have it
  int cache_config = 0;    // a preference, without effect

  bool active() const { return primary ? used || retained != 0 : !destroyed; }
};

class Contexts {
 public:
  Context& primary(int device);
  Context& create(int device, unsigned flags);
  Context* find(const void* handle);  // null if no context has that handle
  template <class Use>
  void for_each(Use use) {
    for (auto& [handle, context] : all_) use(*context);
  }

 private:
  Context& add(int device, unsigned flags, bool primary);

  std::map<const void*, std::unique_ptr<Context>> all_;  // by address
  std::map<int, Context*> primaries_;
  unsigned long long next_id_ = 1;
};

class Runtime;

// The owner of what the calling thread makes: its current context, if that is of the thread's
// device.
const Context& owning_context(Runtime& runtime);

// Of the calling thread's stack of contexts, the last one is current. The functions that change the
// stack keep the thread's device (Runtime::ordinal) equal to that of the current context.
Context* current_context();  // null if there is none
void push_context(Context& context);
void pop_context();
void set_context(Context* context);  // replaces the current context; null: pops it

}  // namespace vgpu::runtime
