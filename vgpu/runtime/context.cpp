// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.hpp"

#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

void follow_stack() {
  if (const Context* top = current_context(); top != nullptr) Runtime::ordinal() = top->device;
}

}  // namespace

Context& Contexts::add(int device, unsigned flags, bool primary) {
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  context->id = next_id_++;
  context->primary = primary;
  Context& added = *context;
  all_[&added] = std::move(context);
  return added;
}

Context& Contexts::primary(int device) {
  Context*& known = primaries_[device];
  if (known == nullptr) known = &add(device, 0, true);
  return *known;
}

Context& Contexts::create(int device, unsigned flags) { return add(device, flags, false); }

Context* Contexts::find(const void* handle) {
  const auto found = all_.find(handle);
  return found == all_.end() ? nullptr : found->second.get();
}

const Context& owning_context(Runtime& runtime) {
  const Context* const current = current_context();
  if (current != nullptr && current->device == Runtime::ordinal()) return *current;
  return runtime.contexts.primary(Runtime::ordinal());
}

Context* current_context() {
  const auto& stack = context_stack();
  return stack.empty() ? nullptr : stack.back();
}

void push_context(Context& context) {
  context_stack().push_back(&context);
  follow_stack();
}

void pop_context() {
  context_stack().pop_back();
  follow_stack();
}

void set_context(Context* context) {
  if (!context_stack().empty()) context_stack().pop_back();
  if (context != nullptr) context_stack().push_back(context);
  follow_stack();
}

}  // namespace vgpu::runtime
