// SPDX-License-Identifier: Apache-2.0
// reuse_random SEED ROUNDS: random sequences of launches, copies, fills, allocations and graphs, of
// which parts are repeated. Each sequence runs with and without reuse of launches, and must leave
// the same memory after every step and the same counters.
#include <cuda_pipeline.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "reuse_fixture.hpp"

namespace {

constexpr int kBuffers = 4, kBlock = 128;
// Whole pages and parts of them, so that buffers share pages.
constexpr int kWords[kBuffers] = {200, 1024, 3000, 5000};

__constant__ int table[16];
__device__ int total;

__global__ void pure(int* out, const int* in, int n, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor + 1;
}
__global__ void in_place(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 5 + 3;
}
__global__ void add_up(int* sum, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum + i % 8, in[i]);
}
__global__ void take_numbers(int* next, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = atomicAdd(next, 1);
}
__global__ void shift_bytes(unsigned char* out, const unsigned char* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 3) out[i + 3] = static_cast<unsigned char>(in[i] + 1);
}
__global__ void with_table(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += table[i % 16];
}
__global__ void from_table(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i % 16];
}
__global__ void count_all(int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total, i);
}
__global__ void read_total(int* out) { out[threadIdx.x] = total; }
__global__ void staged(int* out, const int* in, int n) {
  __shared__ int tile[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(tile + threadIdx.x, in + i, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x] ^ 0x55;
}
__global__ void from_texture(cudaTextureObject_t texture, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<int>(texture, i % 32, i / 32 % 32);
}
__global__ void to_surface(cudaSurfaceObject_t surface, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i < 1024) surf2Dwrite(in[i], surface, i % 32 * 4, i / 32);
}
__global__ void sparse(int* out, int n, int step) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * step;
  if (i < n) out[i] = i;
}

std::uint64_t hash_of(const std::vector<int>& words, std::uint64_t hash) {
  for (const int word : words) hash = (hash ^ static_cast<unsigned>(word)) * 0x100000001b3;
  return hash;
}

