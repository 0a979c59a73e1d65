/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_api.h - the part of the CUDA driver's binary interface that xstage calls, so that it builds without the toolkit.
 *
 * Types, values and signatures are those of the public driver API; each function is asked for at the API version named in
 * XSTI_DRIVER_FUNCTIONS, whose signature is the one written here. Required functions exist in every driver that can run on
 * Hopper; optional ones may be NULL and are checked where they are used.
 */
#ifndef XSTI_GPU_DRIVER_API_H
#define XSTI_GPU_DRIVER_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct {
    char bytes[16];
} CUuuid;
typedef struct {
    char reserved[64];
} CUipcMemHandle;
typedef struct {
    uint64_t opaque[16];
} __attribute__((aligned(64))) CUtensorMap;

/* Launch attributes: only clusters are used. */
enum { CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };
typedef struct {
    int id;
    char pad[4];
    union {
        char room[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } clusterDim;
    } value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
};

/* cuDeviceGetAttribute */
enum {
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};
/* cuDeviceGetP2PAttribute */
enum {
    CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,
    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
    CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3
};
/* cuFuncSetAttribute, cuFuncGetAttribute */
enum {
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};
enum {
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DEFAULT = 0,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1
};

/* X(need, version, name, parameters): every driver function used. need: REQUIRED or OPTIONAL; version: the API version whose
 * signature this is (1000 * major + 10 * minor). */
#define XSTI_DRIVER_FUNCTIONS(X)                                                                                       \
    X(REQUIRED, 2000, cuInit, (unsigned flags))                                                                        \
    X(REQUIRED, 2020, cuDriverGetVersion, (int *version))                                                              \
    X(REQUIRED, 6000, cuGetErrorName, (CUresult error, const char **text))                                             \
    X(REQUIRED, 6000, cuGetErrorString, (CUresult error, const char **text))                                           \
    X(REQUIRED, 2000, cuDeviceGetCount, (int *count))                                                                  \
    X(REQUIRED, 2000, cuDeviceGet, (CUdevice * device, int ordinal))                                                   \
    X(REQUIRED, 2000, cuDeviceGetName, (char *name, int bytes, CUdevice device))                                       \
    X(REQUIRED, 3020, cuDeviceTotalMem, (size_t * bytes, CUdevice device))                                             \
    X(REQUIRED, 2000, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                              \
    X(REQUIRED, 11040, cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                                              \
    X(REQUIRED, 4010, cuDeviceGetPCIBusId, (char *text, int bytes, CUdevice device))                                   \
    X(REQUIRED, 4000, cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))                               \
    X(OPTIONAL, 8000, cuDeviceGetP2PAttribute, (int *value, int attribute, CUdevice from, CUdevice to))                \
    X(REQUIRED, 7000, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                \
    X(REQUIRED, 11000, cuDevicePrimaryCtxRelease, (CUdevice device))                                                   \
    X(REQUIRED, 4000, cuCtxSetCurrent, (CUcontext context))                                                            \
    X(REQUIRED, 4000, cuCtxGetCurrent, (CUcontext * context))                                                          \
    X(REQUIRED, 2000, cuCtxSynchronize, (void))                                                                        \
    X(REQUIRED, 4000, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                                         \
    X(REQUIRED, 3020, cuMemGetInfo, (size_t * free_bytes, size_t * total_bytes))                                       \
    X(REQUIRED, 3020, cuMemAlloc, (CUdeviceptr * pointer, size_t bytes))                                               \
    X(REQUIRED, 3020, cuMemFree, (CUdeviceptr pointer))                                                                \
    X(REQUIRED, 2020, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))                                  \
    X(REQUIRED, 2000, cuMemFreeHost, (void *pointer))                                                                  \
    X(REQUIRED, 3020, cuMemHostGetDevicePointer, (CUdeviceptr * pointer, void *host, unsigned flags))                  \
    X(REQUIRED, 3020, cuMemcpyDtoHAsync, (void *host, CUdeviceptr device, size_t bytes, CUstream stream))              \
    X(REQUIRED, 3020, cuMemcpyHtoDAsync, (CUdeviceptr device, const void *host, size_t bytes, CUstream stream))        \
    X(REQUIRED, 4000, cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                \
    X(REQUIRED, 3020, cuMemsetD8Async, (CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream))      \
    X(REQUIRED, 2000, cuModuleLoadData, (CUmodule * module, const void *image))                                        \
    X(REQUIRED, 2000, cuModuleUnload, (CUmodule module))                                                               \
    X(REQUIRED, 2000, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                 \
    X(REQUIRED, 9000, cuFuncSetAttribute, (CUfunction function, int attribute, int value))                             \
    X(REQUIRED, 2020, cuFuncGetAttribute, (int *value, int attribute, CUfunction function))                            \
    X(REQUIRED, 6050, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                     \
      (int *blocks, CUfunction function, int threads, size_t shared_bytes))                                            \
    X(REQUIRED, 4000, cuLaunchKernel,                                                                                  \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,     \
       unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters, void **extra))                     \
    X(OPTIONAL, 11060, cuLaunchKernelEx,                                                                               \
      (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra))                            \
    X(REQUIRED, 2000, cuStreamCreate, (CUstream * stream, unsigned flags))                                             \
    X(REQUIRED, 4000, cuStreamDestroy, (CUstream stream))                                                              \
    X(REQUIRED, 2000, cuStreamQuery, (CUstream stream))                                                                \
    X(REQUIRED, 2000, cuStreamSynchronize, (CUstream stream))                                                          \
    X(REQUIRED, 3020, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                             \
    X(REQUIRED, 2000, cuEventCreate, (CUevent * event, unsigned flags))                                                \
    X(REQUIRED, 4000, cuEventDestroy, (CUevent event))                                                                 \
    X(REQUIRED, 2000, cuEventRecord, (CUevent event, CUstream stream))                                                 \
    X(REQUIRED, 2000, cuEventQuery, (CUevent event))                                                                   \
    X(REQUIRED, 2000, cuEventSynchronize, (CUevent event))                                                             \
    X(REQUIRED, 2000, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))                           \
    X(OPTIONAL, 4010, cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr pointer))                               \
    X(OPTIONAL, 11000, cuIpcOpenMemHandle, (CUdeviceptr * pointer, CUipcMemHandle handle, unsigned flags))             \
    X(OPTIONAL, 4010, cuIpcCloseMemHandle, (CUdeviceptr pointer))                                                      \
    X(OPTIONAL, 12000, cuTensorMapEncodeTiled,                                                                         \
      (CUtensorMap * map, int data_type, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides, \
       const uint32_t *box, const uint32_t *element_strides, int interleave, int swizzle, int l2_promotion,            \
       int oob_fill))

#endif
