/*
 * The C interface of kernelpack: C11, and any later C or C++.
 *
 *   kernelpack_kernel* kernel = NULL;
 *   kernelpack_request* request = NULL;
 *   if (kernelpack_load_kernel("com.microsoft.BiasSoftmax", NULL, &kernel) != KERNELPACK_OK ||
 *       kernelpack_create_request(kernel, &request) != KERNELPACK_OK)
 *     fprintf(stderr, "%s\n", kernelpack_get_error_report());
 *
 * Rules that hold for every function, unless its comment says otherwise:
 *
 * Status. A function that can fail returns KERNELPACK_OK or the kind of its error, and the thread's last
 * error then says what is wrong. A function that returns a value instead gives NULL, 0 or -1 after an error.
 * Calls that succeed leave the last error as it is. No C++ exception ever leaves a function.
 *
 * NULL. A pointer is never NULL where the comment does not allow it; NULL is an error of kind "argument". The
 * functions kernelpack_free_* ignore NULL.
 *
 * Results. What a function stores through its last argument (a handle or a text) belongs to the caller, who
 * frees it once with the function of its type. After an error NULL is stored. Handles may be freed in any
 * order: what still needs the thing behind a handle keeps it.
 *
 * Texts. NUL-terminated UTF-8 in both directions. A `const char*` that a function returns belongs to the
 * handle (or to the thread's last error) and is valid as long as that is.
 *
 * Structs. Fill options with zeros except for what you set and for struct_size, the size of the struct that
 * you compiled with: kernelpack_gpu_options options = {.struct_size = sizeof options}; Zero or NULL in a
 * field means its default. Later versions append fields; programs that do not know them keep working. A field
 * that this library does not know must be zero, else the call fails with "unsupported".
 *
 * Threads. Kernels, devices and tensors may be used by several threads at once. A request is for one thread
 * at a time. A handle is freed when no other thread uses it any more. The last error is each thread's own. A
 * thread must not be cancelled (pthread_cancel) inside a call.
 *
 * Callbacks. They return: neither longjmp nor C++ exceptions may leave them, and they do not free the handle
 * that they were given to.
 */
#ifndef KERNELPACK_KERNELPACK_H
#define KERNELPACK_KERNELPACK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define KERNELPACK_API __attribute__((visibility("default")))
#else
#define KERNELPACK_API
#endif