class World {
 public:
  World() {
    for (int i = 0; i < kBuffers; ++i) make(i);
    for (cudaStream_t& stream : streams_) require(cudaStreamCreate(&stream));
    require(cudaEventCreate(&done_));
    const auto format = cudaCreateChannelDesc<int>();
    require(cudaMallocArray(&array_, &format, 32, 32, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    require(cudaCreateTextureObject(&texture_, &resource, &cudaTextureDescZero(), nullptr));
    require(cudaCreateSurfaceObject(&surface_, &resource));
    upload_array(1);
    set_table(1);
    const int zero = 0;
    require(cudaMemcpyToSymbol(total, &zero, sizeof zero));
    require(cudaHostAlloc(&pinned_, 1024 * 4, cudaHostAllocMapped));
    for (int i = 0; i < 1024; ++i) pinned_[i] = i;
    require(cudaMallocManaged(&managed_, 1024 * 4));
    for (int i = 0; i < 1024; ++i) managed_[i] = i;
  }
  ~World() {
    cudaDeviceSynchronize();
    for (const cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    cudaEventDestroy(done_);
    cudaDestroyTextureObject(texture_);
    cudaDestroySurfaceObject(surface_);
    cudaFreeArray(array_);
    for (int* const buffer : buffers_) cudaFree(buffer);
    cudaFreeHost(pinned_);
    cudaFree(managed_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // One operation, wholly determined by `number`. Streams follow each other.
  void step(std::uint32_t number) {
    std::minstd_rand random(number * 2654435761u + 1);
    const auto one_of = [&](int count) { return static_cast<int>(random() >> 7) % count; };
    stream_ = streams_[one_of(2)];
    const int to = one_of(kBuffers), from = (to + 1 + one_of(kBuffers - 1)) % kBuffers;
    const int n = std::min(kWords[to], kWords[from]);
    switch (one_of(26)) {
      case 0:
      case 1:
      case 2:
        pure<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], buffers_[from], n, 1 + one_of(2));
        break;
      case 3: in_place<<<blocks(kWords[to]), kBlock, 0, stream_>>>(buffers_[to], kWords[to]); break;
      case 4: add_up<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], buffers_[from], n); break;
      case 5:
        take_numbers<<<blocks(n), kBlock, 0, stream_>>>(buffers_[from], buffers_[to], n);
        break;
      case 6:
        shift_bytes<<<blocks(n * 4), kBlock, 0, stream_>>>(bytes(to), bytes(from), n * 4);
        break;
      case 7: with_table<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], n); break;
      case 8: from_table<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], n); break;
      case 9: count_all<<<blocks(n), kBlock, 0, stream_>>>(n); break;
      case 10: read_total<<<1, 32, 0, stream_>>>(buffers_[to]); break;
      case 11: staged<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], buffers_[from], n); break;
      case 12: from_texture<<<blocks(n), kBlock, 0, stream_>>>(texture_, buffers_[to], n); break;
      case 13: to_surface<<<blocks(n), kBlock, 0, stream_>>>(surface_, buffers_[from], n); break;
      case 14:
        sparse<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], n, 1 + 40 * one_of(2));
        break;
      case 15: require(cudaMemsetAsync(buffers_[to], one_of(3), kWords[to] * 4, stream_)); break;
      case 16: {
        const int skipped = one_of(n / 2);
        require(
            cudaMemsetAsync(buffers_[to] + skipped, one_of(3), 4 * (1 + one_of(n / 2)), stream_));
        break;
      }
      case 17: {
        const std::vector<int> values(kWords[to], one_of(4));
        require(cudaMemcpyAsync(buffers_[to], values.data(), kWords[to] * 4, cudaMemcpyHostToDevice,
                                stream_));
        break;
      }
      case 18: {
        const int value = one_of(3);
        require(
            cudaMemcpyAsync(buffers_[to] + one_of(n), &value, 4, cudaMemcpyHostToDevice, stream_));
        break;
      }
      case 19:
        require(cudaMemcpyAsync(buffers_[to], buffers_[from], n * 4, cudaMemcpyDeviceToDevice,
                                stream_));
        break;
      case 20:
        require(cudaDeviceSynchronize(), "before the free");
        require(cudaFree(buffers_[to]));
        make(to);
        break;
      case 21: set_table(one_of(2)); break;
      case 22: upload_array(one_of(2)); break;
      case 23:
        require(cudaDeviceSynchronize(), "before the host writes");
        pinned_[one_of(1024)] = one_of(3);
        pure<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], pinned_, std::min(n, 1024), 3);
        break;
      case 24:
        require(cudaDeviceSynchronize(), "before the host writes");
        managed_[one_of(1024)] = one_of(3);
        pure<<<blocks(n), kBlock, 0, stream_>>>(managed_, managed_, 0, 3);
        pure<<<blocks(n), kBlock, 0, stream_>>>(buffers_[to], managed_, std::min(n, 1024), 3);
        break;
      default: launch_graph(one_of(2));
    }
    require(cudaGetLastError());
    require(cudaEventRecord(done_, stream_));
    for (const cudaStream_t stream : streams_) require(cudaStreamWaitEvent(stream, done_));
  }

  std::uint64_t contents() const {
    require(cudaDeviceSynchronize(), "the end of the work");
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](const void* data, int words, cudaMemcpyKind kind) {
      std::vector<int> host(words);
      require(cudaMemcpy(host.data(), data, words * 4, kind));
      hash = hash_of(host, hash);
    };
    for (int i = 0; i < kBuffers; ++i) add(buffers_[i], kWords[i], cudaMemcpyDeviceToHost);
    add(pinned_, 1024, cudaMemcpyDefault);
    add(managed_, 1024, cudaMemcpyDefault);
    std::vector<int> image(1024), sum(1);
    require(
        cudaMemcpy2DFromArray(image.data(), 128, array_, 0, 0, 128, 32, cudaMemcpyDeviceToHost));
    require(cudaMemcpyFromSymbol(sum.data(), total, 4));
    return hash_of(sum, hash_of(image, hash));
  }

 private:
  static int blocks(int n) { return (n + kBlock - 1) / kBlock; }
  static cudaTextureDesc& cudaTextureDescZero() {
    static cudaTextureDesc none{};
    return none;
  }
  unsigned char* bytes(int i) const { return reinterpret_cast<unsigned char*>(buffers_[i]); }
  // Written, so that no check finds a read of unwritten memory.
  void make(int i) {
    require(cudaMalloc(&buffers_[i], kWords[i] * 4));
    require(cudaMemset(buffers_[i], i, kWords[i] * 4));
  }
  void set_table(int value) {
    int values[16];
    for (int i = 0; i < 16; ++i) values[i] = value * i;
    require(
        cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, stream_));
  }
  void upload_array(int value) {
    const std::vector<int> texels(1024, value);
    require(cudaMemcpy2DToArrayAsync(array_, 0, 0, texels.data(), 128, 128, 32,
                                     cudaMemcpyHostToDevice, stream_));
  }
  // A fill, an update and a sum.
  void launch_graph(int which) {
    const int a = which, b = which + 2;
    cudaGraph_t graph;
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    require(cudaMemsetAsync(buffers_[a], which, kWords[a] * 4, stream_));
    in_place<<<blocks(kWords[a]), kBlock, 0, stream_>>>(buffers_[a], kWords[a]);
    add_up<<<blocks(kWords[a]), kBlock, 0, stream_>>>(buffers_[b], buffers_[a], kWords[a]);
    require(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable;
    require(cudaGraphInstantiate(&executable, graph, 0));
    require(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(executable, stream_));
    graphs_.push_back(executable);
  }

  int* buffers_[kBuffers] = {};
  cudaStream_t streams_[2] = {}, stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  cudaSurfaceObject_t surface_ = 0;
  int *pinned_ = nullptr, *managed_ = nullptr;
  std::vector<cudaGraphExec_t> graphs_;
};

