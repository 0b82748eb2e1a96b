// SPDX-License-Identifier: Apache-2.0
// CUDA arrays, textures and surfaces as programs use them: copies of every kind, fetches compared
// with the formulas of the CUDA C++ Programming Guide, surfaces written by one kernel and read by
// the next. With an argument it makes the mistake of that name instead.
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "device_array.hpp"

namespace {

constexpr int kWidth = 37, kHeight = 19;
const cudaChannelFormatDesc kFloats = {32, 0, 0, 0, cudaChannelFormatKindFloat};

std::vector<float> pixels(int count) {
  std::vector<float> result;
  for (int i = 0; i < count; ++i) result.push_back(static_cast<float>((i * 7919) % 1009) / 64.0f);
  return result;
}

cudaArray_t array_of(const std::vector<float>& values, int width, int height, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  require(cudaMallocArray(&array, &kFloats, width, height, flags));
  const std::size_t row = static_cast<std::size_t>(width) * 4;
  require(
      cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, height, cudaMemcpyHostToDevice));
  return array;
}

std::vector<float> read(cudaArray_t array, int width, int height) {
  std::vector<float> values(static_cast<std::size_t>(width) * height);
  const std::size_t row = static_cast<std::size_t>(width) * 4;
  require(
      cudaMemcpy2DFromArray(values.data(), row, array, 0, 0, row, height, cudaMemcpyDeviceToHost));
  return values;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureAddressMode mode,
                               cudaTextureFilterMode filter, bool normalized) {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalized ? 1 : 0;
  cudaTextureObject_t texture = 0;
  require(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  require(cudaCreateSurfaceObject(&surface, &resource));
  return surface;
}

void copies() {
  const auto values = pixels(kWidth * kHeight);
  const cudaArray_t one = array_of(values, kWidth, kHeight);
  require(read(one, kWidth, kHeight) == values, "a copy there and back");
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 1;
  require(cudaArrayGetInfo(&format, &extent, &flags, one));
  require(format.x == 32 && extent.width == kWidth && extent.height == kHeight && flags == 0,
          "its description");

  // A rectangle, and an array to an array.
  const cudaArray_t two = array_of(std::vector<float>(kWidth * kHeight, -1.0f), kWidth, kHeight);
  require(
      cudaMemcpy2DArrayToArray(two, 4 * 3, 2, one, 4 * 5, 1, 4 * 11, 7, cudaMemcpyDeviceToDevice));
  const auto moved = read(two, kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool inside = x >= 3 && x < 14 && y >= 2 && y < 9;
      const float expected = inside ? values[(y - 1) * kWidth + x + 2] : -1.0f;
      require(moved[y * kWidth + x] == expected, "the rectangle");
    }
  }

  // Parts of elements.
  unsigned char part[5];
  require(cudaMemcpy2DFromArray(part, 5, one, 6, 1, 5, 1, cudaMemcpyDeviceToHost));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&values[kWidth]);
  require(std::memcmp(part, bytes + 6, 5) == 0, "bytes of an array");
  std::vector<float> changed = read(two, kWidth, kHeight);
  std::memcpy(reinterpret_cast<unsigned char*>(changed.data()) + 2, part, 5);
  require(cudaMemcpy2DToArray(two, 2, 0, part, 5, 5, 1, cudaMemcpyHostToDevice));
  require(cudaMemcpy2DArrayToArray(two, 10, 0, two, 3, 0, 4, 1));
  std::memcpy(reinterpret_cast<unsigned char*>(changed.data()) + 10,
              reinterpret_cast<unsigned char*>(changed.data()) + 3, 4);
  const std::vector<float> now = read(two, kWidth, kHeight);
  require(std::memcmp(now.data(), changed.data(), now.size() * 4) == 0, "bytes into an array");

  // Captured, and replayed with other values.
  float *device = nullptr, *out = nullptr;
  require(cudaMalloc(&device, values.size() * 4));
  require(cudaMalloc(&out, values.size() * 4));
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  require(cudaMemcpy2DToArrayAsync(one, 0, 0, device, 4 * kWidth, 4 * kWidth, kHeight,
                                   cudaMemcpyDeviceToDevice, stream));
  require(cudaMemcpy2DFromArrayAsync(out, 4 * kWidth, one, 0, 0, 4 * kWidth, kHeight,
                                     cudaMemcpyDeviceToDevice, stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&exec, graph));
  for (const float add : {1.0f, 2.0f}) {
    std::vector<float> sent = values;
    for (float& v : sent) v += add;
    require(cudaMemcpy(device, sent.data(), sent.size() * 4, cudaMemcpyHostToDevice));
    require(cudaGraphLaunch(exec, stream));
    require(cudaStreamSynchronize(stream));
    require(download(out, sent.size()) == sent && read(one, kWidth, kHeight) == sent,
            "a captured copy");
  }
  require(cudaGraphExecDestroy(exec));
  require(cudaGraphDestroy(graph));
  require(cudaStreamDestroy(stream));
  for (float* memory : {device, out}) require(cudaFree(memory));
  for (const cudaArray_t array : {one, two}) require(cudaFreeArray(array));
}

