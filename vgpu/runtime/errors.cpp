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
  { code, #code, text }
constexpr ErrorText kErrors[] = {
    VGPU_ERROR(cudaSuccess, "no error"),
    VGPU_ERROR(cudaErrorInvalidValue, "invalid argument"),
    VGPU_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    VGPU_ERROR(cudaErrorInitializationError, "initialization error"),
    VGPU_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    VGPU_ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    VGPU_ERROR(cudaErrorProfilerNotInitialized,
               "profiler not initialized: call cudaProfilerInitialize()"),
    VGPU_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    VGPU_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    VGPU_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    VGPU_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    VGPU_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    VGPU_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    VGPU_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    VGPU_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    VGPU_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    VGPU_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    VGPU_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    VGPU_ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    VGPU_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    VGPU_ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    VGPU_ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    VGPU_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    VGPU_ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"),
    VGPU_ERROR(cudaErrorMixedDeviceExecution,
               "device emulation mode and device execution mode cannot be mixed"),
    VGPU_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    VGPU_ERROR(cudaErrorMemoryValueTooLarge,
               "memory size or pointer value too large to fit in 32 bit"),
    VGPU_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    VGPU_ERROR(cudaErrorInsufficientDriver,
               "CUDA driver version is insufficient for CUDA runtime version"),
    VGPU_ERROR(cudaErrorCallRequiresNewerDriver,
               "API call is not supported in the installed CUDA driver"),
    VGPU_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    VGPU_ERROR(cudaErrorDuplicateVariableName,
               "duplicate global variable looked up by string name"),
    VGPU_ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    VGPU_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    VGPU_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    VGPU_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    VGPU_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    VGPU_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    VGPU_ERROR(cudaErrorLaunchMaxDepthExceeded,
               "launch would exceed maximum depth of nested launches"),
    VGPU_ERROR(cudaErrorLaunchFileScopedTex,
               "launch failed because kernel uses unsupported, file-scoped textures (texture "
               "objects are supported)"),
    VGPU_ERROR(cudaErrorLaunchFileScopedSurf,
               "launch failed because kernel uses unsupported, file-scoped surfaces (surface "
               "objects are supported)"),
    VGPU_ERROR(cudaErrorSyncDepthExceeded,
               "cudaDeviceSynchronize failed because caller's grid depth exceeds "
               "cudaLimitDevRuntimeSyncDepth"),
    VGPU_ERROR(cudaErrorLaunchPendingCountExceeded,
               "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    VGPU_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    VGPU_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    VGPU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    VGPU_ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    VGPU_ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    VGPU_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    VGPU_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    VGPU_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    VGPU_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    VGPU_ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    VGPU_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    VGPU_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    VGPU_ERROR(cudaErrorNoKernelImageForDevice,
               "no kernel image is available for execution on the device"),
    VGPU_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    VGPU_ERROR(cudaErrorNotMapped, "resource not mapped"),
    VGPU_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    VGPU_ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    VGPU_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    VGPU_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    VGPU_ERROR(cudaErrorDeviceAlreadyInUse,
               "exclusive-thread device already in use by a different thread"),
    VGPU_ERROR(cudaErrorPeerAccessUnsupported,
               "peer access is not supported between these two devices"),
    VGPU_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    VGPU_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    VGPU_ERROR(cudaErrorNvlinkUncorrectable,
               "uncorrectable NVLink error detected during the execution"),
    VGPU_ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    VGPU_ERROR(cudaErrorUnsupportedPtxVersion,
               "the provided PTX was compiled with an unsupported toolchain."),
    VGPU_ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    VGPU_ERROR(cudaErrorUnsupportedExecAffinity,
               "the provided execution affinity is not supported"),
    VGPU_ERROR(cudaErrorUnsupportedDevSideSync,
               "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    VGPU_ERROR(cudaErrorContained,
               "Invalid access of peer GPU memory over nvlink or a hardware error"),
    VGPU_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    VGPU_ERROR(cudaErrorFileNotFound, "file not found"),
    VGPU_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    VGPU_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    VGPU_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    VGPU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    VGPU_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    VGPU_ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    VGPU_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    VGPU_ERROR(cudaErrorNotReady, "device not ready"),
    VGPU_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    VGPU_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    VGPU_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    VGPU_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    VGPU_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    VGPU_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    VGPU_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    VGPU_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    VGPU_ERROR(cudaErrorAssert, "device-side assert triggered"),
    VGPU_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    VGPU_ERROR(cudaErrorHostMemoryAlreadyRegistered,
               "part or all of the requested memory range is already mapped"),
    VGPU_ERROR(cudaErrorHostMemoryNotRegistered,
               "pointer does not correspond to a registered memory region"),
    VGPU_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    VGPU_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    VGPU_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    VGPU_ERROR(cudaErrorInvalidAddressSpace,
               "operation not supported on global/shared address space"),
    VGPU_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    VGPU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    VGPU_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    VGPU_ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    VGPU_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    VGPU_ERROR(cudaErrorNotSupported, "operation not supported"),
    VGPU_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    VGPU_ERROR(cudaErrorSystemDriverMismatch,
               "system has unsupported display driver / cuda driver combination"),
    VGPU_ERROR(cudaErrorCompatNotSupportedOnDevice,
               "forward compatibility was attempted on non supported HW"),
    VGPU_ERROR(cudaErrorMpsConnectionFailed,
               "MPS client failed to connect to the MPS control daemon or the MPS server"),
    VGPU_ERROR(cudaErrorMpsRpcFailure,
               "the remote procedural call between the MPS server and the MPS client failed"),
    VGPU_ERROR(cudaErrorMpsServerNotReady,
               "MPS server is not ready to accept new MPS client requests"),
    VGPU_ERROR(cudaErrorMpsMaxClientsReached,
               "the hardware resources required to create MPS client have been exhausted"),
    VGPU_ERROR(cudaErrorMpsMaxConnectionsReached,
               "the hardware resources required to support device connections have been exhausted"),
    VGPU_ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    VGPU_ERROR(cudaErrorCdpNotSupported,
               "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does "
               "not support it"),
    VGPU_ERROR(cudaErrorCdpVersionMismatch,
               "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    VGPU_ERROR(cudaErrorStreamCaptureUnsupported,
               "operation not permitted when stream is capturing"),
    VGPU_ERROR(cudaErrorStreamCaptureInvalidated,
               "operation failed due to a previous error during capture"),
    VGPU_ERROR(cudaErrorStreamCaptureMerge,
               "operation would result in a merge of separate capture sequences"),
    VGPU_ERROR(cudaErrorStreamCaptureUnmatched,
               "capture was not ended in the same stream as it began"),
    VGPU_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    VGPU_ERROR(cudaErrorStreamCaptureIsolation,
               "dependency created on uncaptured work in another stream"),
    VGPU_ERROR(cudaErrorStreamCaptureImplicit,
               "operation would make the legacy stream depend on a capturing blocking stream"),
    VGPU_ERROR(cudaErrorCapturedEvent,
               "operation not permitted on an event last recorded in a capturing stream"),
    VGPU_ERROR(cudaErrorStreamCaptureWrongThread,
               "attempt to terminate a thread-local capture sequence from another thread"),
    VGPU_ERROR(cudaErrorTimeout, "wait operation timed out"),
    VGPU_ERROR(cudaErrorGraphExecUpdateFailure,
               "the graph update was not performed because it included changes which violated "
               "constraints specific to instantiated graph update"),
    VGPU_ERROR(cudaErrorExternalDevice,
               "an async error has occured in external entity outside of CUDA"),
    VGPU_ERROR(cudaErrorInvalidClusterSize,
               "a kernel launch error has occurred due to cluster misconfiguration"),
    VGPU_ERROR(
        cudaErrorFunctionNotLoaded,
        "the function handle is not loaded when calling an API that requires a loaded function"),
    VGPU_ERROR(cudaErrorInvalidResourceType,
               "one or more resources passed in are not valid resource types for the operation"),
    VGPU_ERROR(cudaErrorInvalidResourceConfiguration,
               "one or more resources are insufficient or non-applicable for the operation"),
    VGPU_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef VGPU_ERROR

static_assert(std::ranges::is_sorted(kErrors, {}, &ErrorText::code));

const ErrorText* find(cudaError_t code) {
  const auto* found = std::ranges::lower_bound(kErrors, code, {}, &ErrorText::code);
  return found != std::end(kErrors) && found->code == code ? found : nullptr;
}

constexpr const char* kUnknownCode = "unrecognized error code";

}  // namespace

namespace vgpu::runtime {

// For the files of stubs, which cannot include the CUDA headers.
void say_unimplemented(const char* name, bool& said);
int refuse_unimplemented(const char* name, bool& said);

void say_unimplemented(const char* name, bool& said) {
  if (!std::exchange(said, true)) say(fmt::format("{} is not implemented", name));
}

int refuse_unimplemented(const char* name, bool& said) {
  say_unimplemented(name, said);
  return finish(cudaErrorNotSupported);
}

}  // namespace vgpu::runtime

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