// Loops over a few operations of few kinds, as a benchmark has them.
std::vector<std::uint32_t> sequence(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> kinds(3 + random() % 6), all;
  for (std::uint32_t& number : kinds) number = random();
  while (all.size() < 80) {
    std::vector<std::uint32_t> body(1 + random() % 4);
    for (std::uint32_t& number : body) number = kinds[random() % kinds.size()];
    for (unsigned times = 2 + random() % 5; times != 0; --times)
      all.insert(all.end(), body.begin(), body.end());
  }
  return all;
}

struct Played {
  std::vector<std::uint64_t> contents;
  std::string counters;
  size_t reused = 0;
};

Played play(std::uint32_t seed, int reuse) {
  static const auto reset = vgpu_function<decltype(vgpuResetCounters)>("vgpuResetCounters");
  static const auto counters = vgpu_function<decltype(vgpuCountersJson)>("vgpuCountersJson");
  Played played;
  set_reuse(reuse);
  if (seed % 2 == 0) reset();
  const size_t before = reused_launches();
  World world;
  // Every other seed looks at memory only now and then, so that streams run ahead.
  int step = 0;
  for (const std::uint32_t number : sequence(seed)) {
    world.step(number);
    if (seed % 3 != 0 || ++step % 20 == 0) played.contents.push_back(world.contents());
  }
  played.contents.push_back(world.contents());
  if (seed % 2 == 0) played.counters = counters();
  played.reused = reused_launches() - before;
  return played;
}

}  // namespace

int main(int argc, char** argv) {
  skip_on_hardware();
  require(argc == 3, "usage: reuse_random SEED ROUNDS");
  const auto first = static_cast<std::uint32_t>(std::atoi(argv[1]));
  const auto rounds = static_cast<std::uint32_t>(std::atoi(argv[2]));
  size_t reused = 0;
  for (std::uint32_t seed = first; seed != first + rounds; ++seed) {
    const Played without = play(seed, 0), with = play(seed, 1);
    require(without.reused == 0, "no launch is reused where that is off");
    reused += with.reused;
    for (std::size_t i = 0; i < without.contents.size(); ++i) {
      if (without.contents[i] == with.contents[i]) continue;
      std::fprintf(stderr, "seed %u: after look %zu memory is different\n", seed, i);
      require(false, "memory is the same");
    }
    require(without.counters == with.counters, "counters are the same");
  }
  std::printf("%zu launches were reused\n", reused);
  require(reused > rounds, "launches are reused");
}