#ifdef __cplusplus
#define KERNELPACK_NOEXCEPT noexcept
extern "C" {
#else
#define KERNELPACK_NOEXCEPT
#endif

/* ---- Status
 * -------------------------------------------------------------------------------------------------- */

/* One of the constants below. Later versions may add some: treat any other value as an error, too. */
typedef int32_t kernelpack_status;
enum {
  KERNELPACK_OK = 0,
  KERNELPACK_ERROR_PACKAGE = 1,      /* bad JSON, metadata or manifest */
  KERNELPACK_ERROR_INTEGRITY = 2,    /* a digest does not match, or a file name is not allowed */
  KERNELPACK_ERROR_TRUST = 3,        /* the publisher is not trusted by default */
  KERNELPACK_ERROR_EXPRESSION = 4,   /* an expression of a manifest does not parse or cannot be evaluated */
  KERNELPACK_ERROR_TEMPLATE = 5,     /* a template does not parse or cannot be rendered */
  KERNELPACK_ERROR_CONTRACT = 6,     /* wrong inputs, dtypes, attributes, shapes or aliasing in a request */
  KERNELPACK_ERROR_NO_VARIANT = 7,   /* no variant of the package accepts the request on the device */
  KERNELPACK_ERROR_LIMIT = 8,        /* a dispatch axis, a buffer size or a budget is exceeded */
  KERNELPACK_ERROR_DEVICE = 9,       /* a device is missing, lost or refuses a request */
  KERNELPACK_ERROR_SHADER = 10,      /* a rendered shader does not compile */
  KERNELPACK_ERROR_IO = 11,          /* a file or the network cannot be read or written */
  KERNELPACK_ERROR_UNSUPPORTED = 12, /* a feature or version that kernelpack does not implement */
  KERNELPACK_ERROR_INTERNAL = 13,    /* a fault of kernelpack itself */
  /* Of this interface alone: */
  KERNELPACK_ERROR_ARGUMENT =
      14,                      /* NULL, an unknown constant or a wrong struct_size: a fault of the caller */
  KERNELPACK_ERROR_MEMORY = 15 /* there is not enough memory */
};

/* "ok", "package", ..., "memory"; "unknown" for any other value. Never fails. */
KERNELPACK_API const char* kernelpack_get_status_name(kernelpack_status status) KERNELPACK_NOEXCEPT;

/* ---- Version
 * ------------------------------------------------------------------------------------------------- */

#define KERNELPACK_VERSION_MAJOR 0
#define KERNELPACK_VERSION_MINOR 1
#define KERNELPACK_VERSION_PATCH 0
/* Counts the incompatible changes of this interface; the number in the name of the shared library. */
#define KERNELPACK_ABI_VERSION 0

/* The version of the library at hand, such as "0.1.0". Never fails. */
KERNELPACK_API const char* kernelpack_get_version(void) KERNELPACK_NOEXCEPT;

/*
 * Whether the library at hand is what the program was compiled for: call it once with KERNELPACK_ABI_VERSION.
 * Error: unsupported.
 */
KERNELPACK_API kernelpack_status kernelpack_check_abi(int32_t abi_version) KERNELPACK_NOEXCEPT;

/* ---- Errors
 * -------------------------------------------------------------------------------------------------- */

/*
 * The last error of the calling thread. None of these functions fails. Without an error the status is
 * KERNELPACK_OK, the kind "ok" and every other text "". The texts are valid until the next call that fails in
 * this thread, kernelpack_clear_error, or the thread's end.
 */
KERNELPACK_API kernelpack_status kernelpack_get_error_status(void) KERNELPACK_NOEXCEPT;
/* The name of the status: "contract". */
KERNELPACK_API const char* kernelpack_get_error_kind(void) KERNELPACK_NOEXCEPT;
/* One sentence in the present tense without its final period. */
KERNELPACK_API const char* kernelpack_get_error_message(void) KERNELPACK_NOEXCEPT;
/*
 * The place: "manifest.json:/variants/2/when/1, line 1, column 7", a file, "input bias"; for errors of kind
 * argument the function. May be "".
 */
KERNELPACK_API const char* kernelpack_get_error_where(void) KERNELPACK_NOEXCEPT;
/* For faults in a text: the line of that text and a line with carets below the fault, else "". */
KERNELPACK_API const char* kernelpack_get_error_excerpt(void) KERNELPACK_NOEXCEPT;
/* The number of lines "While ...". */
KERNELPACK_API size_t kernelpack_get_error_context_count(void) KERNELPACK_NOEXCEPT;
/* A line "While ...", the innermost first; "" from kernelpack_get_error_context_count on. */
KERNELPACK_API const char* kernelpack_get_error_context(size_t index) KERNELPACK_NOEXCEPT;
/* "KIND: message (where)", then the excerpt and the context, one item a line, without a newline at the end.
 */
KERNELPACK_API const char* kernelpack_get_error_report(void) KERNELPACK_NOEXCEPT;
/* Forgets the last error of this thread. */
KERNELPACK_API void kernelpack_clear_error(void) KERNELPACK_NOEXCEPT;

/* ---- Texts
 * --------------------------------------------------------------------------------------------------- */

/* Frees a text that was stored through a `char**`. */
KERNELPACK_API void kernelpack_free_text(char* text) KERNELPACK_NOEXCEPT;

/* How kernelpack_plan_request and kernelpack_explain_request write. */
typedef int32_t kernelpack_format;
enum {
  KERNELPACK_FORMAT_TEXT = 0, /* lines for people */
  KERNELPACK_FORMAT_JSON = 1  /* the documents of docs/c-api.md; members are only ever added */
};

/* ---- Devices
 * ------------------------------------------------------------------------------------------------- */

/* Where calls run: the CPU or a GPU. */
typedef struct kernelpack_device kernelpack_device;

/* A part of a call: to be called with each index once, on any thread. Neither blocks nor throws. */
typedef void (*kernelpack_task)(void* context, int32_t index);

typedef struct kernelpack_cpu_options {
  size_t struct_size;
  /* "avx3", "avx2", "sse4", "neon" or "scalar"; NULL or "": the best that the machine has. */
  const char* target;
  /* Threads that share the work of one call, the caller included; 0: one per processor of the process. */
  int32_t threads;
  /* How long the threads poll for the next call before they block, at most 1000; 0: 1000, negative: not at
   * all. */
  int32_t spin_microseconds;
  /*
   * NULL, or threads of the caller's instead of the library's: calls `task(context, i)` once for each i in
   * [0, count) on any threads and returns after the last. Called by several threads at once when calls are.
   */
  void (*run_tasks)(void* user_data, int32_t count, kernelpack_task task, void* context);
  void* user_data;
} kernelpack_cpu_options;

/*
 * The CPU. options may be NULL. Errors: device for an unknown target and for a number out of range,
 * unsupported for a target that the machine lacks.
 */
KERNELPACK_API kernelpack_status kernelpack_open_cpu(const kernelpack_cpu_options* options,
                                                     kernelpack_device** device) KERNELPACK_NOEXCEPT;

typedef int32_t kernelpack_power;
enum { KERNELPACK_POWER_HIGH = 0, KERNELPACK_POWER_LOW = 1 };

typedef struct kernelpack_gpu_options {
  size_t struct_size;
  /* A part of the adapter's name, in any case; NULL or "": the best for `power`. */
  const char* adapter;
  /*
   * "dawn", "wgpu-native" or the file of a library; NULL or "": the environment variable KERNELPACK_WEBGPU,
   * and without it Dawn before wgpu-native.
   */
  const char* library;
  kernelpack_power power;
  int32_t software;         /* not 0: take a software adapter */
  int32_t raise_all_limits; /* not 0: all limits of the adapter, not only those that a browser raises */
  int32_t profiling;        /* not 0: timestamps at full resolution */
  /* Features without which the device is of no use, such as "shader-f16". NULL if the count is 0. */
  const char* const* required_features;
  size_t required_feature_count;
  /* Where compiled shaders are kept: a folder or "none"; NULL or "": docs/gpu.md. */
  const char* shader_cache;
} kernelpack_gpu_options;

/*
 * A GPU, through a WebGPU library that is loaded now. options may be NULL. Error: device, saying in one
 * sentence what is missing and how to get it.
 */
KERNELPACK_API kernelpack_status kernelpack_open_gpu(const kernelpack_gpu_options* options,
                                                     kernelpack_device** device) KERNELPACK_NOEXCEPT;

/* A WebGPU device of the caller in this process. The pointers are handles of webgpu.h, of any release. */
typedef struct kernelpack_adopted_device {
  size_t struct_size;
  /* Dawn: the address of wgpuGetProcAddress. NULL for wgpu-native, where that function ends the process. */
  void* get_proc_address;
  /* Otherwise: the file of the library, which the process has loaded already. */
  const char* library;
  void* instance; /* WGPUInstance. Dawn: for waits; NULL: the one that the device knows. */
  void* device;   /* WGPUDevice */
} kernelpack_adopted_device;

/*
 * The caller's WebGPU device. One reference to it is held while this device or a tensor on it lives; nothing
 * of the caller's is ever destroyed. With Dawn nobody may use the device from another thread during a call of
 * ours unless it has the feature implicit-device-synchronization; with wgpu-native an error that another
 * thread raises then is reported to us. Errors: device for a library that kernelpack does not support,
 * argument for a NULL device.
 */
KERNELPACK_API kernelpack_status kernelpack_adopt_device(const kernelpack_adopted_device* adopted,
                                                         kernelpack_device** device) KERNELPACK_NOEXCEPT;

/* "cpu (avx3, 2 threads)", "NVIDIA H200 (vulkan, Dawn)"; belongs to the device. */
KERNELPACK_API const char* kernelpack_get_device_description(const kernelpack_device* device)
    KERNELPACK_NOEXCEPT;
/* 1 for a GPU, 0 for the CPU, -1 for NULL. */
KERNELPACK_API int32_t kernelpack_is_gpu(const kernelpack_device* device) KERNELPACK_NOEXCEPT;
/* Features, limits and adapter of a GPU as JSON, which kernelpack_plan_request takes. Error: device for the
 * CPU. */
KERNELPACK_API kernelpack_status kernelpack_get_device_facts(const kernelpack_device* device,
                                                             char** json) KERNELPACK_NOEXCEPT;
/*
 * The WebGPU libraries on this machine and their adapters as a JSON array; opens no device. library as in
 * kernelpack_gpu_options, may be NULL. An empty array if the library was built without WebGPU.
 */
KERNELPACK_API kernelpack_status kernelpack_list_gpus(const char* library, char** json) KERNELPACK_NOEXCEPT;
/*
 * Waits for what was submitted to a GPU and ends its use: later calls on it and its tensors are errors of
 * kind device. Does nothing to the CPU. The handle is freed as any other.
 */
KERNELPACK_API kernelpack_status kernelpack_close_device(const kernelpack_device* device) KERNELPACK_NOEXCEPT;
KERNELPACK_API void kernelpack_free_device(kernelpack_device* device) KERNELPACK_NOEXCEPT;

/* ---- Tensors
 * ------------------------------------------------------------------------------------------------- */

/* Contiguous, row-major values in memory of the caller, of the library, or in a buffer of a GPU. */
typedef struct kernelpack_tensor kernelpack_tensor;

/* The type of an element. float16 is IEEE binary16, bool a byte 0 or 1. */
typedef int32_t kernelpack_dtype;
enum {
  KERNELPACK_FLOAT16 = 1,
  KERNELPACK_FLOAT32 = 2,
  KERNELPACK_FLOAT64 = 3, /* for files of reference values only: no package takes it */
  KERNELPACK_INT8 = 4,
  KERNELPACK_INT16 = 5,
  KERNELPACK_INT32 = 6,
  KERNELPACK_INT64 = 7,
  KERNELPACK_UINT8 = 8,
  KERNELPACK_UINT32 = 9,
  KERNELPACK_BOOL = 10
};

/* Bytes of an element; 0 for an unknown dtype. Never fails. */
KERNELPACK_API size_t kernelpack_get_dtype_size(kernelpack_dtype dtype) KERNELPACK_NOEXCEPT;
/* "float32"; "unknown" for an unknown dtype. Never fails. */
KERNELPACK_API const char* kernelpack_get_dtype_name(kernelpack_dtype dtype) KERNELPACK_NOEXCEPT;

/* Ends the use of memory of the caller. May be called by any thread. */
typedef void (*kernelpack_release)(void* user_data);

/*
 * A tensor in memory of the caller, which is read and never written. `shape` holds `rank` dimensions (NULL if
 * rank is 0: one element), `byte_size` is exactly that of the elements. `data` needs the alignment of an
 * element and may be NULL when there are none. The memory stays valid and unchanged until
 * `release(user_data)`, which is called exactly once: when the last handle and request with the tensor is
 * gone, or before this function returns an error. release may be NULL. Error: contract for a wrong shape,
 * size or alignment.
 */
KERNELPACK_API kernelpack_status kernelpack_wrap_tensor(kernelpack_dtype dtype, const int64_t* shape,
                                                        size_t rank, const void* data, size_t byte_size,
                                                        kernelpack_release release, void* user_data,
                                                        kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;
/* The same for memory that may be written: it can be a destination of a request as well. */
KERNELPACK_API kernelpack_status kernelpack_wrap_mutable_tensor(
    kernelpack_dtype dtype, const int64_t* shape, size_t rank, void* data, size_t byte_size,
    kernelpack_release release, void* user_data, kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;
/* A tensor of zeros in memory of the library, aligned to 64 bytes. Errors: contract, memory. */
KERNELPACK_API kernelpack_status kernelpack_create_tensor(kernelpack_dtype dtype, const int64_t* shape,
                                                          size_t rank,
                                                          kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;
/* The tensor of a NumPy .npy file. Errors: io, contract for a malformed file. */
KERNELPACK_API kernelpack_status kernelpack_read_npy(const char* path,
                                                     kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;
/* Writes a .npy file, whole or not at all; a tensor on a GPU is read first. Errors: io, device. */
KERNELPACK_API kernelpack_status kernelpack_write_npy(const char* path,
                                                      const kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;

/* How a buffer stores the elements, where that does not follow from the dtype. */
typedef struct kernelpack_storage_options {
  size_t struct_size;
  /* KERNELPACK_INT32 or KERNELPACK_UINT32 for int64 values that a package projects, else 0. */
  kernelpack_dtype storage;
  int32_t packed;     /* not 0: uint8 four to a word */
  int32_t saturating; /* not 0: projected values outside the range are clamped, not an error */
  int32_t reserved;   /* 0 */
} kernelpack_storage_options;

/*
 * A copy of the values in a buffer of the GPU, where a request on that device takes it as it is. options may
 * be NULL. Errors: device (for the CPU, too), contract, limit.
 */
KERNELPACK_API kernelpack_status kernelpack_upload_tensor(const kernelpack_device* device,
                                                          const kernelpack_tensor* values,
                                                          const kernelpack_storage_options* options,
                                                          kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;
/*
 * A tensor in a buffer of the caller (a WGPUBuffer) on an adopted or own device, from `byte_offset` on, a
 * multiple of the device's minStorageBufferOffsetAlignment. One reference to the buffer is held; it is never
 * destroyed. It needs the usage storage, and copy source or destination to be read or written by us, and
 * holds the bytes of the tensor rounded up to 4. options may be NULL. Errors: device for the CPU, contract.
 */
KERNELPACK_API kernelpack_status kernelpack_wrap_buffer(const kernelpack_device* device, void* buffer,
                                                        uint64_t byte_offset, kernelpack_dtype dtype,
                                                        const int64_t* shape, size_t rank,
                                                        const kernelpack_storage_options* options,
                                                        kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;
/*
 * A copy of the values in memory of the library, once everything submitted to the tensor's device is done;
 * also of a tensor that lies in memory already. Error: device if the device is lost.
 */
KERNELPACK_API kernelpack_status kernelpack_download_tensor(const kernelpack_tensor* values,
                                                            kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;

/* 0 for NULL. */
KERNELPACK_API kernelpack_dtype kernelpack_get_tensor_dtype(const kernelpack_tensor* tensor)
    KERNELPACK_NOEXCEPT;
/* 0 for NULL and for a scalar. */
KERNELPACK_API size_t kernelpack_get_tensor_rank(const kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
/* `rank` dimensions, outermost first; belongs to the tensor. Not NULL for a scalar. */
KERNELPACK_API const int64_t* kernelpack_get_tensor_shape(const kernelpack_tensor* tensor)
    KERNELPACK_NOEXCEPT;
/* Bytes of the elements. 0 for NULL. */
KERNELPACK_API size_t kernelpack_get_tensor_byte_size(const kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
/* 1 in a buffer of a GPU, 0 in memory, -1 for NULL. */
KERNELPACK_API int32_t kernelpack_is_on_gpu(const kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
/*
 * The values; belong to the tensor. NULL, with an error of kind contract, for a tensor on a GPU. NULL without
 * an error is possible for a tensor without elements.
 */
KERNELPACK_API const void* kernelpack_get_tensor_data(const kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
/* The same, to write to; also an error of kind contract for memory of kernelpack_wrap_tensor. */
KERNELPACK_API void* kernelpack_get_tensor_mutable_data(kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
KERNELPACK_API void kernelpack_free_tensor(kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;

/* ---- Kernels
 * ------------------------------------------------------------------------------------------------- */

/* A package, verified and parsed, ready to be called. */
typedef struct kernelpack_kernel kernelpack_kernel;

/* How far a download is. `file` is valid during the callback. */
typedef struct kernelpack_progress {
  size_t struct_size;
  const char* file;      /* the file that just moved on */
  uint64_t bytes;        /* received of all files so far */
  uint64_t files_done;   /* complete and checked */
  uint64_t files_wanted; /* known to be needed so far; grows once the manifest is read */
} kernelpack_progress;

typedef struct kernelpack_kernel_options {
  size_t struct_size;
  /* Of packages of the Hub: the contract version N (branch vN); 0: none is asked for. */
  int32_t version;
  int32_t skip_verification;       /* not 0: load files that differ from their digests */
  int32_t allow_missing_templates; /* not 0: folders and shipped packages without shaders, to plan only */
  int32_t trust_remote_code;       /* not 0: accept publishers other than webgpu-kernels, and base URLs */
  int32_t offline;                 /* not 0: make no request */
  int32_t attempts;                /* of a request; 0: 4 */
  const char* revision;            /* a commit of 40 hexadecimal digits, or a branch vN */
  const char* expected_op_id;      /* the package must have this op id */
  const char* token;               /* NULL or "": HF_TOKEN and the token file, for packages of the Hub */
  const char* cache_folder;        /* NULL or "": the cache of Hugging Face's tools */
  const char* url_cache_folder;    /* NULL or "": docs/hub.md */
  const char* endpoint;            /* NULL or "": HF_ENDPOINT, else https://huggingface.co */
  uint32_t connect_milliseconds;   /* 0: 10000 */
  uint32_t stall_milliseconds;     /* without progress to speak of; 0: 30000 */
  /*
   * NULL, or called from the threads of the download, one call at a time. Not 0 as its result ends the
   * download within about a second with an error of kind io.
   */
  int32_t (*on_progress)(void* user_data, const kernelpack_progress* progress);
  void* user_data;
} kernelpack_kernel_options;

/*
 * Loads and verifies a package: one of the Hub ("ORG/NAME@v1", "ORG/NAME@COMMIT", or "ORG/NAME" with a
 * version or revision), of a base URL, of a folder (anything else with a separator, or that names an existing
 * folder), or a shipped one by its op id. Only the first two use the network. options may be NULL. Errors:
 * io, package, integrity, trust, expression, template, limit, unsupported, and contract for options that do
 * not belong to the source.
 */
KERNELPACK_API kernelpack_status kernelpack_load_kernel(const char* source,
                                                        const kernelpack_kernel_options* options,
                                                        kernelpack_kernel** kernel) KERNELPACK_NOEXCEPT;
/* The op id, such as "com.microsoft.BiasSoftmax"; belongs to the kernel. */
KERNELPACK_API const char* kernelpack_get_kernel_op(const kernelpack_kernel* kernel) KERNELPACK_NOEXCEPT;
/* Contract, variants, files and origin of the package as JSON: that of `kernelpack inspect --json`. */
KERNELPACK_API kernelpack_status kernelpack_inspect_kernel(const kernelpack_kernel* kernel,
                                                           char** json) KERNELPACK_NOEXCEPT;
KERNELPACK_API void kernelpack_free_kernel(kernelpack_kernel* kernel) KERNELPACK_NOEXCEPT;

/* ---- Requests
 * ------------------------------------------------------------------------------------------------ */

/*
 * One call of a kernel: inputs and values by name, and after it ran its results. Can be changed and run any
 * number of times; a run that changes no name, dtype, shape or value binds and plans nothing anew. For one
 * thread at a time.
 */
typedef struct kernelpack_request kernelpack_request;

KERNELPACK_API kernelpack_status kernelpack_create_request(const kernelpack_kernel* kernel,
                                                           kernelpack_request** request) KERNELPACK_NOEXCEPT;
KERNELPACK_API void kernelpack_free_request(kernelpack_request* request) KERNELPACK_NOEXCEPT;

/*
 * The tensor of an input, in place of the one of that name before. The request keeps it; NULL as the tensor
 * takes the input back. Names are held against the contract when the request is bound.
 */
KERNELPACK_API kernelpack_status kernelpack_set_input(kernelpack_request* request, const char* name,
                                                      const kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
/* Only the dtype and shape of an input, to bind, plan and explain without values. Errors: argument, contract.
 */
KERNELPACK_API kernelpack_status kernelpack_set_input_spec(kernelpack_request* request, const char* name,
                                                           kernelpack_dtype dtype, const int64_t* shape,
                                                           size_t rank) KERNELPACK_NOEXCEPT;
/*
 * The tensor that receives an output: mutable memory, or a tensor on the GPU. Otherwise as
 * kernelpack_set_input. Error: contract for a tensor of kernelpack_wrap_tensor.
 */
KERNELPACK_API kernelpack_status kernelpack_set_destination(kernelpack_request* request, const char* name,
                                                            kernelpack_tensor* tensor) KERNELPACK_NOEXCEPT;
/* The dtype and shape of an output that the caller fixes, to bind, plan and explain. Errors: argument,
 * contract. */
KERNELPACK_API kernelpack_status kernelpack_set_destination_spec(kernelpack_request* request,
                                                                 const char* name, kernelpack_dtype dtype,
                                                                 const int64_t* shape,
                                                                 size_t rank) KERNELPACK_NOEXCEPT;
/* Asks for an optional output whose dtype and shape the contract gives. */
KERNELPACK_API kernelpack_status kernelpack_want_output(kernelpack_request* request,
                                                        const char* name) KERNELPACK_NOEXCEPT;
/* Asks for an optional output with this dtype and shape. Errors: argument, contract. */
KERNELPACK_API kernelpack_status kernelpack_want_output_spec(kernelpack_request* request, const char* name,
                                                             kernelpack_dtype dtype, const int64_t* shape,
                                                             size_t rank) KERNELPACK_NOEXCEPT;
/* The only variant to consider; NULL or "": let the plan choose. */
KERNELPACK_API kernelpack_status kernelpack_set_variant(kernelpack_request* request,
                                                        const char* id) KERNELPACK_NOEXCEPT;

/* What a named value of a request is. */
typedef int32_t kernelpack_value_kind;
enum {
  KERNELPACK_ATTRIBUTE = 0,
  KERNELPACK_ARGUMENT = 1, /* a scalar of the contract */
  KERNELPACK_TUNABLE = 2   /* declared by the package or not */
};

/*
 * Each of these sets one value, in place of the one of that kind and name before. Numbers are IEEE doubles,
 * as in the package format. Error: argument for an unknown kind.
 */
KERNELPACK_API kernelpack_status kernelpack_set_bool(kernelpack_request* request, kernelpack_value_kind kind,
                                                     const char* name, int32_t value) KERNELPACK_NOEXCEPT;
KERNELPACK_API kernelpack_status kernelpack_set_number(kernelpack_request* request,
                                                       kernelpack_value_kind kind, const char* name,
                                                       double value) KERNELPACK_NOEXCEPT;
KERNELPACK_API kernelpack_status kernelpack_set_string(kernelpack_request* request,
                                                       kernelpack_value_kind kind, const char* name,
                                                       const char* value) KERNELPACK_NOEXCEPT;
/* A list of numbers; NULL if count is 0. */
KERNELPACK_API kernelpack_status kernelpack_set_numbers(kernelpack_request* request,
                                                        kernelpack_value_kind kind, const char* name,
                                                        const double* values,
                                                        size_t count) KERNELPACK_NOEXCEPT;
/* A value as JSON: null, a boolean, a number, a string or an array. Error: contract, with the place in the
 * text. */
KERNELPACK_API kernelpack_status kernelpack_set_json(kernelpack_request* request, kernelpack_value_kind kind,
                                                     const char* name, const char* json) KERNELPACK_NOEXCEPT;
/* All values of a kind as a JSON object, in place of all before. Error: contract; the request is as before
 * then. */
KERNELPACK_API kernelpack_status kernelpack_set_values(kernelpack_request* request,
                                                       kernelpack_value_kind kind,
                                                       const char* json) KERNELPACK_NOEXCEPT;
/* Takes a value back; one that is not set is no error. */
KERNELPACK_API kernelpack_status kernelpack_unset_value(kernelpack_request* request,
                                                        kernelpack_value_kind kind,
                                                        const char* name) KERNELPACK_NOEXCEPT;

/*
 * Holds the request against the contract. The call as JSON: dtypes and shapes of inputs and outputs, values
 * with defaults. Runs nothing. Error: contract.
 */
KERNELPACK_API kernelpack_status kernelpack_bind_request(kernelpack_request* request,
                                                         char** json) KERNELPACK_NOEXCEPT;

/*
 * Binds, runs, and returns when the results are there. device may be NULL: the CPU. The tensors of the
 * request lie all in memory, or all on that GPU: then the results stay there, and the function returns when
 * the work is submitted (kernelpack_download_tensor waits for it). Outputs without destination become results
 * of the request, which replace those of the run before; after an error there are none, and destinations hold
 * unspecified values. An output may be exactly the memory of an input where the kernel allows it; any other
 * overlap is an error. Errors: contract, no_variant, expression, template, limit, device, shader, unsupported
 * (no CPU kernel for the op), memory.
 */
KERNELPACK_API kernelpack_status kernelpack_run_request(kernelpack_request* request,
                                                        const kernelpack_device* device) KERNELPACK_NOEXCEPT;
/* The number of results; 0 before the first run and for NULL. */
KERNELPACK_API size_t kernelpack_get_output_count(const kernelpack_request* request) KERNELPACK_NOEXCEPT;
/* The name of a result, in the order of the contract; valid until the next run. Error: argument for a large
 * index. */
KERNELPACK_API const char* kernelpack_get_output_name(const kernelpack_request* request,
                                                      size_t index) KERNELPACK_NOEXCEPT;
/* A result, which may outlive the request. Error: contract, listing the names. */
KERNELPACK_API kernelpack_status kernelpack_get_output(const kernelpack_request* request, const char* name,
                                                       kernelpack_tensor** tensor) KERNELPACK_NOEXCEPT;

/*
 * How the request runs on a GPU: a device, or one that the JSON text `facts` describes
 * (kernelpack_get_device_facts); with both NULL, WebGPU's default limits without features. Needs no values.
 * Errors: argument for a device and facts, device for the CPU and for malformed facts, and what planning
 * throws: no_variant, expression, template, contract, limit, package.
 */
KERNELPACK_API kernelpack_status kernelpack_plan_request(kernelpack_request* request,
                                                         const kernelpack_device* device, const char* facts,
                                                         kernelpack_format format,
                                                         char** text) KERNELPACK_NOEXCEPT;
/*
 * Why the request is planned as it is: every variant with every condition, every derived value, every pass. A
 * request that cannot be planned is explained as far as it gets, with the reason, and is no error. Otherwise
 * as kernelpack_plan_request.
 */
KERNELPACK_API kernelpack_status kernelpack_explain_request(kernelpack_request* request,
                                                            const kernelpack_device* device,
                                                            const char* facts, kernelpack_format format,
                                                            char** text) KERNELPACK_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KERNELPACK_KERNELPACK_H */
