/*
 * The C interface from C, through the shared library:
 *
 *   program steps             one call of each kind, with what it must give
 *   program loop COUNT        COUNT calls with their tensors, failing ones among them; memory must not grow
 *   program fork              a child process goes on with a kernel of its parent
 *   program threads           the last error of each thread is its own
 *   program absent LIBRARY    there is no adapter, or no such library: an error of kind device that says so
 *
 * Prints what is wrong and exits with 1.
 */
#include <kernelpack/kernelpack.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int faults = 0;

static void check(int right, const char* what, int line) {
  if (right) return;
  ++faults;
  fprintf(stderr, "program.c:%d: %s is false; last error: %s\n", line, what, kernelpack_get_error_report());
}
#define CHECK(what) check((what) != 0, #what, __LINE__)
#define CHECK_OK(call) check((call) == KERNELPACK_OK, #call " == KERNELPACK_OK", __LINE__)

static const char* const kOp = "com.microsoft.BiasSoftmax";

static void count(void* user_data) {
  ++*(int*)user_data;
}

/* Resident memory in pages. */
static long resident(void) {
  long total = 0, pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
  fclose(file);
  return pages;
}

/* Two equal scores in a row give one half each. Adds to `released` once for each tensor. */
static kernelpack_status run_once(const kernelpack_kernel* kernel, const kernelpack_device* device,
                                  const char* name, int* released) {
  static const float scores[2] = {1, 1};
  static const float mask[2] = {0, 0};
  const int64_t shape[] = {1, 2};
  kernelpack_request* request = NULL;
  kernelpack_tensor *data = NULL, *bias = NULL, *result = NULL;
  kernelpack_status status =
      kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 2, scores, sizeof scores, count, released, &data);
  if (status == KERNELPACK_OK)
    status = kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 2, mask, sizeof mask, count, released, &bias);
  if (status == KERNELPACK_OK) status = kernelpack_create_request(kernel, &request);
  if (status == KERNELPACK_OK) status = kernelpack_set_input(request, "data", data);
  if (status == KERNELPACK_OK) status = kernelpack_set_input(request, name, bias);
  if (status == KERNELPACK_OK) status = kernelpack_set_number(request, KERNELPACK_ATTRIBUTE, "axis", 1);
  if (status == KERNELPACK_OK)
    status = kernelpack_set_json(request, KERNELPACK_ATTRIBUTE, "is_inner_broadcast", "1");
  kernelpack_free_tensor(data);
  kernelpack_free_tensor(bias);
  if (status == KERNELPACK_OK) status = kernelpack_run_request(request, device);
  if (status == KERNELPACK_OK) status = kernelpack_get_output(request, "output", &result);
  kernelpack_free_request(request);
  if (status == KERNELPACK_OK) {
    const float* values = kernelpack_get_tensor_data(result);
    CHECK(values != NULL && fabsf(values[0] - 0.5f) < 1e-6f && fabsf(values[1] - 0.5f) < 1e-6f);
  }
  kernelpack_free_tensor(result);
  return status;
}

