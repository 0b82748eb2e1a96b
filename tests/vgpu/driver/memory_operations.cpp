// SPDX-License-Identifier: Apache-2.0
// Streams and graphs that wait for values in memory, and write them.
#include <atomic>
#include <chrono>
#include <thread>

#include "require.hpp"

namespace {

CUdeviceptr memory(std::size_t bytes) {
  CUdeviceptr at = 0;
  CHECK(cuMemAlloc(&at, bytes));
  CHECK(cuMemsetD8(at, 0, bytes));
  return at;
}

CUstream stream() {
  CUstream made = nullptr;
  CHECK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
  return made;
}

// One stream waits for the other, and both for the host.
void check_streams() {
  const CUstream a = stream(), b = stream();
  const CUdeviceptr flag = memory(16), out = memory(16);
  CHECK(cuStreamWaitValue32(a, flag, 7, CU_STREAM_WAIT_VALUE_EQ));
  CHECK(cuStreamWriteValue32(a, out, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
  EXPECT(ERROR_NOT_READY, cuStreamQuery(a));
  CHECK(cuStreamWriteValue32(b, flag, 7, 0));
  CHECK(cuStreamSynchronize(a));
  require(value_at<std::uint64_t>(out) == 5 && value_at<std::uint64_t>(flag) == 7,
          "32 bits, and only they");

  void* host = nullptr;
  CUdeviceptr mapped = 0;
  CHECK(cuMemHostAlloc(&host, 8, CU_MEMHOSTALLOC_DEVICEMAP));
  *static_cast<std::uint64_t*>(host) = 0;
  CHECK(cuMemHostGetDevicePointer(&mapped, host, 0));
  CHECK(cuStreamWaitValue64(a, mapped, std::uint64_t{1} << 40, CU_STREAM_WAIT_VALUE_GEQ));
  CHECK(cuStreamWriteValue64(a, out, 0x123456789a, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT(ERROR_NOT_READY, cuStreamQuery(a));
  reinterpret_cast<std::atomic<std::uint64_t>*>(host)->store(std::uint64_t{1} << 41);
  CHECK(cuStreamSynchronize(a));
  require(value_at<std::uint64_t>(out) == 0x123456789a, "64 bits, behind a write of the host");
}

// What does not wait: the value meets the condition already.
void check_conditions() {
  const CUstream a = stream();
  const CUdeviceptr at = memory(8);
  CHECK(cuMemsetD32(at, 0x80000001, 1));
  CHECK(cuStreamWaitValue32(a, at, 0x7fffffff, CU_STREAM_WAIT_VALUE_GEQ));  // 2 above, cyclic
  CHECK(cuStreamWaitValue32(a, at, 0x80000000, CU_STREAM_WAIT_VALUE_AND));
  CHECK(cuStreamWaitValue32(a, at, 0x7ffffffd, CU_STREAM_WAIT_VALUE_NOR));
  CHECK(cuStreamSynchronize(a));
  CHECK(cuStreamWaitValue32(a, at, 0x80000002, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT(ERROR_NOT_READY, cuStreamQuery(a));
  CHECK(cuMemsetD32(at, 0x80000002, 1));
  CHECK(cuStreamSynchronize(a));
  CHECK(cuStreamWaitValue32(a, at, 0x7ffffffd, CU_STREAM_WAIT_VALUE_NOR));
  CHECK(cuMemsetD32(at, 0x80000000, 1));
  CHECK(cuStreamSynchronize(a));
}

CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, CUdeviceptr at, unsigned value) {
  CUstreamBatchMemOpParams made{};
  made.waitValue.operation = type;  // the same place as a write's
  made.waitValue.address = at;
  made.waitValue.value = value;
  made.waitValue.flags = type == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? CU_STREAM_WAIT_VALUE_EQ : 0;
  return made;
}

void check_batches_and_graphs() {
  const CUstream a = stream(), b = stream();
  const CUdeviceptr flag = memory(8), out = memory(8);
  CUstreamBatchMemOpParams batch[] = {operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, flag, 1),
                                      operation(CU_STREAM_MEM_OP_BARRIER, 0, 0),
                                      operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, out, 3)};
  batch[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
  CHECK(cuStreamBatchMemOp(a, 3, batch, 0));
  EXPECT(ERROR_NOT_READY, cuStreamQuery(a));
  CHECK(cuStreamWriteValue32(b, flag, 1, 0));
  CHECK(cuStreamSynchronize(a));
  require(value_at<std::uint64_t>(out) == 3, "a batch");

  // Captured, changed, launched twice.
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode node = nullptr, waiting = nullptr;
  CHECK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK(cuStreamWriteValue32(a, out, 4, 0));
  CHECK(cuStreamEndCapture(a, &graph));
  std::size_t count = 1;
  CHECK(cuGraphGetNodes(graph, &node, &count));
  CUgraphNodeType type{};
  CHECK(cuGraphNodeGetType(node, &type));
  require(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, "a captured operation");
  CUDA_BATCH_MEM_OP_NODE_PARAMS params{};
  CHECK(cuGraphBatchMemOpNodeGetParams(node, &params));
  require(params.count == 1 && params.paramArray[0].writeValue.address == out &&
              params.paramArray[0].writeValue.value == 4,
          "its parameters");
  CUstreamBatchMemOpParams wait = operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, flag, 2);
  params = {params.ctx, 1, &wait, 0};
  CHECK(cuGraphAddBatchMemOpNode(&waiting, graph, &node, 1, &params));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, a));
  EXPECT(ERROR_NOT_READY, cuStreamQuery(a));
  CHECK(cuStreamWriteValue32(b, flag, 2, 0));
  CHECK(cuStreamSynchronize(a));
  require(value_at<std::uint64_t>(out) == 4, "what the graph wrote before it waited");
  CUstreamBatchMemOpParams other = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, out, 9);
  params.paramArray = &other;
  CHECK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
  CHECK(cuGraphLaunch(exec, a));
  CHECK(cuStreamSynchronize(a));
  require(value_at<std::uint64_t>(out) == 9, "after a change of the executable graph");
  params.count = 0;
  CHECK(cuGraphBatchMemOpNodeSetParams(node, &params));
  CHECK(cuStreamBatchMemOp(a, 0, batch, 0));
}

void check_errors() {
  const CUdeviceptr at = memory(8);
  CUdeviceptr managed = 0;
  EXPECT(ERROR_INVALID_VALUE, cuStreamWaitValue32(nullptr, at + 2, 0, 0));
  EXPECT(ERROR_INVALID_VALUE, cuStreamWriteValue64(nullptr, at + 4, 0, 0));
  CHECK(cuMemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL));
  EXPECT(ERROR_INVALID_VALUE, cuStreamWaitValue32(nullptr, managed, 0, 0));
  ROBUST(ERROR_INVALID_VALUE, cuStreamWriteValue32(nullptr, 0, 0, 0));
  ROBUST(ERROR_INVALID_VALUE, cuStreamWriteValue32(nullptr, at + 8, 0, 0));
  EXPECT(ERROR_INVALID_VALUE, cuStreamWriteValue32(nullptr, at, 0, 8));
  EXPECT(ERROR_INVALID_VALUE,  // of the first form of these functions only
         cuStreamWriteValue32(nullptr, at, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  ROBUST(ERROR_INVALID_VALUE, cuStreamBatchMemOp(nullptr, 1, nullptr, 0));
  EXPECT(ERROR_NOT_SUPPORTED, cuStreamWaitValue32(nullptr, at, 0, CU_STREAM_WAIT_VALUE_FLUSH));
  int can = 0;
  CHECK(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
  require(can == 1, "64 bits");
  CHECK(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 0));
  require(can == 1, "the condition NOR");
}

}  // namespace

int main() {
  run_in_context("streams", check_streams);
  run_in_context("conditions", check_conditions);
  run_in_context("batches and graphs", check_batches_and_graphs);
  run_in_context("errors", check_errors);
  std::puts("right");
}
