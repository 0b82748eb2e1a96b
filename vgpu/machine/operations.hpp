// SPDX-License-Identifier: Apache-2.0
// The handlers of the operations. The sources in isa/ that define operations are compiled once per
// host instruction set.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/operations.hpp"
#include "machine/machine.hpp"

namespace vgpu::machine {

// Runs one instruction for the lanes of `mask` (never 0). `window` is warp.window.
using Handler = void (*)(Warp& warp, std::byte* window, const Insn& insn, u32 mask);

// Gives the operations of one instruction set their handlers. Throws std::logic_error where a
// definition disagrees with the table (ir/operations.def).
class OperationSink {
 public:
  explicit OperationSink(std::vector<Handler>& handlers);
  // `names`: one or more spellings, separated by blanks; each is completed with `suffix`.
  void add(const char* names, const char* suffix, const Shape& shape, Handler handler,
           bool control = false);
  void add_joined(const char* first, const char* second, const char* third, const Shape& shape,
                  Handler handler);
  void add_conversion(const char* rounding, const char* modifiers, const char* to, const char* from,
                      const Shape& shape, Handler handler);
  void require_all() const;  // every operation has a handler

 private:
  std::vector<Handler>& handlers_;  // by index into ir::operations()
};

// Entry points of the code compiled for one instruction set.
struct IsaCode {
  const char* name = "";          // "x86-64", "x86-64-v3", "x86-64-v4"
  bool (*available)() = nullptr;  // on this host
  void (*define)(OperationSink& sink) = nullptr;
  // Runs the warp until it waits, is done or has used up its budget.
  void (*run)(Warp& warp, const Handler* handlers) = nullptr;
};

struct Isa {
  IsaCode code;
  std::vector<Handler> handlers;
};

std::span<const Isa> isas();  // those that this host supports, fastest last

// The Isa that launches use: the fastest, or the one selected by use_isa (to compare them).
// use_isa("") selects the fastest.
const Isa& current_isa();
bool use_isa(std::string_view name);  // false: not available on this host

}  // namespace vgpu::machine
