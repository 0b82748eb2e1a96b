// SPDX-License-Identifier: Apache-2.0
// One set of operands where a kernel runs, for launches whose results nobody looks at.
#pragma once
#include <ladder/kernel.hpp>

#include <utility>

#include "verify/buffer.hpp"
#include "verify/input.hpp"

namespace ladder {

class OperandSet {
 public:
  // Errors: kOutOfMemory, kLaunchFailed.
  static Result<OperandSet> make(Place place, const Images& images) {
    OperandSet set;
    for (auto [buffer, image] :
         {std::pair{&set.a_, &images.a}, std::pair{&set.b_, &images.b}, std::pair{&set.c_, &images.c}}) {
      auto made = Buffer::allocate(place, sizeof(float) * image->size());
      if (!made) return made.status();
      *buffer = std::move(made).value();
      if (Status status = buffer->upload(image->data(), buffer->bytes()); !status) return status;
    }
    return set;
  }
  Operands operands() const { return {a_.as<float>(), b_.as<float>(), c_.as<float>()}; }

 private:
  Buffer a_, b_, c_;
};

}  // namespace ladder
