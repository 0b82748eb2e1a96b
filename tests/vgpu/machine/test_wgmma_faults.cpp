// SPDX-License-Identifier: Apache-2.0
// Operands that wgmma refuses, and registers and shared memory that are accessed while it uses
// them.
#include "wgmma_fixture.hpp"

namespace {

using namespace wgmma_test;

class WgmmaFaults : public Wgmma {
 protected:
  Case plain() {
    Case c{kBfloat, kBfloat};
    c.n = 64;
    c.of_a = along_k(128, 0);
    c.of_b = along_k(128, 16 * 1024);
    c.options = ", 1, 1, 0, 0";
    return c;
  }
  vgpu::Fault fault_with(const Case& c, u64 da, u64 db,
                         const std::vector<u32>& metadata = std::vector<u32>(128)) {
    load_text(kernel_text(c));
    config.dynamic_shared_bytes = 32 * 1024;
    const size_t registers = static_cast<size_t>(128 * registers_of_d(c));
    return fault_of("k", {1}, {128}, array<u8>(32 * 1024), u32{32 * 1024}, da, db, u32{0},
                    array<u32>(registers), array<u32>(512), array(metadata), array<u32>(registers));
  }
  // Expects the fault at `instruction`, under each schedule of copies.
  void expect_hazard(const Case& c, const std::string& text, const std::string& instruction,
                     vgpu::FaultKind kind = vgpu::FaultKind::kRace) {
    for (const auto schedule :
         {vgpu::CopySchedule::Kind::kEager, vgpu::CopySchedule::Kind::kLazy}) {
      config.schedule = {schedule, 0};
      const vgpu::Fault fault = fault_with(c, c.of_a.descriptor(), c.of_b.descriptor());
      expect_fault(fault, kind, {text});
      EXPECT_NE(fault.instruction.find(instruction), std::string::npos) << fault.what();
    }
  }
  void run(const Case& c) {
    for (const auto schedule :
         {vgpu::CopySchedule::Kind::kEager, vgpu::CopySchedule::Kind::kLazy}) {
      config.schedule = {schedule, 0};
      check(c, true);
    }
  }
  static void expect(const vgpu::Fault& fault, vgpu::FaultKind kind, const std::string& text) {
    expect_fault(fault, kind, {text});
    EXPECT_NE(fault.instruction.find("wgmma"), std::string::npos) << fault.what();
  }
};

TEST_F(WgmmaFaults, Descriptors) {
  const Case c = plain();
  const auto with = [](Layout layout, int Layout::*field, int value) {
    layout.*field = value;
    return layout.descriptor();
  };
  const u64 a = c.of_a.descriptor(), b = c.of_b.descriptor();
  const struct {
    const char* what;
    u64 a, b;
    const char* message;
  } cases[] = {
      {"B starts outside shared memory", a, with(c.of_b, &Layout::start, 31 * 1024),
       "descriptor of B"},
      {"A's stride leaves shared memory", with(c.of_a, &Layout::stride, 32 * 1024), b,
       "descriptor of A"},
      {"bits outside the fields", a | u64{1} << 55, b, "bits are set"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    expect(fault_with(c, one.a, one.b), vgpu::FaultKind::kBadOperand, one.message);
  }
}

TEST_F(WgmmaFaults, SparseMetadata) {
  const struct {
    Type type;
    int selector;
    u32 good, bad;  // of a chunk
    const char* message;
  } cases[] = {
      {kHalf, 0, 0b1100, 0b1010, "sparse metadata 0b1010: metadata are two different positions"},
      {kBfloat, 1, 0b0001, 0b0000, "sparse metadata 0b0000"},
      {kTf32, 1, 0b1110, 0b1100, "sparse metadata 0b1100: of .tf32 0b0100 and 0b1110"},
      {kS8, 0, 0b1101, 0b1111, "sparse metadata 0b1111"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.type.name);
    Case c{one.type, one.type};
    c.selector = one.selector;
    c.n = 8;
    c.d = one.type.name[0] == 's' ? "s32" : "f32";
    c.of_a = along_k(128, 0);
    c.of_b = along_k(64, 16 * 1024);
    c.options = one.type.bytes == 1 ? "" : one.type.bytes == 2 ? ", 1, 1, 0, 0" : ", 1, 1";
    std::vector<u32> metadata(128);
    for (size_t thread = 0; thread < metadata.size(); ++thread) {
      const bool read = one.type.bytes == 1 || static_cast<int>(thread % 4 / 2) == one.selector;
      metadata[thread] = read ? 0x11111111 * one.good : 0;
    }
    u32& bad = metadata[static_cast<size_t>(65 + 2 * one.selector)];
    bad = (bad & 0xfffff0ff) | one.bad << 8;
    expect(fault_with(c, c.of_a.descriptor(), c.of_b.descriptor(), metadata),
           vgpu::FaultKind::kBadOperand, one.message);
  }
}

TEST_F(WgmmaFaults, SparseProductWithTooNarrowASwizzle) {
  Case c{kHalf, kHalf};
  c.selector = 0;
  c.of_a = along_k(32, 0);
  c.of_b = along_k(32, 16 * 1024);
  c.options = ", 1, 1, 0, 0";
  expect(fault_with(c, c.of_a.descriptor(), c.of_b.descriptor(), std::vector<u32>(128, 0x44444444)),
         vgpu::FaultKind::kBadOperand, "it takes 64 bytes along k");
}

TEST_F(WgmmaFaults, MatrixThatTheBlockDidNotWrite) {
  const Case c = plain();  // B ends 31 KiB into the image
  config.check_init = true;
  load_text(kernel_text(c));
  config.dynamic_shared_bytes = 32 * 1024;
  const size_t registers = static_cast<size_t>(128 * registers_of_d(c));
  const auto with = [&](u32 bytes, auto run) {
    return run("k", vgpu::Dim3{1}, vgpu::Dim3{128}, array<u8>(32 * 1024), bytes,
               c.of_a.descriptor(), c.of_b.descriptor(), u32{0}, array<u32>(registers),
               array<u32>(512), array<u32>(128), array<u32>(registers));
  };
  with(31 * 1024, [this](auto... arguments) { return launch(arguments...); });
  // A is zero, so that only an uninitialised element that is read as NaN changes the result.
  expect(with(30 * 1024, [this](auto... arguments) { return fault_of(arguments...); }),
         vgpu::FaultKind::kUninitialized, "with 0xff in every byte");
}

// The first register of D is `d0`, of A `a0`.
TEST_F(WgmmaFaults, Hazards) {
  const std::string reads_sum = "reads a sum of wgmma that is under way";
  const struct {
    const char* what;
    std::string Case::*place;
    const char* text;  // added at the place, or "" to remove what is there
    bool registers;    // A in registers
    std::string message;
    const char* instruction;
  } cases[] = {
      {"sum read before the wait", &Case::before_wait, "add.u32 v, d7, 1;", false, reads_sum,
       "add.u32"},
      {"sum written before the wait", &Case::before_commit, "mov.b32 d0, 0;", false,
       "writes a sum of wgmma that is under way", "mov.b32"},
      {"register of A written before the wait", &Case::before_wait, "add.u32 a3, a3, 1;", true,
       "writes a register of A of wgmma that is under way", "add.u32"},
      {"no wait", &Case::wait, "", false, reads_sum, "st.global"},
      {"no commit", &Case::commit, "", false, reads_sum, "st.global"},
      {"no fence", &Case::fence, "", false, "without a wgmma.fence before it", "wgmma.mma_async"},
      {"sum written behind the fence", &Case::fence, "add.u32 d5, d5, 0;", false,
       "adds to a register that was written behind the last wgmma.fence", "wgmma.mma_async"},
      {"register of A written behind the fence", &Case::fence, "xor.b32 a1, a1, 1;", true,
       "reads a register that was written behind the last wgmma.fence", "wgmma.mma_async"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    Case c = plain();
    if (one.registers) {
      c.registers = true;
      c.options = ", 1, 1, 0";
    }
    std::string& place = c.*one.place;
    place = *one.text == 0 ? "" : place + "  " + one.text + "\n";
    expect_hazard(c, one.message, one.instruction);
  }
  Case c = plain();
  c.wait = "  wgmma.wait_group.sync.aligned 1;\n";
  expect_hazard(c, reads_sum, "st.global");
}

// Compilers place such copies.
TEST_F(WgmmaFaults, CopiesBehindTheFenceAreNone) {
  Case c = plain();
  c.before_fence = "  mov.b32 v, d5;\n";
  c.fence += "  mov.b32 d5, v;\n";
  run(c);
}

// Only the path that is taken counts.
TEST_F(WgmmaFaults, OtherPathsDoNotCount) {
  Case c = plain();
  c.fence = "  setp.eq.u32 p, n, 0;\n  @p bra unfenced;\n  wgmma.fence.sync.aligned;\nunfenced:\n";
  c.wait = "  @!p wgmma.wait_group.sync.aligned 0;\n";
  run(c);
}

TEST_F(WgmmaFaults, WarpsWithDifferentDescriptors) {
  Case c = plain();
  c.fence +=
      "  cvt.u64.u32 h, t;\n  and.b64 h, h, 64;\n  shr.u64 h, h, 5;\n  add.u64 first, first, h;\n";
  expect_hazard(c, "give it different descriptors", "wgmma.mma_async",
                vgpu::FaultKind::kBarrierDivergence);
}

TEST_F(WgmmaFaults, UnknownFormsAreRefusedByName) {
  Case c = plain();
  c.a = kTf32;
  load_text(kernel_text(c));
  const std::string why = vgpu::refusal(*module->find_kernel("k"));
  EXPECT_NE(why.find("wgmma.mma_async"), std::string::npos) << why;
  EXPECT_NE(why.find("m64nNk16"), std::string::npos) << why;
}

}  // namespace