__global__ void fetch(cudaTextureObject_t t, float* out, int n, float scale_x, float scale_y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float x = static_cast<float>(i % 97) * 0.59f - 10.0f;
  const float y = static_cast<float>(i / 97) * 0.31f - 8.0f;
  out[i] = tex2D<float>(t, x * scale_x, y * scale_y);
}

// The texel that an address mode takes; -1 for the border.
int resolved(int index, int size, cudaTextureAddressMode mode) {
  const auto modulo = [](int a, int b) { return (a % b + b) % b; };
  switch (mode) {
    case cudaAddressModeWrap: return modulo(index, size);
    case cudaAddressModeMirror: {
      const int at = modulo(index, 2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case cudaAddressModeClamp: return index < 0 ? 0 : index >= size ? size - 1 : index;
    default: return index < 0 || index >= size ? -1 : index;
  }
}

void fetches() {
  const auto values = pixels(kWidth * kHeight);
  const cudaArray_t array = array_of(values, kWidth, kHeight);
  constexpr int kPoints = 97 * 97;
  float* const out = allocate<float>(kPoints);
  for (int mode = 0; mode < 4; ++mode) {
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      for (const bool normalized : {false, true}) {
        const auto address = static_cast<cudaTextureAddressMode>(mode);
        const auto texture = texture_of(resource_of(array), address, filter, normalized);
        fetch<<<(kPoints + 127) / 128, 128>>>(texture, out, kPoints,
                                              normalized ? 1.0f / kWidth : 1.0f,
                                              normalized ? 1.0f / kHeight : 1.0f);
        const std::vector<float> got = download(out, kPoints);
        const bool repeats = address == cudaAddressModeWrap || address == cudaAddressModeMirror;
        const auto used = repeats && !normalized ? cudaAddressModeClamp : address;
        const auto texel = [&](int x, int y) {
          const int at_x = resolved(x, kWidth, used), at_y = resolved(y, kHeight, used);
          return at_x < 0 || at_y < 0 ? 0.0f : values[at_y * kWidth + at_x];
        };
        for (int i = 0; i < kPoints; ++i) {
          const float x = static_cast<float>(i % 97) * 0.59f - 10.0f;
          const float y = static_cast<float>(i / 97) * 0.31f - 8.0f;
          if (filter == cudaFilterModePoint) {
            // Not where the rounding of a normalised coordinate decides.
            const auto near = [](float v) { return std::fabs(v - std::round(v)) < 0.01f; };
            if (near(x) || near(y)) continue;
            require(
                got[i] == texel(static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y))),
                "the nearest texel");
            continue;
          }
          const float fx = x - 0.5f, fy = y - 0.5f;
          const int x0 = static_cast<int>(std::floor(fx)), y0 = static_cast<int>(std::floor(fy));
          const float a = fx - static_cast<float>(x0), b = fy - static_cast<float>(y0);
          const float expected = (1 - a) * (1 - b) * texel(x0, y0) +
                                 a * (1 - b) * texel(x0 + 1, y0) + (1 - a) * b * texel(x0, y0 + 1) +
                                 a * b * texel(x0 + 1, y0 + 1);
          // The weights have 8 bits of fraction, and the texels are below 16.
          require(std::fabs(got[i] - expected) < 16.0f * 2 / 256, "the filtered texel");
        }
        require(cudaDestroyTextureObject(texture));
      }
    }
  }
  require(cudaFree(out));
  require(cudaFreeArray(array));
}

