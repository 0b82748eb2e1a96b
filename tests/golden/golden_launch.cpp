// SPDX-License-Identifier: Apache-2.0
// Starts the small kernels of micro.hpp, and every rung of the registry once at each shape, for a
// profiler:
//   golden_launch [NAME]... [SHAPE]...        all small kernels and rungs where none is named
// Operands are tight, uniform in (-1,1), alpha = 1, beta = 0. One line per launch of a kernel says
// "launched KERNEL SHAPE RESULT"; RESULT is a hash of what a small kernel leaves in memory, "-" for
// a rung.
#include <ladder/registry.hpp>

#include "host/query.hpp"
#include "micro.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct FreeDevice {
  void operator()(float* p) const { cudaFree(p); }
};
using DeviceArray = std::unique_ptr<float, FreeDevice>;

bool ok(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return true;
  std::fprintf(stderr, "golden_launch: %s: %s\n", what, cudaGetErrorString(error));
  return false;
}

DeviceArray random_array(std::int64_t elements, std::mt19937& generator) {
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> host(static_cast<std::size_t>(elements));
  for (float& x : host) x = uniform(generator);
  void* device = nullptr;
  if (!ok(cudaMalloc(&device, host.size() * sizeof(float)), "cudaMalloc")) return nullptr;
  DeviceArray array(static_cast<float*>(device));
  if (!ok(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice),
          "cudaMemcpy")) {
    return nullptr;
  }
  return array;
}

// Rungs, and the library's kernels on CUDA cores. Those in FP32 only up to 2^27 multiply-adds.
bool of_interest(const ladder::KernelInfo& info, const ladder::Problem& p) {
  if (info.place != ladder::Place::kCuda) return false;
  if (info.precision == ladder::Precision::kIeee)
    return info.role != ladder::Role::kBaseline && info.role != ladder::Role::kLibrary &&
           p.m * p.n * p.k < std::int64_t{1} << 27;
  return info.role == ladder::Role::kRung;
}

// How many kernels a call launches: nodes of the graph that a capture of it gives.
std::size_t kernels_of(const ladder::KernelInfo& info, const ladder::Problem& p,
                       const ladder::Operands& operands) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  std::size_t count = 0, kernels = 0;
  if (!ok(cudaStreamCreate(&stream), "cudaStreamCreate") ||
      !ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture"))
    return 0;
  const ladder::Status status = info.launch(p, operands, stream);
  if (!ok(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture") || !status) return 0;
  if (!ok(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes")) return 0;
  std::vector<cudaGraphNode_t> nodes(count);
  if (!ok(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes")) return 0;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (!ok(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType")) return 0;
    kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
  }
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return kernels;
}

bool among(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

bool launch_all(const std::string& shape, const std::vector<std::string>& names,
                const ladder::Device& device) {
  const auto problem = ladder::parse_shape(shape);
  if (!problem) {
    std::fprintf(stderr, "golden_launch: %s\n", problem.status().message().c_str());
    return false;
  }
  const ladder::Problem& of_f32 = problem.value();
  std::mt19937 generator(1);
  const DeviceArray a = random_array(extent_a(of_f32).elements(), generator);
  const DeviceArray b = random_array(extent_b(of_f32).elements(), generator);
  const DeviceArray c = random_array(extent_c(of_f32).elements(), generator);
  if (!a || !b || !c) return false;
  for (const ladder::KernelInfo& info : ladder::kernels()) {
    const std::string id(info.id);
    const ladder::Problem p = in_types_of(info, of_f32);
    if (!among(names, id) || !of_interest(info, p) || !accepts(info, p, device)) continue;
    // Scales do not change what is counted; more than enough of them.
    const ladder::Operands operands{a.get(), b.get(), c.get(), a.get(), b.get()};
    if (const ladder::Status status = info.launch(p, operands, nullptr); !status) {
      std::fprintf(stderr, "golden_launch: %s: %s\n", id.c_str(), status.message().c_str());
      return false;
    }
    if (!ok(cudaDeviceSynchronize(), id.c_str())) return false;
    const std::size_t launches = kernels_of(info, p, operands);
    if (launches == 0) return false;
    for (std::size_t i = 0; i < launches; ++i)
      std::printf("launched %s %s -\n", id.c_str(), shape.c_str());
  }
  return true;
}

// FNV-1a, by words of 32 bits.
std::string hash_of(const std::vector<int>& values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int value : values) hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

// Memory holds ascending integers, the same for each kernel.
bool launch_micro(const std::vector<std::string>& names) {
  void* memory = nullptr;
  if (!ok(cudaMalloc(&memory, micro::kBytes), "cudaMalloc")) return false;
  const DeviceArray owner(static_cast<float*>(memory));
  std::vector<int> values(micro::kBytes / sizeof(int));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  for (const micro::Launch& launch : micro::launches()) {
    if (!among(names, launch.name)) continue;
    if (!ok(cudaMemcpy(memory, values.data(), micro::kBytes, cudaMemcpyHostToDevice), "cudaMemcpy"))
      return false;
    launch.start(static_cast<int*>(memory));
    const bool launched =
        // the virtual GPU refuses kernels that it does not support
        cudaGetLastError() == cudaSuccess;
    if (!ok(cudaDeviceSynchronize(), launch.name)) return false;
    std::string result = "-";
    if (launch.deterministic) {
      std::vector<int> results(values.size());
      if (!ok(cudaMemcpy(results.data(), memory, micro::kBytes, cudaMemcpyDeviceToHost),
              "cudaMemcpy"))
        return false;
      result = hash_of(results);
    }
    std::printf("%s %s - %s\n", launched ? "launched" : "refused", launch.name, result.c_str());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names, shapes;
  for (int i = 1; i < argc; ++i)
    (std::isdigit(static_cast<unsigned char>(*argv[i])) != 0 ? shapes : names)
        .emplace_back(argv[i]);
  if (argc < 2) {
    std::fprintf(stderr, "usage: golden_launch [NAME]... [SHAPE]...\n");
    return 2;
  }
  const auto device = ladder::query_device(0);
  if (!device) {
    std::fprintf(stderr, "golden_launch: %s\n", device.status().message().c_str());
    return 1;
  }
  if (!launch_micro(names)) return 1;
  for (const std::string& shape : shapes) {
    if (!launch_all(shape, names, device.value())) return 1;
  }
  return 0;
}