static void steps(void) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", KERNELPACK_VERSION_MAJOR, KERNELPACK_VERSION_MINOR,
           KERNELPACK_VERSION_PATCH);
  CHECK(strcmp(kernelpack_get_version(), version) == 0);
  CHECK_OK(kernelpack_check_abi(KERNELPACK_ABI_VERSION));
  CHECK(kernelpack_check_abi(KERNELPACK_ABI_VERSION + 1) == KERNELPACK_ERROR_UNSUPPORTED);

  kernelpack_cpu_options options = {.struct_size = sizeof options, .threads = 1};
  kernelpack_device* cpu = NULL;
  CHECK_OK(kernelpack_open_cpu(&options, &cpu));
  CHECK(strncmp(kernelpack_get_device_description(cpu), "cpu (", 5) == 0);
  kernelpack_kernel* kernel = NULL;
  CHECK_OK(kernelpack_load_kernel(kOp, NULL, &kernel));
  CHECK(strcmp(kernelpack_get_kernel_op(kernel), kOp) == 0);
  char* json = NULL;
  CHECK_OK(kernelpack_inspect_kernel(kernel, &json));
  CHECK(json != NULL && strstr(json, "\"op\":\"com.microsoft.BiasSoftmax\"") != NULL);
  kernelpack_free_text(json);

  int released = 0;
  CHECK_OK(run_once(kernel, cpu, "bias", &released));
  CHECK_OK(run_once(kernel, NULL, "bias", &released));
  CHECK(released == 4);
  CHECK(run_once(kernel, cpu, "bios", &released) == KERNELPACK_ERROR_CONTRACT);
  CHECK(released == 6);
  CHECK(strcmp(kernelpack_get_error_kind(), "contract") == 0);
  CHECK(strstr(kernelpack_get_error_message(), "bios") != NULL);
  CHECK(strstr(kernelpack_get_error_report(), kernelpack_get_error_message()) != NULL);

  kernelpack_request* request = NULL;
  const int64_t shape[] = {4, 64};
  CHECK_OK(kernelpack_create_request(kernel, &request));
  CHECK_OK(kernelpack_set_input_spec(request, "data", KERNELPACK_FLOAT32, shape, 2));
  CHECK_OK(kernelpack_set_input_spec(request, "bias", KERNELPACK_FLOAT32, shape, 2));
  CHECK_OK(kernelpack_set_values(request, KERNELPACK_ATTRIBUTE, "{\"axis\": 1, \"is_inner_broadcast\": 1}"));
  CHECK_OK(kernelpack_bind_request(request, &json));
  CHECK(json != NULL && strstr(json, "\"shape\":[4,64]") != NULL);
  kernelpack_free_text(json);
  CHECK_OK(kernelpack_plan_request(request, NULL, NULL, KERNELPACK_FORMAT_JSON, &json));
  CHECK(json != NULL && strstr(json, "\"wgsl\":") != NULL);
  kernelpack_free_text(json);
  CHECK_OK(kernelpack_explain_request(request, NULL, NULL, KERNELPACK_FORMAT_TEXT, &json));
  CHECK(json != NULL && strlen(json) > 0);
  kernelpack_free_text(json);
  kernelpack_free_request(request);

  kernelpack_kernel* none = kernel;
  CHECK(kernelpack_load_kernel(NULL, NULL, &none) == KERNELPACK_ERROR_ARGUMENT);
  CHECK(none == NULL);
  kernelpack_free_kernel(kernel);
  kernelpack_free_device(cpu);
}

static void loop(long rounds) {
  kernelpack_kernel* kernel = NULL;
  CHECK_OK(kernelpack_load_kernel(kOp, NULL, &kernel));
  long before = 0;
  int released = 0;
  for (long i = 0; i < rounds && faults == 0; ++i) {
    CHECK_OK(run_once(kernel, NULL, "bias", &released));
    CHECK(run_once(kernel, NULL, "bios", &released) == KERNELPACK_ERROR_CONTRACT);
    if (i == rounds / 4) before = resident();
  }
  CHECK(released == 4 * rounds);
  kernelpack_free_kernel(kernel);
  const long grown = (resident() - before) * sysconf(_SC_PAGESIZE);
  printf("%ld calls: %ld KiB more\n", 2 * rounds, grown / 1024);
  CHECK(grown < (1L << 20));
}

static void* fail_in_a_way_of_its_own(void* argument) {
  const char* name = argument;
  CHECK(kernelpack_get_error_status() == KERNELPACK_OK);
  for (int i = 0; i < 100; ++i) {
    kernelpack_tensor* tensor = NULL;
    CHECK(kernelpack_read_npy(name, &tensor) == KERNELPACK_ERROR_IO);
    CHECK(strstr(kernelpack_get_error_where(), name) != NULL);
  }
  return NULL;
}

