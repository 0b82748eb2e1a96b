# SPDX-License-Identifier: Apache-2.0
"""test_nvml.py VGPU PROGRAM: NVML of two virtual devices, asked by ctypes as frameworks do, and
compared with the CUDA runtime, which has them in the order of CUDA_VISIBLE_DEVICES, as NVML has
not. Runs itself under vgpu."""
import ctypes
import os
import subprocess
import sys
import unittest

NOT_SUPPORTED, UNINITIALIZED, INVALID, SMALL, NOT_FOUND = 3, 1, 2, 7, 6


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [(name, ctypes.c_ulonglong)
                                               for name in ("total", "reserved", "free", "used")]


class Pci(ctypes.Structure):
    _fields_ = [("legacy", ctypes.c_char * 16)] + [
        (name, ctypes.c_uint) for name in ("domain", "bus", "device", "id", "subsystem")
    ] + [("text", ctypes.c_char * 32)]


class Nvml(unittest.TestCase):
    def setUp(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.assertEqual(self.nvml.nvmlInit_v2(), 0)
        self.addCleanup(self.nvml.nvmlShutdown)

    def handle(self, index):
        handle = ctypes.c_void_p()
        self.assertEqual(self.nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)), 0)
        return handle

    def text(self, function, *arguments):
        buffer = ctypes.create_string_buffer(96)
        self.assertEqual(getattr(self.nvml, function)(*arguments, buffer, 96), 0)
        return buffer.value.decode()

    def number(self, function, *arguments):
        value = ctypes.c_uint()
        self.assertEqual(getattr(self.nvml, function)(*arguments, ctypes.byref(value)), 0)
        return value.value

    def test_devices_are_those_of_the_table(self):
        self.assertEqual(self.number("nvmlDeviceGetCount_v2"), 2)
        self.assertEqual(self.text("nvmlDeviceGetName", self.handle(0)), "NVIDIA H200 (virtual)")
        self.assertEqual(self.text("nvmlDeviceGetName", self.handle(1)), "Tesla T4 (virtual)")
        self.assertEqual(self.number("nvmlDeviceGetMaxClockInfo", self.handle(1), 1), 1590)
        self.assertEqual(self.number("nvmlDeviceGetClockInfo", self.handle(1), 2), 5001)
        self.assertEqual(self.number("nvmlDeviceGetNumGpuCores", self.handle(0)), 132 * 128)
        self.assertEqual(self.number("nvmlDeviceGetNumGpuCores", self.handle(1)), 40 * 64)
        self.assertEqual(self.number("nvmlDeviceGetMemoryBusWidth", self.handle(0)), 6016)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.assertEqual(
            self.nvml.nvmlDeviceGetCudaComputeCapability(self.handle(1), ctypes.byref(major),
                                                         ctypes.byref(minor)), 0)
        self.assertEqual((major.value, minor.value), (7, 5))
        self.assertRegex(self.text("nvmlSystemGetDriverVersion"), r"^\d+\.")

    def test_a_device_is_found_by_its_names(self):
        for index in (0, 1):
            pci = Pci()
            self.assertEqual(
                self.nvml.nvmlDeviceGetPciInfo_v3(self.handle(index), ctypes.byref(pci)), 0)
            self.assertEqual(pci.text.decode(), f"00000000:00:{6 + index:02x}.0")
            uuid = self.text("nvmlDeviceGetUUID", self.handle(index))
            self.assertRegex(uuid, "^GPU-[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
            for function, name in (("nvmlDeviceGetHandleByPciBusId_v2", pci.text),
                                   ("nvmlDeviceGetHandleByPciBusId_v2", pci.legacy),
                                   ("nvmlDeviceGetHandleByUUID", uuid.encode())):
                found = ctypes.c_void_p()
                self.assertEqual(getattr(self.nvml, function)(name, ctypes.byref(found)), 0)
                self.assertEqual(found.value, self.handle(index).value)
        found = ctypes.c_void_p()
        self.assertEqual(
            self.nvml.nvmlDeviceGetHandleByUUID(b"GPU-none", ctypes.byref(found)), NOT_FOUND)

    def test_memory_is_what_the_program_has_allocated(self):
        memory, version2 = Memory(), MemoryV2()
        version2.version = ctypes.sizeof(MemoryV2) | 2 << 24
        cudart = ctypes.CDLL("libcudart.so.13")
        pointer = ctypes.c_void_p()
        self.assertEqual(cudart.cudaSetDevice(0), 0)
        self.assertEqual(cudart.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)), 0)
        for index, used in ((0, 0), (1, 1 << 20)):
            handle = self.handle(index)
            self.assertEqual(self.nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)), 0)
            self.assertEqual(
                self.nvml.nvmlDeviceGetMemoryInfo_v2(handle, ctypes.byref(version2)), 0)
            self.assertEqual((memory.used, version2.used), (used, used))
            self.assertEqual(memory.free + memory.used, memory.total)
        self.assertEqual(memory.total, 16 << 30)
        self.assertEqual(cudart.cudaFree(pointer), 0)
        version2.version = 1
        self.assertEqual(
            self.nvml.nvmlDeviceGetMemoryInfo_v2(self.handle(0), ctypes.byref(version2)), INVALID)

    def test_what_a_virtual_device_does_not_have_is_not_supported(self):
        value = ctypes.c_uint(77)
        for function in ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption"):
            self.assertEqual(
                getattr(self.nvml, function)(self.handle(0), ctypes.byref(value)), NOT_SUPPORTED)
        self.assertEqual(value.value, 77)

    def test_wrong_arguments(self):
        handle = ctypes.c_void_p()
        self.assertEqual(
            self.nvml.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(handle)), INVALID)
        self.assertEqual(self.nvml.nvmlDeviceGetCount_v2(None), INVALID)
        buffer = ctypes.create_string_buffer(8)
        self.assertEqual(self.nvml.nvmlDeviceGetName(self.handle(0), buffer, 8), SMALL)
        self.assertEqual(self.nvml.nvmlDeviceGetName(ctypes.c_void_p(8), buffer, 8), INVALID)
        self.nvml.nvmlShutdown()
        self.assertEqual(self.nvml.nvmlDeviceGetName(None, buffer, 8), UNINITIALIZED)
        self.assertEqual(self.nvml.nvmlInit(), 0)


if __name__ == "__main__":
    if sys.argv[1] != "inside":
        sys.exit(subprocess.run([sys.argv[1], "--devices", "h200,t4", sys.executable, __file__,
                                 "inside"], check=False,
                                env=dict(os.environ, CUDA_VISIBLE_DEVICES="1,0")).returncode)
    unittest.main(argv=sys.argv[:1])