__global__ void index_linear(cudaTextureObject_t t, float* out) {
  const int i = static_cast<int>(threadIdx.x) - 4;
  out[threadIdx.x] = tex1Dfetch<float>(t, i);
}

void linear_memory() {
  const auto values = pixels(20);
  float *const memory = upload(values), *const out = allocate<float>(32);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, kFloats, 16 * 4};
  const auto texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
  index_linear<<<1, 32>>>(texture, out);
  const std::vector<float> got = download(out, 32);
  for (int i = 0; i < 32; ++i)
    require(got[i] == (i >= 4 && i < 20 ? values[i - 4] : 0.0f), "an index outside reads zero");
  require(cudaDestroyTextureObject(texture));
  for (float* p : {memory, out}) require(cudaFree(p));
}

__global__ void double_each(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width,
                            int height) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  if (x < width && y < height) surf2Dwrite(2 * surf2Dread<float>(from, 4 * x, y), to, 4 * x, y);
}

void surfaces() {
  const auto values = pixels(kWidth * kHeight);
  const cudaArray_t one = array_of(values, kWidth, kHeight, cudaArraySurfaceLoadStore);
  const cudaArray_t two = array_of(values, kWidth, kHeight, cudaArraySurfaceLoadStore);
  const auto from = surface_of(one), to = surface_of(two);
  double_each<<<kHeight, 64>>>(from, to, kWidth, kHeight);
  double_each<<<kHeight, 64>>>(to, from, kWidth, kHeight);
  const auto got = read(one, kWidth, kHeight);
  for (std::size_t i = 0; i < got.size(); ++i) require(got[i] == 4 * values[i], "doubled twice");
  for (const auto surface : {from, to}) require(cudaDestroySurfaceObject(surface));
  for (const cudaArray_t array : {one, two}) require(cudaFreeArray(array));
}

// Each host thread has its own objects, all at a time.
void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([] {
      for (int i = 0; i < 5; ++i) surfaces();
    });
  }
  for (std::thread& thread : all) thread.join();
}

int mistake(const char* name) {
  const auto values = pixels(kWidth * kHeight);
  float* out = nullptr;
  require(cudaMalloc(&out, 128 * 4));
  cudaArray_t array = array_of(values, kWidth, kHeight, cudaArraySurfaceLoadStore);
  auto texture = texture_of(resource_of(array), cudaAddressModeClamp, cudaFilterModePoint, false);
  auto surface = surface_of(array);
  if (std::strcmp(name, "freed") == 0) require(cudaFreeArray(array));
  if (std::strcmp(name, "destroyed") == 0) require(cudaDestroyTextureObject(texture));
  if (std::strcmp(name, "kind") == 0) texture = surface;
  if (std::strcmp(name, "unwritten") == 0) {
    require(cudaMallocArray(&array, &kFloats, kWidth, kHeight));
    texture = texture_of(resource_of(array), cudaAddressModeClamp, cudaFilterModePoint, false);
  }
  if (std::strcmp(name, "outside") == 0)
    double_each<<<kHeight, 64>>>(surface, surface, kWidth + 1, kHeight);
  else
    fetch<<<1, 128>>>(texture, out, 128, 1.0f, 1.0f);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return mistake(argv[1]);
  copies();
  fetches();
  linear_memory();
  surfaces();
  threads();
}
