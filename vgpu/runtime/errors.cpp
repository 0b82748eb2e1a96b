// SPDX-License-Identifier: Apache-2.0
// Errors: the last error of each thread, and the name and text of every code.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/runtime.hpp"

namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

// In the order of the codes, with the texts of libcudart.so.13.0.
#define VGPU_ERROR(code, text) \
  { cudaError##code, "cudaError" #code, text }
constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    VGPU_ERROR(InvalidValue, "invalid argument"),
    VGPU_ERROR(MemoryAllocation, "out of memory"),
    VGPU_ERROR(InitializationError, "initialization error"),
    VGPU_ERROR(CudartUnloading, "driver shutting down"),
    VGPU_ERROR(ProfilerDisabled, "profiler disabled while using external profiling tool"),
    VGPU_ERROR(ProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()"),
    VGPU_ERROR(ProfilerAlreadyStarted, "profiler already started"),
    VGPU_ERROR(ProfilerAlreadyStopped, "profiler already stopped"),
    VGPU_ERROR(InvalidConfiguration, "invalid configuration argument"),
    VGPU_ERROR(InvalidPitchValue, "invalid pitch argument"),
    VGPU_ERROR(InvalidSymbol, "invalid device symbol"),
    VGPU_ERROR(InvalidHostPointer, "invalid host pointer"),
    VGPU_ERROR(InvalidDevicePointer, "invalid device pointer"),
    VGPU_ERROR(InvalidTexture, "invalid texture reference"),
    VGPU_ERROR(InvalidTextureBinding, "texture is not bound to a pointer"),
    VGPU_ERROR(InvalidChannelDescriptor, "invalid channel descriptor"),
    VGPU_ERROR(InvalidMemcpyDirection, "invalid copy direction for memcpy"),
    VGPU_ERROR(AddressOfConstant, "invalid address of constant"),
    VGPU_ERROR(TextureFetchFailed, "fetch from texture failed"),
    VGPU_ERROR(TextureNotBound, "cannot fetch from a texture that is not bound"),
    VGPU_ERROR(SynchronizationError, "incorrect use of __syncthreads()"),
    VGPU_ERROR(InvalidFilterSetting, "linear filtering not supported for non-float type"),
    VGPU_ERROR(InvalidNormSetting, "read as normalized float not supported for data type"),
    VGPU_ERROR(MixedDeviceExecution,
               "device emulation mode and device execution mode cannot be mixed"),
    VGPU_ERROR(NotYetImplemented, "feature not yet implemented"),
    VGPU_ERROR(MemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"),
    VGPU_ERROR(StubLibrary, "CUDA driver is a stub library"),
    VGPU_ERROR(InsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    VGPU_ERROR(CallRequiresNewerDriver, "API call is not supported in the installed CUDA driver"),
    VGPU_ERROR(InvalidSurface, "invalid surface reference"),
    VGPU_ERROR(DuplicateVariableName, "duplicate global variable looked up by string name"),
    VGPU_ERROR(DuplicateTextureName, "duplicate texture looked up by string name"),
    VGPU_ERROR(DuplicateSurfaceName, "duplicate surface looked up by string name"),
    VGPU_ERROR(DevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    VGPU_ERROR(IncompatibleDriverContext, "incompatible driver context"),
    VGPU_ERROR(MissingConfiguration, "__global__ function call is not configured"),
    VGPU_ERROR(PriorLaunchFailure, "unspecified launch failure in prior launch"),
    VGPU_ERROR(LaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    VGPU_ERROR(LaunchFileScopedTex,
               "launch failed because kernel uses unsupported, file-scoped textures (texture "
               "objects are supported)"),
    VGPU_ERROR(LaunchFileScopedSurf,
               "launch failed because kernel uses unsupported, file-scoped surfaces (surface "
               "objects are supported)"),
    VGPU_ERROR(SyncDepthExceeded,
               "cudaDeviceSynchronize failed because caller's grid depth exceeds "
               "cudaLimitDevRuntimeSyncDepth"),
    VGPU_ERROR(LaunchPendingCountExceeded,
               "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    VGPU_ERROR(InvalidDeviceFunction, "invalid device function"),
    VGPU_ERROR(NoDevice, "no CUDA-capable device is detected"),
    VGPU_ERROR(InvalidDevice, "invalid device ordinal"),
    VGPU_ERROR(DeviceNotLicensed, "device doesn't have valid Grid license"),
    VGPU_ERROR(SoftwareValidityNotEstablished, "integrity checks failed"),
    VGPU_ERROR(StartupFailure, "startup failure in cuda runtime"),
    VGPU_ERROR(InvalidKernelImage, "device kernel image is invalid"),
    VGPU_ERROR(DeviceUninitialized, "invalid device context"),
    VGPU_ERROR(MapBufferObjectFailed, "mapping of buffer object failed"),
    VGPU_ERROR(UnmapBufferObjectFailed, "unmapping of buffer object failed"),
    VGPU_ERROR(ArrayIsMapped, "array is mapped"),
    VGPU_ERROR(AlreadyMapped, "resource already mapped"),
    VGPU_ERROR(NoKernelImageForDevice, "no kernel image is available for execution on the device"),
    VGPU_ERROR(AlreadyAcquired, "resource already acquired"),
    VGPU_ERROR(NotMapped, "resource not mapped"),
    VGPU_ERROR(NotMappedAsArray, "resource not mapped as array"),
    VGPU_ERROR(NotMappedAsPointer, "resource not mapped as pointer"),
    VGPU_ERROR(ECCUncorrectable, "uncorrectable ECC error encountered"),
    VGPU_ERROR(UnsupportedLimit, "limit is not supported on this architecture"),
    VGPU_ERROR(DeviceAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    VGPU_ERROR(PeerAccessUnsupported, "peer access is not supported between these two devices"),
    VGPU_ERROR(InvalidPtx, "a PTX JIT compilation failed"),
    VGPU_ERROR(InvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    VGPU_ERROR(NvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"),
    VGPU_ERROR(JitCompilerNotFound, "PTX JIT compiler library not found"),
    VGPU_ERROR(UnsupportedPtxVersion,
               "the provided PTX was compiled with an unsupported toolchain."),
    VGPU_ERROR(JitCompilationDisabled, "PTX JIT compilation was disabled"),
    VGPU_ERROR(UnsupportedExecAffinity, "the provided execution affinity is not supported"),
    VGPU_ERROR(UnsupportedDevSideSync,
               "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    VGPU_ERROR(Contained, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    VGPU_ERROR(InvalidSource, "device kernel image is invalid"),
    VGPU_ERROR(FileNotFound, "file not found"),
    VGPU_ERROR(SharedObjectSymbolNotFound, "shared object symbol not found"),
    VGPU_ERROR(SharedObjectInitFailed, "shared object initialization failed"),
    VGPU_ERROR(OperatingSystem, "OS call failed or operation not supported on this OS"),
    VGPU_ERROR(InvalidResourceHandle, "invalid resource handle"),
    VGPU_ERROR(IllegalState, "the operation cannot be performed in the present state"),
    VGPU_ERROR(LossyQuery, "attempted introspection would be semantically lossy"),
    VGPU_ERROR(SymbolNotFound, "named symbol not found"),
    VGPU_ERROR(NotReady, "device not ready"),
    VGPU_ERROR(IllegalAddress, "an illegal memory access was encountered"),
    VGPU_ERROR(LaunchOutOfResources, "too many resources requested for launch"),
    VGPU_ERROR(LaunchTimeout, "the launch timed out and was terminated"),
    VGPU_ERROR(LaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    VGPU_ERROR(PeerAccessAlreadyEnabled, "peer access is already enabled"),
    VGPU_ERROR(PeerAccessNotEnabled, "peer access has not been enabled"),
    VGPU_ERROR(SetOnActiveProcess, "cannot set while device is active in this process"),
    VGPU_ERROR(ContextIsDestroyed, "context is destroyed"),
    VGPU_ERROR(Assert, "device-side assert triggered"),
    VGPU_ERROR(TooManyPeers, "peer mapping resources exhausted"),
    VGPU_ERROR(HostMemoryAlreadyRegistered,
               "part or all of the requested memory range is already mapped"),
    VGPU_ERROR(HostMemoryNotRegistered,
               "pointer does not correspond to a registered memory region"),
    VGPU_ERROR(HardwareStackError, "hardware stack error"),
    VGPU_ERROR(IllegalInstruction, "an illegal instruction was encountered"),
    VGPU_ERROR(MisalignedAddress, "misaligned address"),
    VGPU_ERROR(InvalidAddressSpace, "operation not supported on global/shared address space"),
    VGPU_ERROR(InvalidPc, "invalid program counter"),
    VGPU_ERROR(LaunchFailure, "unspecified launch failure"),
    VGPU_ERROR(CooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    VGPU_ERROR(TensorMemoryLeak, "tensor memory not completely freed"),
    VGPU_ERROR(NotPermitted, "operation not permitted"),
    VGPU_ERROR(NotSupported, "operation not supported"),
    VGPU_ERROR(SystemNotReady, "system not yet initialized"),
    VGPU_ERROR(SystemDriverMismatch,
               "system has unsupported display driver / cuda driver combination"),
    VGPU_ERROR(CompatNotSupportedOnDevice,
               "forward compatibility was attempted on non supported HW"),
    VGPU_ERROR(MpsConnectionFailed,
               "MPS client failed to connect to the MPS control daemon or the MPS server"),
    VGPU_ERROR(MpsRpcFailure,
               "the remote procedural call between the MPS server and the MPS client failed"),
    VGPU_ERROR(MpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    VGPU_ERROR(MpsMaxClientsReached,
               "the hardware resources required to create MPS client have been exhausted"),
    VGPU_ERROR(MpsMaxConnectionsReached,
               "the hardware resources required to support device connections have been exhausted"),
    VGPU_ERROR(MpsClientTerminated, "the MPS client has been terminated by the server"),
    VGPU_ERROR(CdpNotSupported,
               "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does "
               "not support it"),
    VGPU_ERROR(CdpVersionMismatch,
               "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    VGPU_ERROR(StreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    VGPU_ERROR(StreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    VGPU_ERROR(StreamCaptureMerge,
               "operation would result in a merge of separate capture sequences"),
    VGPU_ERROR(StreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    VGPU_ERROR(StreamCaptureUnjoined, "capturing stream has unjoined work"),
    VGPU_ERROR(StreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    VGPU_ERROR(StreamCaptureImplicit,
               "operation would make the legacy stream depend on a capturing blocking stream"),
    VGPU_ERROR(CapturedEvent,
               "operation not permitted on an event last recorded in a capturing stream"),
    VGPU_ERROR(StreamCaptureWrongThread,
               "attempt to terminate a thread-local capture sequence from another thread"),
    VGPU_ERROR(Timeout, "wait operation timed out"),
    VGPU_ERROR(GraphExecUpdateFailure,
               "the graph update was not performed because it included changes which violated "
               "constraints specific to instantiated graph update"),
    VGPU_ERROR(ExternalDevice, "an async error has occured in external entity outside of CUDA"),
    VGPU_ERROR(InvalidClusterSize,
               "a kernel launch error has occurred due to cluster misconfiguration"),
    VGPU_ERROR(
        FunctionNotLoaded,
        "the function handle is not loaded when calling an API that requires a loaded function"),
    VGPU_ERROR(InvalidResourceType,
               "one or more resources passed in are not valid resource types for the operation"),
    VGPU_ERROR(InvalidResourceConfiguration,
               "one or more resources are insufficient or non-applicable for the operation"),
    VGPU_ERROR(Unknown, "unknown error"),
};
#undef VGPU_ERROR

static_assert(std::ranges::is_sorted(kErrors, {}, &ErrorText::code));

const ErrorText* find(cudaError_t code) {
  const auto* found = std::ranges::lower_bound(kErrors, code, {}, &ErrorText::code);
  return found != std::end(kErrors) && found->code == code ? found : nullptr;
}

constexpr const char* kUnknownCode = "unrecognized error code";

}  // namespace

namespace vgpu {

// For the files of stubs, which cannot include the CUDA headers.
void say_unimplemented(const char* name, bool& said);
int refuse_unimplemented(const char* name, bool& said);

void say_unimplemented(const char* name, bool& said) {
  if (!std::exchange(said, true)) runtime::say(fmt::format("{} is not implemented", name));
}

int refuse_unimplemented(const char* name, bool& said) {
  say_unimplemented(name, said);
  return runtime::finish(cudaErrorNotSupported);
}

}  // namespace vgpu

const char* cudaGetErrorString(cudaError_t code) {
  const ErrorText* error = find(code);
  return error != nullptr ? error->text : kUnknownCode;
}

const char* cudaGetErrorName(cudaError_t code) {
  const ErrorText* error = find(code);
  return error != nullptr ? error->name : kUnknownCode;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t error = vgpu::runtime::last_error();
  if (error != cudaSuccess) vgpu::runtime::Runtime::get().launch_errors.asked();
  return error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  vgpu::runtime::last_error() = cudaSuccess;
  return error;
}