static void threads(void) {
  static char names[4][16] = {"none-a.npy", "none-b.npy", "none-c.npy", "none-d.npy"};
  pthread_t made[4];
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&made[i], NULL, fail_in_a_way_of_its_own, names[i]) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(made[i], NULL) == 0);
  CHECK(kernelpack_get_error_status() == KERNELPACK_OK);
}

/* Enough rows for every thread of the device. */
static kernelpack_status run_large(const kernelpack_kernel* kernel, const kernelpack_device* device) {
  const int64_t shape[] = {256, 1024}, row[] = {1, 1024};
  kernelpack_request* request = NULL;
  kernelpack_tensor *data = NULL, *bias = NULL, *result = NULL;
  kernelpack_status status = kernelpack_create_tensor(KERNELPACK_FLOAT32, shape, 2, &data);
  if (status == KERNELPACK_OK) status = kernelpack_create_tensor(KERNELPACK_FLOAT32, row, 2, &bias);
  if (status == KERNELPACK_OK) status = kernelpack_create_request(kernel, &request);
  if (status == KERNELPACK_OK) status = kernelpack_set_input(request, "data", data);
  if (status == KERNELPACK_OK) status = kernelpack_set_input(request, "bias", bias);
  if (status == KERNELPACK_OK)
    status = kernelpack_set_values(request, KERNELPACK_ATTRIBUTE, "{\"axis\": 1, \"is_inner_broadcast\": 1}");
  if (status == KERNELPACK_OK) status = kernelpack_run_request(request, device);
  if (status == KERNELPACK_OK) status = kernelpack_get_output(request, "output", &result);
  if (status == KERNELPACK_OK) {
    const float* values = kernelpack_get_tensor_data(result);
    for (int i = 0; i < 256 * 1024; ++i) CHECK(fabsf(values[i] - 1.0f / 1024) < 1e-8f);
  }
  kernelpack_free_tensor(result);
  kernelpack_free_request(request);
  kernelpack_free_tensor(bias);
  kernelpack_free_tensor(data);
  return status;
}

static void fork_and_run(void) {
  kernelpack_kernel* kernel = NULL;
  kernelpack_cpu_options options = {.struct_size = sizeof options, .threads = 4};
  kernelpack_device* cpu = NULL;
  CHECK_OK(kernelpack_open_cpu(&options, &cpu));
  CHECK_OK(kernelpack_load_kernel(kOp, NULL, &kernel));
  CHECK_OK(run_large(kernel, cpu));
  const pid_t child = fork();
  CHECK(child >= 0);
  CHECK_OK(run_large(kernel, cpu));
  if (child > 0) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  kernelpack_free_kernel(kernel);
  kernelpack_free_device(cpu);
}

static void absent(const char* library) {
  kernelpack_gpu_options options = {.struct_size = sizeof options, .library = library};
  kernelpack_device* device = NULL;
  CHECK(kernelpack_open_gpu(&options, &device) == KERNELPACK_ERROR_DEVICE);
  CHECK(device == NULL);
  CHECK(strlen(kernelpack_get_error_message()) > 0);
  printf("%s\n", kernelpack_get_error_report());
  char* json = NULL;
  CHECK_OK(kernelpack_list_gpus(library, &json));
  CHECK(json != NULL && strstr(json, "\"adapters\":[{") == NULL);
  kernelpack_free_text(json);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "steps") == 0)
    steps();
  else if (argc == 3 && strcmp(argv[1], "loop") == 0)
    loop(strtol(argv[2], NULL, 10));
  else if (argc == 2 && strcmp(argv[1], "fork") == 0)
    fork_and_run();
  else if (argc == 2 && strcmp(argv[1], "threads") == 0)
    threads();
  else if (argc == 3 && strcmp(argv[1], "absent") == 0)
    absent(argv[2]);
  else
    return 2;
  return faults == 0 ? 0 : 1;
}
