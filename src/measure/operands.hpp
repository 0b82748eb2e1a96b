// SPDX-License-Identifier: Apache-2.0
// One set of operands in a kernel's memory, for launches whose results are not checked.
#pragma once
#include <ladder/kernel.hpp>

#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "operands/buffer.hpp"
#include "operands/draw_device.hpp"
#include "operands/encode.hpp"
#include "operands/input.hpp"

namespace ladder {

class OperandSet {
 public:
  // Errors: kOutOfMemory, kLaunchFailed.
  static Result<OperandSet> make(Place place, const Problem& problem, const Images& images) {
    OperandSet set;
    for (auto [buffer, image, type] : {std::tuple{&set.a_, &images.stored_a(), problem.in},
                                       std::tuple{&set.b_, &images.stored_b(), problem.in},
                                       std::tuple{&set.c_, &images.c, problem.out},
                                       std::tuple{&set.scales_a_, &images.scales_a, Type::kF32},
                                       std::tuple{&set.scales_b_, &images.scales_b, Type::kF32}}) {
      const std::vector<std::byte> memory = encode(type, std::span(*image));
      auto made = Buffer::allocate(place, memory.size());
      if (!made) return made.status();
      *buffer = std::move(made).value();
      if (Status status = buffer->upload(memory.data(), memory.size()); !status) return status;
    }
    return set;
  }
  // Generates the operands on the current CUDA device. Errors: kOutOfMemory, kLaunchFailed.
  static Result<OperandSet> draw(const Problem& problem, const Drawing& drawing) {
    OperandSet set;
    for (auto [buffer, which] : {std::pair{&set.a_, Matrix::kA}, std::pair{&set.b_, Matrix::kB},
                                 std::pair{&set.c_, Matrix::kC}}) {
      auto drawn = draw_on_device(drawing, which, problem);
      if (!drawn) return drawn.status();
      *buffer = std::move(drawn).value();
    }
    for (auto [buffer, which] :
         {std::pair{&set.scales_a_, Matrix::kA}, std::pair{&set.scales_b_, Matrix::kB}}) {
      const std::vector<float> scales = draw_scales(drawing, which, problem);
      auto made = Buffer::allocate(Place::kCuda, sizeof(float) * scales.size());
      if (!made) return made.status();
      *buffer = std::move(made).value();
      if (Status status = buffer->upload(scales.data(), buffer->bytes()); !status) return status;
    }
    return set;
  }
  Operands operands() const {
    return {a_.as<float>(), b_.as<float>(), c_.as<float>(), scales_a_.as<float>(),
            scales_b_.as<float>()};
  }
  Buffer& c() { return c_; }

 private:
  Buffer a_, b_, c_, scales_a_, scales_b_;
};

}  // namespace ladder
